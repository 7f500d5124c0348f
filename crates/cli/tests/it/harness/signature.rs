//! An independent signature check, written from the protocol description with a different canonicalizer than the hub's.

use aws_lc_rs::{digest, hmac, signature};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use super::Push;

/// The parts of a push's signature header, and the canonical text that was signed.
pub struct Signed {
    pub jti: String,
    pub t: String,
    pub kid: Option<String>,
    pub signatures: Vec<String>,
    pub canonical: Vec<u8>,
}

/// Parses the signature header of `family` and rebuilds the signed text for that family and version.
#[track_caller]
pub fn signed(push: &Push, family: &str, callback_url: &str) -> Signed {
    let header = push.header(&format!("{family}-signature"));
    let pairs: Vec<(&str, &str)> = header
        .split(',')
        .filter_map(|pair| pair.trim().split_once('='))
        .collect();
    let all = |key: &str| {
        pairs
            .iter()
            .filter(|pair| pair.0 == key)
            .map(|pair| pair.1.to_owned())
            .collect::<Vec<_>>()
    };
    let one = |key: &str| all(key).into_iter().next();
    let t = one("t").expect("t in the header");
    let jti = one("jti").expect("jti in the header");
    let context = context(&push.json(), family, callback_url, &t, &jti);
    let canonical = serde_json_canonicalizer::to_vec(&context).expect("a canonical context");
    Signed {
        jti,
        t,
        kid: one("kid"),
        signatures: all("v1"),
        canonical,
    }
}

fn context(body: &Value, family: &str, callback_url: &str, t: &str, jti: &str) -> Value {
    let version_key = format!("{family}_version");
    let version = body[&version_key].as_str().expect("the version of the family");
    let mut context = json!({
        "callback_url": callback_url,
        "id": body["in_reply_to"],
        "in_reply_to": body["in_reply_to"],
        "jti": jti,
        "resolution": body["resolution"],
        "resolution_id": body["resolution_id"],
        "resolved_at": body["response"]["resolved_at"],
        "t": t,
    });
    context[&version_key] = json!(version);
    // Up to version 0.2 the signature did not cover the answer.
    if version != "0.2" {
        let payload = json!({"response": body["response"], "state": body["state"]});
        let canonical = serde_json_canonicalizer::to_vec(&payload).expect("a canonical payload");
        context["payload_sha256"] = json!(hex(digest::digest(&digest::SHA256, &canonical).as_ref()));
    }
    context
}

/// The signature header that a hub with `key` would send with `push` at Unix second `t`.
pub fn sign(push: &Push, callback_url: &str, t: i64, jti: &str, key: &str) -> String {
    let context = context(&push.json(), "a2h", callback_url, &t.to_string(), jti);
    let canonical = serde_json_canonicalizer::to_vec(&context).expect("a canonical context");
    let key = hmac::Key::new(hmac::HMAC_SHA256, key.as_bytes());
    format!(
        "t={t},jti={jti},v1={}",
        URL_SAFE_NO_PAD.encode(hmac::sign(&key, &canonical))
    )
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Signed {
    /// Whether one of the signatures is an HMAC with `key`.
    pub fn holds(&self, key: &str) -> bool {
        let key = hmac::Key::new(hmac::HMAC_SHA256, key.as_bytes());
        let expected = URL_SAFE_NO_PAD.encode(hmac::sign(&key, &self.canonical));
        self.signatures.contains(&expected)
    }
}

/// Whether the Standard Webhooks headers verify with `signing_key` over the raw body.
pub fn standard_webhooks_holds(push: &Push, signing_key: &str) -> bool {
    let secret = signing_key
        .strip_prefix("whsec_")
        .and_then(|text| STANDARD.decode(text).ok());
    let key = hmac::Key::new(hmac::HMAC_SHA256, &secret.expect("a signing key whsec_<base64>"));
    let expected = format!(
        "v1,{}",
        STANDARD.encode(hmac::sign(&key, &standard_webhooks_content(push)))
    );
    push.header("webhook-signature")
        .split(' ')
        .any(|given| given == expected)
}

fn standard_webhooks_content(push: &Push) -> Vec<u8> {
    let head = format!("{}.{}.", push.header("webhook-id"), push.header("webhook-timestamp"));
    [head.as_bytes(), &push.body].concat()
}

/// Whether both the A2H signature and the `v1a` Standard Webhooks signature verify with the Ed25519 `public_key`.
pub fn ed25519_holds(push: &Push, signed: &Signed, public_key: &[u8]) -> bool {
    let key = signature::UnparsedPublicKey::new(&signature::ED25519, public_key);
    let a2h = signed
        .signatures
        .iter()
        .filter_map(|text| URL_SAFE_NO_PAD.decode(text).ok());
    let webhook = push
        .header("webhook-signature")
        .split(' ')
        .filter_map(|text| text.strip_prefix("v1a,"));
    let mut webhook = webhook.filter_map(|text| STANDARD.decode(text).ok());
    let content = standard_webhooks_content(push);
    a2h.into_iter()
        .any(|bytes| key.verify(&signed.canonical, &bytes).is_ok())
        && webhook.any(|bytes| key.verify(&content, &bytes).is_ok())
}

#[test]
fn signature_check_matches_the_published_vector() {
    let body = json!({
        "a2h_version": "0.2", "in_reply_to": "msg_01HZXASK0001", "resolution_id": "res_01HZXR3SOLVE",
        "resolution": "answered", "response": {"resolved_at": "2026-06-04T15:48:30Z"},
    });
    let header = "t=1749050910,jti=jti_01HZX7Q9Z3DEMOFIX,v1=IbLbIhbpTXUH9_MQvsvsBilbYcAw7Q2YVe3x6QXTcUY";
    let headers = [("a2h-signature".to_owned(), header.to_owned())].into();
    let push = Push {
        path: "/a2h/resume".to_owned(),
        headers,
        body: body.to_string().into_bytes(),
    };
    let signed = signed(&push, "a2h", "https://deploybot.example/a2h/resume");
    assert!(signed.holds("a2h-test-secret-key-0123456789ab"));
    assert!(!signed.holds("a2h-test-secret-key-0123456789ac"));
}

#[test]
fn digest_of_a_null_payload_matches_the_published_one() {
    let canonical = serde_json_canonicalizer::to_vec(&json!({"response": null, "state": null})).expect("canonical");
    let digest = hex(digest::digest(&digest::SHA256, &canonical).as_ref());
    assert_eq!(
        digest,
        "f8e362f091afdac944ab8f6a17e234c1662f1e39f846c0242824d0abc07b440c"
    );
}
