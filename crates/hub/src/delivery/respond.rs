//! The A2H Response for an agent, the same text for pull and push, and the signature headers of a push. Every attempt of a
//! push has its own timestamp and jti.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use countersign_core::Outcome;
use countersign_core::delivery::Attempt;
use countersign_core::message::{A2hSource, Resolution, Source};
use countersign_protocol::a2h::signature::{self, Ed25519KeyPair};
use countersign_protocol::a2h::{
    AuthScheme, Family, PushSigning, Response, ResponseAgent, ResponseBody, SignatureHeader, SignedContext, Version,
    payload_sha256,
};
use countersign_protocol::id::{Jti, MessageId};
use countersign_protocol::time::Timestamp;
use countersign_protocol::{json, webhooks};
use countersign_store::model::{AgentView, HubKey, PushContext, SignatureAlg};
use countersign_store::ops::admin::keys::HubKeys;
use countersign_store::{Store, StoreError};
use serde_json::Value;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::push_client::{failed_by_store, refused};

fn unreadable(what: &str) -> StoreError {
    StoreError::Corrupt(format!("a stored message has no readable {what}"))
}

/// The protocol family and version of the submit; the Response uses the same.
fn version_of(source: &Source) -> Result<Version, StoreError> {
    let source = a2h(source)?;
    let family = Family::ALL.into_iter().find(|family| family.name() == source.family);
    let family = family.ok_or_else(|| unreadable("family"))?;
    Version::parse(family, &source.version).map_err(|_| unreadable("version"))
}

fn a2h(source: &Source) -> Result<&A2hSource, StoreError> {
    match source {
        Source::A2h(source) => Ok(source),
        Source::Hap(_) | Source::Runs(_) => Err(unreadable("family")),
    }
}

/// The Response to a message, with the parts of it that a push signs.
pub struct Composed<'a> {
    pub text: String,
    version: Version,
    response: ResponseBody<'a>,
    state: Option<&'a RawValue>,
}

/// The whole Response envelope, with `state` spliced in byte for byte as the agent sent it.
pub fn compose<'a>(view: &'a AgentView, resolution: &'a Resolution) -> Result<Composed<'a>, StoreError> {
    let composed = || {
        let version = version_of(&view.source)?;
        let response = ResponseBody {
            value: resolution.value.as_ref(),
            edited: (resolution.outcome == Outcome::Answered).then_some(resolution.edited),
            actor: resolution.actor.as_str(),
            resolved_at: resolution.resolved_at,
            comment: resolution.comment.as_deref(),
            checklist: resolution.checklist.as_deref(),
        };
        let state = json::raw_field(&view.wire, "state").map_err(|_| unreadable("state"))?;
        let envelope = Response {
            version,
            in_reply_to: &view.id,
            resolution_id: &resolution.id,
            agent: ResponseAgent {
                id: &view.agent_id,
                run_id: &a2h(&view.source)?.run_id,
            },
            resolution: resolution.outcome.as_str(),
            defaulted: resolution.defaulted,
            response: &response,
            state,
        };
        Ok(Composed {
            text: serde_json::to_string(&envelope)?,
            version,
            response,
            state,
        })
    };
    composed().map_err(|error: StoreError| error.in_message(view.id.as_str()))
}

impl Composed<'_> {
    /// The payload digest of the 0.3 signature, over the answer and the state as delivered.
    fn digest(&self) -> Result<String, StoreError> {
        let response = serde_json::to_value(&self.response)?;
        let state = self.state.map(RawValue::get).map(serde_json::from_str::<Value>);
        Ok(payload_sha256(Some(&response), state.transpose()?.as_ref()))
    }
}

pub(super) type Headers = Vec<(&'static str, String)>;

/// Signs with the keys of the agent, or with the hub's keys for agents that chose Ed25519.
pub(super) struct Signer {
    store: Arc<Store>,
    /// Cached key pairs by kid, because deriving one from its seed costs as much as a signature.
    pairs: Mutex<HashMap<String, Arc<Ed25519KeyPair>>>,
}

struct HubPair {
    kid: String,
    pair: Arc<Ed25519KeyPair>,
}

impl Signer {
    pub fn new(store: Arc<Store>) -> Self {
        Self {
            store,
            pairs: Mutex::default(),
        }
    }

    pub async fn headers(
        &self,
        push_context: &PushContext,
        composed: &Composed<'_>,
        now: Timestamp,
    ) -> Result<Headers, Attempt> {
        let hub_pairs = match push_context.signature_alg {
            SignatureAlg::HmacSha256 => Vec::new(),
            SignatureAlg::Ed25519 => self.hub_pairs(&push_context.view.id).await?,
        };
        let t = now.as_seconds();
        let resolution_id = push_context.resolution.id.as_str();
        Ok(vec![
            (
                composed.version.family.signature_header(),
                a2h_signature(push_context, composed, &hub_pairs, t)?,
            ),
            ("webhook-id", resolution_id.to_owned()),
            ("webhook-timestamp", t.to_string()),
            (
                "webhook-signature",
                standard_webhooks(push_context, &hub_pairs, t, composed.text.as_bytes()),
            ),
        ])
    }

    /// The hub keys, newest first. Read for every push, so that a rotation takes effect with its commit.
    async fn hub_pairs(&self, message_id: &MessageId) -> Result<Vec<HubPair>, Attempt> {
        let failed = |error| failed_by_store(message_id, &error);
        let keys = self.store.run(HubKeys).await.map_err(failed)?;
        let mut cached = self.pairs.lock().unwrap_or_else(PoisonError::into_inner);
        cached.retain(|kid, _| keys.iter().any(|key| key.kid == *kid));
        keys.into_iter()
            .map(|key| hub_pair(&mut cached, key).map_err(failed))
            .collect()
    }
}

fn hub_pair(cached: &mut HashMap<String, Arc<Ed25519KeyPair>>, key: HubKey) -> Result<HubPair, StoreError> {
    if let Some(pair) = cached.get(&key.kid) {
        return Ok(HubPair {
            pair: Arc::clone(pair),
            kid: key.kid,
        });
    }
    let seed = <&[u8; 32]>::try_from(key.seed.as_slice()).ok();
    let pair = seed.and_then(|seed| signature::ed25519_from_seed(seed).ok());
    let pair = Arc::new(pair.ok_or_else(|| StoreError::Corrupt("a hub key is not a valid Ed25519 seed".to_owned()))?);
    cached.insert(key.kid.clone(), Arc::clone(&pair));
    Ok(HubPair { pair, kid: key.kid })
}

/// The value of the A2H or MA2H signature header.
fn a2h_signature(
    push_context: &PushContext,
    composed: &Composed<'_>,
    hub_pairs: &[HubPair],
    t: i64,
) -> Result<String, Attempt> {
    let signing = composed
        .version
        .push_signing()
        .ok_or_else(|| refused("this protocol version has no push signature"))?;
    let digest = match signing {
        PushSigning::Context => None,
        PushSigning::Payload => Some(composed.digest()),
    };
    let digest = digest.transpose().map_err(|error| unsigned(push_context, error))?;
    let jti = Jti::from_uuid(Uuid::new_v4());
    let context = SignedContext {
        version: composed.version,
        callback_url: &push_context.callback.url,
        in_reply_to: push_context.view.id.as_str(),
        jti: jti.as_str(),
        resolution: push_context.resolution.outcome.as_str(),
        resolution_id: push_context.resolution.id.as_str(),
        resolved_at: &push_context.resolution.resolved_at.to_string(),
        t,
        payload_sha256: digest.as_deref(),
    };
    let (v1, kid) = v1(push_context, hub_pairs, &context.canonical())?;
    Ok(SignatureHeader {
        t,
        jti: jti.as_str().to_owned(),
        v1,
        kid,
    }
    .to_header())
}

fn unsigned(push_context: &PushContext, error: StoreError) -> Attempt {
    failed_by_store(&push_context.view.id, &error.in_message(push_context.view.id.as_str()))
}

/// One signature per valid key, for rotations in the order of `for_single_readers`. A secret named by the callback
/// replaces the agent's own keys.
fn v1(
    push_context: &PushContext,
    hub_pairs: &[HubPair],
    canonical: &str,
) -> Result<(Vec<String>, Option<String>), Attempt> {
    let hmac = |key: &str| signature::hmac_v1(key.as_bytes(), canonical);
    let (signatures, kid) = match (hmac_secret(push_context)?, push_context.signature_alg) {
        (Some(secret), SignatureAlg::HmacSha256 | SignatureAlg::Ed25519) => (vec![hmac(secret)], None),
        (None, SignatureAlg::HmacSha256) => (push_context.signing_keys.iter().map(|key| hmac(key)).collect(), None),
        (None, SignatureAlg::Ed25519) => {
            let signatures = hub_pairs
                .iter()
                .map(|hub| signature::ed25519_v1(&hub.pair, canonical))
                .collect();
            (signatures, hub_pairs.last().map(|hub| hub.kid.clone()))
        }
    };
    let signatures = for_single_readers(signatures);
    if signatures.is_empty() {
        Err(refused("there is no key to sign with"))
    } else {
        Ok((signatures, kid))
    }
}

/// Orders signatures, newest key first, as `old,new,old`: a receiver that reads only the first or only the last value
/// finds the oldest valid key. It is the last one that the receiver is known to have, because a call with a newer token
/// retires it.
fn for_single_readers(mut signatures: Vec<String>) -> Vec<String> {
    signatures.reverse();
    if signatures.len() > 1 {
        signatures.extend(signatures.first().cloned());
    }
    signatures
}

fn hmac_secret(push_context: &PushContext) -> Result<Option<&str>, Attempt> {
    match &push_context.callback.auth {
        Some(auth) if auth.scheme == AuthScheme::Hmac => named_secret(push_context).map(Some),
        Some(_) | None => Ok(None),
    }
}

/// The secret that the callback names. It may have been removed after the message was accepted.
pub(super) fn named_secret(push_context: &PushContext) -> Result<&str, Attempt> {
    push_context
        .secret
        .as_deref()
        .ok_or_else(|| refused("the secret that the callback names is no longer registered"))
}

/// Standard Webhooks signatures over the raw body: with each key of the agent, with the named secret, and for Ed25519
/// agents with each key of the hub. Oldest key first; its libraries try every signature.
fn standard_webhooks(push_context: &PushContext, hub_pairs: &[HubPair], t: i64, body: &[u8]) -> String {
    let id = push_context.resolution.id.as_str();
    let secret = hmac_secret(push_context).ok().flatten();
    let secrets = push_context.signing_keys.iter().rev().map(String::as_str).chain(secret);
    let hmac = secrets.map(|text| webhooks::sign_hmac(&webhook_key(text), id, t, body));
    let ed25519 = hub_pairs
        .iter()
        .rev()
        .map(|hub| webhooks::sign_ed25519(&hub.pair, id, t, body));
    hmac.chain(ed25519).collect::<Vec<_>>().join(" ")
}

/// A secret without the `whsec_` prefix is used as raw bytes.
fn webhook_key(text: &str) -> Vec<u8> {
    webhooks::decode_secret(text).unwrap_or_else(|| text.as_bytes().to_vec())
}
