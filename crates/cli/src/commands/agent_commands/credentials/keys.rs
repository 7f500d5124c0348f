//! The keys that verify a pushed answer.

use anyhow::{Context, Result, bail};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_agent::{Client as AgentClient, Verifier};
use countersign_client::data_dir;
use countersign_client::hub::{AddressSource, HubLocation};
use countersign_protocol::webhooks;

use super::stored_agent::StoredAgent;
use crate::args::{Globals, KeyArgs};
use crate::commands::agent_commands::variable;

const SIGNING_KEY: &str = "COUNTERSIGN_SIGNING_KEY";
const ED25519_BYTES: usize = 32;
/// A shorter secret could be brute-forced from a single push.
const MIN_KEY_BYTES: usize = 16;

/// A verifier for pushes to `url`.
pub async fn verifier(url: &str, keys: &KeyArgs, globals: &Globals) -> Result<Verifier> {
    let verifier = Verifier::new(url);
    Ok(match keys.ed25519.as_deref() {
        Some("hub") => hub_keys(globals)
            .await?
            .iter()
            .fold(verifier, |verifier, key| verifier.ed25519_key(key)),
        Some(key) => verifier.ed25519_key(&public_key(key)?),
        None => hmac_keys(keys, globals)?
            .iter()
            .fold(verifier, |verifier, key| verifier.hmac_key(key)),
    })
}

/// One key, or the old and the new one during a rotation.
fn hmac_keys(keys: &KeyArgs, globals: &Globals) -> Result<Vec<String>> {
    let name = keys.key_env.as_deref().unwrap_or(SIGNING_KEY);
    if let Some(value) = variable(name) {
        let words: Vec<String> = value.split_whitespace().map(str::to_owned).collect();
        return match words.len() {
            1 | 2 => Ok(words),
            count => bail!("{name} holds {count} keys: give one, or two while they are rotated"),
        };
    }
    if keys.key_env.is_none()
        && let Some(kept) = kept(keys, globals)?
    {
        return Ok(vec![kept.signing_key]);
    }
    bail!("no key to check with: set {name} to the signing key that `countersign agent add` or `rotate` printed")
}

/// Whether the key comes from the agent's stored credential, which a rotation changes.
pub fn are_stored(keys: &KeyArgs) -> bool {
    keys.ed25519.is_none() && keys.key_env.is_none() && variable(SIGNING_KEY).is_none()
}

/// Refuses a value that is most likely not a signing key but a mistake.
pub fn refuse_weak(keys: &KeyArgs, globals: &Globals) -> Result<()> {
    if keys.ed25519.is_some() || hmac_keys(keys, globals)?.iter().all(|key| is_strong(key)) {
        return Ok(());
    }
    let name = keys.key_env.as_deref().unwrap_or(SIGNING_KEY);
    bail!(
        "{name} holds no signing key: it is the whsec_… that `countersign agent add` or `rotate` printed, or a callback \
         secret of at least {MIN_KEY_BYTES} bytes"
    )
}

fn is_strong(key: &str) -> bool {
    let is_whsec = key.starts_with("whsec_");
    if is_whsec {
        webhooks::decode_secret(key).is_some()
    } else {
        key.len() >= MIN_KEY_BYTES
    }
}

fn kept(keys: &KeyArgs, globals: &Globals) -> Result<Option<StoredAgent>> {
    let agent = keys.agent.clone().or_else(|| variable("COUNTERSIGN_AGENT"));
    let agent = agent.unwrap_or_else(|| super::session::DEFAULT_AGENT.to_owned());
    match data_dir::resolve(globals.data.as_deref()) {
        Ok(data) => StoredAgent::read(&data, &agent),
        Err(_) => Ok(None),
    }
}

async fn hub_keys(globals: &Globals) -> Result<Vec<Vec<u8>>> {
    let location = match variable("COUNTERSIGN_URL") {
        // The keys are public: no token is needed, and none is sent.
        Some(url) => HubLocation::named(&url, String::new(), AddressSource::Environment)?,
        None => HubLocation::find(|| data_dir::resolve(globals.data.as_deref()))?,
    };
    let hub = AgentClient::with_client(location.url.clone(), location.token.clone(), location.http().build()?);
    let keys = hub.public_keys().await?;
    if keys.is_empty() {
        bail!("the hub at {} publishes no Ed25519 keys", location.shown_url());
    }
    Ok(keys)
}

fn public_key(text: &str) -> Result<Vec<u8>> {
    let bytes = URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok();
    bytes.filter(|bytes| bytes.len() == ED25519_BYTES).context(
        "--ed25519: not a public key; it is 32 bytes as base64url, as published in the hub's capability document",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_too_short_or_malformed_is_no_signing_key() {
        for key in ["whsec_MDEyMzQ1Njc4OWFiY2RlZg==", "0123456789abcdef"] {
            assert!(is_strong(key), "{key}");
        }
        for key in ["x", "whsec_", "whsec_!", "0123456789abcde"] {
            assert!(!is_strong(key), "{key}");
        }
    }
}
