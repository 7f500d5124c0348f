use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};
use countersign_core::delivery::DeliveryState;
use countersign_protocol::a2h::signature::{verify_ed25519, verify_hmac};
use countersign_protocol::a2h::{AuthScheme, Family, SignatureHeader, SignedContext, Version, payload_sha256};
use countersign_protocol::webhooks::{self, VerifyKey};
use countersign_store::clock::SystemClock;
use countersign_store::model::SignatureAlg;
use countersign_store::ops::admin::agents::RotateAgent;
use countersign_store::ops::admin::keys::AddHubKey;

use crate::receiver::{Push, Receiver};
use crate::stage::{CallbackRequest, SIGNING_KEY, Stage, counted, settings};

const NEW_KEY: &str = "whsec_bmV3IGtleSBuZXcga2V5IG5ldyBrZXk=";

/// The signed content, as a verifier rebuilds it from the push and its own address.
fn rebuilt(push: &Push, url: &str, version: Version) -> (SignatureHeader, String) {
    let name = version.family.signature_header().to_ascii_lowercase();
    let header = SignatureHeader::parse(push.header(&name)).unwrap();
    let body = push.json();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let digest = payload_sha256(body.get("response"), body.get("state"));
    let context = SignedContext {
        version,
        callback_url: url,
        in_reply_to: &text(&body["in_reply_to"]),
        jti: &header.jti,
        resolution: &text(&body["resolution"]),
        resolution_id: &text(&body["resolution_id"]),
        resolved_at: &text(&body["response"]["resolved_at"]),
        t: header.t,
        payload_sha256: (version.minor > 2).then_some(digest.as_str()),
    };
    let canonical = context.canonical();
    (header, canonical)
}

fn stock_library_accepts(push: &Push, key: VerifyKey<'_>) -> bool {
    let at = push.header("webhook-timestamp").parse().unwrap();
    webhooks::verify(
        key,
        push.header("webhook-id"),
        at,
        &push.body,
        push.header("webhook-signature"),
    )
}

async fn pushed(stage: &Stage, receiver: &Receiver, wish: CallbackRequest) -> Push {
    let outbox = stage.outbox(settings()).await;
    stage.oblige_as(&receiver.url(), wish).await;
    outbox.wake(&receiver.host());
    counted(&outbox, "delivered", |counts| counts.delivered == 1).await;
    outbox.stop(Duration::from_secs(20)).await;
    receiver.seen().pushes.pop().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_family_and_version_gets_its_own_signature() {
    let stage = Stage::new().await;
    let receiver = Receiver::start().await;
    for (family, name, minor, text) in [
        (Family::A2h, "a2h", 2, "0.2"),
        (Family::A2h, "a2h", 3, "0.3"),
        (Family::Ma2h, "ma2h", 3, "0.3"),
        (Family::Ma2h, "ma2h", 6, "0.6"),
    ] {
        let wish = CallbackRequest {
            family: Some(name),
            version: Some(text),
            state: Some("{\"n\":1e2}"),
            auth: None,
        };
        let push = pushed(&stage, &receiver, wish).await;
        let (header, canonical) = rebuilt(&push, &receiver.url(), Version { family, minor });
        assert!(
            verify_hmac(&header, &[SIGNING_KEY.as_bytes()], &canonical),
            "{name} {text}"
        );
        assert_eq!((header.v1.len(), header.kid), (1, None));
        assert!(!verify_hmac(
            &SignatureHeader {
                t: header.t,
                jti: header.jti,
                v1: header.v1,
                kid: None
            },
            &[b"other"],
            &canonical
        ));
        let other = if family == Family::A2h {
            "ma2h-signature"
        } else {
            "a2h-signature"
        };
        assert_eq!(push.header(other), "");
        let secret = webhooks::decode_secret(SIGNING_KEY).unwrap();
        assert!(stock_library_accepts(&push, VerifyKey::Hmac(&secret)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_without_a_push_signature_is_not_pushed() {
    let stage = Stage::new().await;
    let receiver = Receiver::start().await;
    let wish = CallbackRequest {
        family: Some("ma2h"),
        version: Some("0.2"),
        ..CallbackRequest::default()
    };
    let id = stage.oblige_as(&receiver.url(), wish).await;
    let outbox = stage.outbox(settings()).await;
    counted(&outbox, "refused", |counts| counts.refused == 1).await;
    assert_eq!(stage.delivery(&id).await.state, DeliveryState::Failed);
    assert_eq!(receiver.seen().connections, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn during_a_rotation_the_new_key_and_the_old_one_both_verify() {
    let stage = Stage::new().await;
    let receiver = Receiver::start().await;
    let rotate = RotateAgent {
        id: "bot".to_owned(),
        token_hash: [2; 32],
        signing_key: NEW_KEY.to_owned(),
        overlap: Duration::from_secs(60),
        actor: "human:owner".to_owned(),
    };
    stage.store.run(rotate).await.unwrap().unwrap();
    let push = pushed(&stage, &receiver, CallbackRequest::default()).await;
    let (header, canonical) = rebuilt(
        &push,
        &receiver.url(),
        Version {
            family: Family::A2h,
            minor: 3,
        },
    );
    let holds = |v1: &String, key: &str| {
        let v1 = vec![v1.clone()];
        verify_hmac(&SignatureHeader { v1, ..header.clone() }, &[key.as_bytes()], &canonical)
    };
    let [first, middle, last] = header.v1.as_slice() else {
        panic!("old, new, old: {:?}", header.v1);
    };
    assert!(holds(first, SIGNING_KEY) && holds(middle, NEW_KEY) && holds(last, SIGNING_KEY));
    for key in [NEW_KEY, SIGNING_KEY] {
        assert!(verify_hmac(&header, &[key.as_bytes()], &canonical));
        let secret = webhooks::decode_secret(key).unwrap();
        assert!(stock_library_accepts(&push, VerifyKey::Hmac(&secret)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ed25519_agent_verifies_with_the_keys_the_hub_publishes() {
    let stage = Stage::with(Arc::new(SystemClock), SignatureAlg::Ed25519).await;
    let receiver = Receiver::start().await;
    let mut seeds = vec![];
    for (kid, seed) in [("old", [1; 32]), ("new", [2; 32])] {
        let overlap = Duration::from_secs(60);
        let key = AddHubKey {
            kid: kid.to_owned(),
            seed: seed.to_vec(),
            overlap,
            actor: "human:owner".to_owned(),
        };
        stage.store.run(key).await.unwrap();
        seeds.push(seed);
        let push = pushed(&stage, &receiver, CallbackRequest::default()).await;
        let (header, canonical) = rebuilt(
            &push,
            &receiver.url(),
            Version {
                family: Family::A2h,
                minor: 3,
            },
        );
        let signatures = if seeds.len() == 1 { 1 } else { 3 };
        assert_eq!((header.v1.len(), header.kid.as_deref()), (signatures, Some("old")));
        assert_eq!(header.v1.first(), header.v1.last());
        for seed in &seeds {
            let pair = Ed25519KeyPair::from_seed_unchecked(seed).unwrap();
            let public = pair.public_key().as_ref();
            assert!(verify_ed25519(&header, &[public], &canonical));
            assert!(stock_library_accepts(&push, VerifyKey::Ed25519(public)));
        }
        let secret = webhooks::decode_secret(SIGNING_KEY).unwrap();
        assert!(
            stock_library_accepts(&push, VerifyKey::Hmac(&secret)),
            "the agent's own key stands beside them"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_named_secret_signs_or_is_sent_as_a_header() {
    let stage = Stage::new().await;
    let receiver = Receiver::start().await;
    stage.secret("s", "sécret").await;
    stage.secret("t", "tok-1").await;
    let with = |scheme, name| CallbackRequest {
        auth: Some((scheme, name)),
        ..CallbackRequest::default()
    };

    let push = pushed(&stage, &receiver, with(AuthScheme::Hmac, "s")).await;
    let (header, canonical) = rebuilt(
        &push,
        &receiver.url(),
        Version {
            family: Family::A2h,
            minor: 3,
        },
    );
    assert!(verify_hmac(&header, &["sécret".as_bytes()], &canonical));
    assert!(!verify_hmac(&header, &[SIGNING_KEY.as_bytes()], &canonical));
    assert!(stock_library_accepts(&push, VerifyKey::Hmac("sécret".as_bytes())));
    assert_eq!([push.header("authorization"), push.header("x-api-key")], ["", ""]);

    for (scheme, sent) in [
        (AuthScheme::Bearer, ["Bearer tok-1", ""]),
        (AuthScheme::Apikey, ["", "tok-1"]),
    ] {
        let push = pushed(&stage, &receiver, with(scheme, "t")).await;
        assert_eq!([push.header("authorization"), push.header("x-api-key")], sent);
        let (header, canonical) = rebuilt(
            &push,
            &receiver.url(),
            Version {
                family: Family::A2h,
                minor: 3,
            },
        );
        assert!(verify_hmac(&header, &[SIGNING_KEY.as_bytes()], &canonical));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_or_invalid_secret_sends_nothing() {
    let stage = Stage::new().await;
    let receiver = Receiver::start().await;
    stage.secret("broken", "MARK\r\nX-Injected: 1").await;
    let mut ids = vec![];
    for (scheme, name) in [
        (AuthScheme::Hmac, "gone"),
        (AuthScheme::Bearer, "gone"),
        (AuthScheme::Apikey, "gone"),
        (AuthScheme::Bearer, "broken"),
        (AuthScheme::Apikey, "broken"),
    ] {
        let wish = CallbackRequest {
            auth: Some((scheme, name)),
            ..CallbackRequest::default()
        };
        ids.push(stage.oblige_as(&receiver.url(), wish).await);
    }
    let outbox = stage.outbox(settings()).await;
    counted(&outbox, "all refused", |counts| counts.refused == 5).await;
    for id in &ids {
        let error = stage.delivery(id).await.last_error.unwrap();
        assert!(error.contains("secret") && !error.contains("MARK"), "{error}");
    }
    assert_eq!(receiver.seen().connections, 0);
}
