//! Standard Webhooks signatures, which receivers can verify with an off-the-shelf library.

use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, UnparsedPublicKey};
use aws_lc_rs::{constant_time, hmac};
use base64::Engine;
use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, STANDARD};
use base64::engine::{DecodePaddingMode, GeneralPurposeConfig};

pub const SECRET_PREFIX: &str = "whsec_";

const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The key of a receiver.
#[derive(Debug, Clone, Copy)]
pub enum VerifyKey<'a> {
    Hmac(&'a [u8]),
    Ed25519(&'a [u8]),
}

/// The key bytes behind `whsec_<base64>`.
pub fn decode_secret(text: &str) -> Option<Vec<u8>> {
    let key = LENIENT.decode(text.strip_prefix(SECRET_PREFIX)?).ok()?;
    (!key.is_empty()).then_some(key)
}

/// `whsec_<base64>` for these key bytes.
pub fn encode_secret(key: &[u8]) -> String {
    format!("{SECRET_PREFIX}{}", STANDARD.encode(key))
}

pub fn sign_hmac(secret: &[u8], id: &str, timestamp: i64, body: &[u8]) -> String {
    let tag = hmac_tag(secret, id, timestamp, body);
    format!("v1,{}", STANDARD.encode(tag.as_ref()))
}

pub fn sign_ed25519(pair: &Ed25519KeyPair, id: &str, timestamp: i64, body: &[u8]) -> String {
    let signature = pair.sign(&signed_content(id, timestamp, body));
    format!("v1a,{}", STANDARD.encode(signature.as_ref()))
}

/// Whether one of the space-separated signatures in the header is valid. Signatures of another kind are ignored.
pub fn verify(key: VerifyKey<'_>, id: &str, timestamp: i64, body: &[u8], header: &str) -> bool {
    let given = |kind: &str| -> Vec<Vec<u8>> {
        let texts = header
            .split(' ')
            .filter_map(|part| part.split_once(','))
            .filter(|(name, _)| *name == kind);
        texts.filter_map(|(_, text)| STANDARD.decode(text).ok()).collect()
    };
    match key {
        VerifyKey::Hmac(secret) => {
            let expected = hmac_tag(secret, id, timestamp, body);
            given("v1")
                .iter()
                .any(|tag| constant_time::verify_slices_are_equal(tag, expected.as_ref()).is_ok())
        }
        VerifyKey::Ed25519(public) => {
            let content = signed_content(id, timestamp, body);
            let public = UnparsedPublicKey::new(&ED25519, public);
            given("v1a")
                .iter()
                .any(|signature| public.verify(&content, signature).is_ok())
        }
    }
}

fn hmac_tag(secret: &[u8], id: &str, timestamp: i64, body: &[u8]) -> hmac::Tag {
    let mut context = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, secret));
    context.update(format!("{id}.{timestamp}.").as_bytes());
    context.update(body);
    context.sign()
}

fn signed_content(id: &str, timestamp: i64, body: &[u8]) -> Vec<u8> {
    let mut content = format!("{id}.{timestamp}.").into_bytes();
    content.extend_from_slice(body);
    content
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::signature::KeyPair;

    use super::*;

    const ID: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";
    const AT: i64 = 1_614_265_330;
    const BODY: &[u8] = br#"{"test": 2432232314}"#;

    #[test]
    fn the_published_example_matches() {
        let secret = decode_secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let signature = sign_hmac(&secret, ID, AT, BODY);
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
        assert_eq!(encode_secret(&secret), "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    }

    #[test]
    fn any_signature_of_a_rotation_is_accepted() {
        let header = format!(
            "v1a,AAAA {} {}",
            sign_hmac(b"new", ID, AT, BODY),
            sign_hmac(b"old", ID, AT, BODY)
        );
        for (secret, right) in [(&b"new"[..], true), (b"old", true), (b"other", false)] {
            assert_eq!(verify(VerifyKey::Hmac(secret), ID, AT, BODY, &header), right);
        }
        assert!(!verify(VerifyKey::Hmac(b"new"), "msg_other", AT, BODY, &header));
        assert!(!verify(VerifyKey::Hmac(b"new"), ID, AT + 1, BODY, &header));
        assert!(!verify(VerifyKey::Hmac(b"new"), ID, AT, b"{}", &header));
        for header in ["", "v1", "v1,", "v1,!!", " , ,"] {
            assert!(!verify(VerifyKey::Hmac(b"new"), ID, AT, BODY, header), "{header}");
        }
    }

    #[test]
    fn an_ed25519_signature_is_checked_with_the_public_key() {
        let pair = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap();
        let header = sign_ed25519(&pair, ID, AT, BODY);
        assert!(header.starts_with("v1a,"));
        assert!(verify(
            VerifyKey::Ed25519(pair.public_key().as_ref()),
            ID,
            AT,
            BODY,
            &header
        ));
        assert!(!verify(
            VerifyKey::Ed25519(pair.public_key().as_ref()),
            ID,
            AT,
            b"{}",
            &header
        ));
        assert!(!verify(VerifyKey::Ed25519(&[1; 32]), ID, AT, BODY, &header));
    }

    #[test]
    fn only_a_whsec_text_is_a_secret() {
        assert_eq!(decode_secret("whsec_AQI="), Some(vec![1, 2]));
        assert_eq!(decode_secret("whsec_AQI"), Some(vec![1, 2]));
        for text in ["", "whsec_", "AQI=", "whsec_A", "whsec_-_-_"] {
            assert_eq!(decode_secret(text), None, "{text}");
        }
    }
}
