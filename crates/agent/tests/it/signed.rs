//! Signed pushes, as a hub sends them.

use countersign_agent::Timestamp;
use countersign_protocol::a2h::signature::{Ed25519KeyPair, ed25519_v1, hmac_v1};
use countersign_protocol::a2h::{Family, PushSigning, SignatureHeader, SignedContext, Version, payload_sha256};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};

pub const URL: &str = "https://deploybot.example/a2h/resume";
pub const KEY: &str = "a2h-test-secret-key-0123456789ab";
pub const T: i64 = 1_749_050_910;
pub const NOW: Timestamp = Timestamp::from_millis(T * 1000 + 999);

pub fn response(version_key: &str, version: &str) -> Value {
    json!({
        version_key: version, "in_reply_to": "msg_01HZXASK0001", "resolution_id": "res_01HZXR3SOLVE",
        "agent": {"id": "deploybot", "run_id": "run_1"}, "resolution": "answered", "defaulted": false,
        "response": {"value": "approve", "edited": false, "actor": "human:alice", "comment": "go",
            "resolved_at": "2026-06-04T15:48:30Z"},
        "state": {"sealed": "A2HSEALv1.x", "n": 1.5},
    })
}

pub fn canonical(response: &Value, t: i64, jti: &str) -> String {
    let version = Version::from_envelope(response.as_object().unwrap()).unwrap();
    let digest = payload_sha256(response.get("response"), response.get("state"));
    let covers_answer = version.push_signing() == Some(PushSigning::Payload);
    let text = |pointer: &str| response.pointer(pointer).unwrap().as_str().unwrap();
    SignedContext {
        version,
        callback_url: URL,
        in_reply_to: text("/in_reply_to"),
        jti,
        resolution: text("/resolution"),
        resolution_id: text("/resolution_id"),
        resolved_at: response.get("response").map_or("", |_| text("/response/resolved_at")),
        t,
        payload_sha256: covers_answer.then_some(digest.as_str()),
    }
    .canonical()
}

/// The signature header of this protocol family.
pub fn named(family: Family, t: i64, jti: &str, v1: &[String]) -> HeaderMap {
    let header = SignatureHeader {
        t,
        jti: jti.to_owned(),
        v1: v1.to_vec(),
        kid: None,
    };
    let name: HeaderName = family.signature_header().parse().unwrap();
    HeaderMap::from_iter([(name, HeaderValue::from_str(&header.to_header()).unwrap())])
}

fn family(response: &Value) -> Family {
    if response.get("a2h_version").is_some() {
        Family::A2h
    } else {
        Family::Ma2h
    }
}

pub fn hmac(response: &Value, t: i64, jti: &str, keys: &[&str]) -> HeaderMap {
    let canonical = canonical(response, t, jti);
    let v1: Vec<String> = keys.iter().map(|key| hmac_v1(key.as_bytes(), &canonical)).collect();
    named(family(response), t, jti, &v1)
}

pub fn ed25519(response: &Value, t: i64, jti: &str, pair: &Ed25519KeyPair) -> HeaderMap {
    named(
        family(response),
        t,
        jti,
        &[ed25519_v1(pair, &canonical(response, t, jti))],
    )
}
