//! The signature of a pushed response: the signed text, signing and verification.

mod header;

pub use aws_lc_rs::signature::Ed25519KeyPair;
use aws_lc_rs::signature::{ED25519, KeyPair, UnparsedPublicKey};
use aws_lc_rs::{constant_time, hmac};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

pub use header::SignatureHeader;

use super::family::Version;
use crate::jcs;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    #[error("the signature header is longer than {} bytes", header::MAX_BYTES)]
    TooLong,
    #[error("the signature header has no `{0}`")]
    Missing(&'static str),
    #[error("the signature header has more than one `{0}`")]
    Repeated(&'static str),
    #[error("the signature header contains an entry that is not name=value")]
    NotAPair,
    #[error("`{0}` in the signature header is malformed")]
    Malformed(&'static str),
    #[error("not an Ed25519 key")]
    Key,
}

/// The fields that a push signature covers: ten keys with a payload digest, nine without.
#[derive(Debug, Clone, Copy)]
pub struct SignedContext<'a> {
    pub version: Version,
    /// In the agent's exact spelling.
    pub callback_url: &'a str,
    pub in_reply_to: &'a str,
    pub jti: &'a str,
    pub resolution: &'a str,
    pub resolution_id: &'a str,
    /// In the exact spelling of the response.
    pub resolved_at: &'a str,
    /// Seconds since the Unix epoch; signed as text, like all fields.
    pub t: i64,
    pub payload_sha256: Option<&'a str>,
}

impl SignedContext<'_> {
    pub fn canonical(&self) -> String {
        let version = self.version.text();
        let t = self.t.to_string();
        let mut entries = vec![
            ("callback_url", self.callback_url),
            ("id", self.in_reply_to),
            ("in_reply_to", self.in_reply_to),
            ("jti", self.jti),
            ("resolution", self.resolution),
            ("resolution_id", self.resolution_id),
            ("resolved_at", self.resolved_at),
            ("t", &t),
            (self.version.family.version_key(), &version),
        ];
        entries.extend(self.payload_sha256.map(|digest| ("payload_sha256", digest)));
        // The position of the version key depends on its name, so the order cannot be fixed here.
        entries.sort_unstable_by_key(|(key, _)| *key);
        jcs::canonical_strings(&entries)
    }
}

/// The `v1` signature with an HMAC-SHA256 key.
pub fn hmac_v1(key: &[u8], canonical: &str) -> String {
    URL_SAFE_NO_PAD.encode(hmac_tag(key, canonical).as_ref())
}

fn hmac_tag(key: &[u8], canonical: &str) -> hmac::Tag {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), canonical.as_bytes())
}

pub fn ed25519_from_pkcs8(document: &[u8]) -> Result<Ed25519KeyPair, SignatureError> {
    Ed25519KeyPair::from_pkcs8(document).map_err(|_| SignatureError::Key)
}

pub fn ed25519_from_seed(seed: &[u8; 32]) -> Result<Ed25519KeyPair, SignatureError> {
    Ed25519KeyPair::from_seed_unchecked(seed).map_err(|_| SignatureError::Key)
}

/// The public key as in a capability document: 32 bytes, base64url without padding.
pub fn ed25519_public_key(pair: &Ed25519KeyPair) -> String {
    URL_SAFE_NO_PAD.encode(pair.public_key().as_ref())
}

/// The `v1` signature with an Ed25519 key.
pub fn ed25519_v1(pair: &Ed25519KeyPair, canonical: &str) -> String {
    URL_SAFE_NO_PAD.encode(pair.sign(canonical.as_bytes()).as_ref())
}

/// Whether any `v1` of the header was made with any of the keys; during a rotation there are two of each.
pub fn verify_hmac(header: &SignatureHeader, keys: &[&[u8]], canonical: &str) -> bool {
    let given = header.signatures();
    keys.iter().any(|key| {
        let expected = hmac_tag(key, canonical);
        given
            .iter()
            .any(|tag| constant_time::verify_slices_are_equal(tag, expected.as_ref()).is_ok())
    })
}

/// Like [`verify_hmac`], with Ed25519 public keys of 32 bytes.
pub fn verify_ed25519(header: &SignatureHeader, public_keys: &[&[u8]], canonical: &str) -> bool {
    let given = header.signatures();
    public_keys.iter().any(|key| {
        let key = UnparsedPublicKey::new(&ED25519, key);
        given
            .iter()
            .any(|signature| key.verify(canonical.as_bytes(), signature).is_ok())
    })
}
