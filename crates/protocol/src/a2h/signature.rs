//! The signature of a pushed response: the signed text, signing and verification.

pub use aws_lc_rs::signature::Ed25519KeyPair;
use aws_lc_rs::signature::{ED25519, KeyPair, UnparsedPublicKey};
use aws_lc_rs::{constant_time, digest, hmac};
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD, URL_SAFE_NO_PAD};
use base64::{Engine, alphabet};
use serde_json::Value;

use super::family::Version;
use crate::hex::hex;
use crate::jcs;

const MAX_HEADER_BYTES: usize = 4096;

/// HMAC-SHA256 signatures have 32 bytes, Ed25519 signatures 64.
const MIN_SIGNATURE_BYTES: usize = 32;

/// Trailing bits in the last character are ignored, as the protocol requires.
const LENIENT: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, NO_PAD.with_decode_allow_trailing_bits(true));

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    #[error("the signature header is longer than {} bytes", MAX_HEADER_BYTES)]
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

/// The digest of the answer and the state, as lower-case hex. Absent values count as null.
pub fn payload_sha256(response: Option<&Value>, state: Option<&Value>) -> String {
    let mut canonical = Vec::with_capacity(512);
    canonical.extend_from_slice(b"{\"response\":");
    jcs::write(response.unwrap_or(&Value::Null), &mut canonical);
    canonical.extend_from_slice(b",\"state\":");
    jcs::write(state.unwrap_or(&Value::Null), &mut canonical);
    canonical.push(b'}');
    hex(digest::digest(&digest::SHA256, &canonical).as_ref())
}

/// The signature header: `t=1749050910,jti=jti_…,v1=…`, with one `v1` per key during a rotation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignatureHeader {
    /// Seconds since the Unix epoch.
    pub t: i64,
    pub jti: String,
    /// At least one signature; one match is enough.
    pub v1: Vec<String>,
    pub kid: Option<String>,
}

impl SignatureHeader {
    /// Parses the header value, or the whole line with its name. Unknown names are ignored.
    pub fn parse(text: &str) -> Result<Self, SignatureError> {
        if text.len() > MAX_HEADER_BYTES {
            return Err(SignatureError::TooLong);
        }
        let mut t = None;
        let mut jti = None;
        let mut kid = None;
        let mut v1 = Vec::new();
        for pair in without_name(text).split(',') {
            let (name, value) = pair.trim().split_once('=').ok_or(SignatureError::NotAPair)?;
            match name {
                "t" => set_once(&mut t, "t", seconds(value)?)?,
                "jti" => set_once(&mut jti, "jti", word(value, "jti")?)?,
                "kid" => set_once(&mut kid, "kid", word(value, "kid")?)?,
                "v1" => {
                    decode(value).ok_or(SignatureError::Malformed("v1"))?;
                    v1.push(value.to_owned());
                }
                _ => {}
            }
        }
        if v1.is_empty() {
            return Err(SignatureError::Missing("v1"));
        }
        let t = t.ok_or(SignatureError::Missing("t"))?;
        let jti = jti.ok_or(SignatureError::Missing("jti"))?;
        Ok(Self { t, jti, v1, kid })
    }

    /// The value of the header, without its name.
    pub fn to_header(&self) -> String {
        let start = [format!("t={}", self.t), format!("jti={}", self.jti)];
        let signatures = self.v1.iter().map(|v1| format!("v1={v1}"));
        let kid = self.kid.iter().map(|kid| format!("kid={kid}"));
        start
            .into_iter()
            .chain(signatures)
            .chain(kid)
            .collect::<Vec<_>>()
            .join(",")
    }

    fn signatures(&self) -> Vec<Vec<u8>> {
        self.v1.iter().filter_map(|text| decode(text)).collect()
    }
}

/// A colon before the first equals sign ends the header's name.
fn without_name(text: &str) -> &str {
    match text.find([':', '=']) {
        Some(at) if text.as_bytes()[at] == b':' => &text[at + 1..],
        Some(_) | None => text,
    }
}

fn set_once<T>(slot: &mut Option<T>, name: &'static str, value: T) -> Result<(), SignatureError> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(SignatureError::Repeated(name)),
    }
}

/// The digits are signed as text, so only the canonical spelling is accepted.
fn seconds(text: &str) -> Result<i64, SignatureError> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits || (text.len() > 1 && text.starts_with('0')) {
        return Err(SignatureError::Malformed("t"));
    }
    text.parse().map_err(|_| SignatureError::Malformed("t"))
}

fn word(text: &str, name: &'static str) -> Result<String, SignatureError> {
    let printable = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
    if printable {
        Ok(text.to_owned())
    } else {
        Err(SignatureError::Malformed(name))
    }
}

/// Base64url with full padding or none, at least as long as a signature.
fn decode(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    let padding = text.len() - digits.len();
    let full_padding = (4 - digits.len() % 4) % 4;
    if padding != 0 && padding != full_padding {
        return None;
    }
    let bytes = LENIENT.decode(digits).ok()?;
    (bytes.len() >= MIN_SIGNATURE_BYTES).then_some(bytes)
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
        let fields = [
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
        let payload = self.payload_sha256.map(|digest| ("payload_sha256", digest));
        let fields = fields.into_iter().chain(payload);
        let object = fields.map(|(key, text)| (key.to_owned(), text.into())).collect();
        jcs::canonical(&Value::Object(object))
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

#[cfg(test)]
mod tests {
    use super::*;

    const V1: &str = "In3evtBNZywRzuNYkphbw-_764_Wu98zWM5rZ1iN4VI";

    fn header(text: &str) -> Result<SignatureHeader, SignatureError> {
        SignatureHeader::parse(&text.replace("V1", V1))
    }

    #[test]
    fn a_header_survives_a_round_trip() {
        for text in [
            "t=1749050910,jti=jti_1,v1=V1",
            "t=0,jti=a:b=c,v1=V1,v1=V1",
            "t=5,jti=j,v1=V1,kid=k1",
        ] {
            let read = header(text).unwrap();
            assert_eq!(read.to_header(), text.replace("V1", V1));
        }
    }

    #[test]
    fn the_name_of_the_header_and_unknown_pairs_are_ignored() {
        let plain = header("t=5,jti=j:1,v1=V1").unwrap();
        for text in [
            "A2H-Signature: t=5,jti=j:1,v1=V1",
            "MA2H-Signature:t=5,jti=j:1,v1=V1",
            " t=5, jti=j:1 ,\tv1=V1 ",
            "v2=x,v1=V1,alg=,jti=j:1,t=5",
        ] {
            assert_eq!(header(text).as_ref(), Ok(&plain), "{text}");
        }
    }

    #[test]
    fn a_broken_header_is_refused_with_its_reason() {
        use SignatureError::{Malformed, Missing, NotAPair, Repeated, TooLong};
        let table = [
            ("", NotAPair),
            ("A2H-Signature:", NotAPair),
            ("t=5,jti=j,v1=V1,", NotAPair),
            ("t=5,jti=j", Missing("v1")),
            ("jti=j,v1=V1", Missing("t")),
            ("t=5,v1=V1", Missing("jti")),
            ("t=5,t=5,jti=j,v1=V1", Repeated("t")),
            ("t=5,jti=j,jti=j,v1=V1", Repeated("jti")),
            ("t=5,jti=j,v1=V1,kid=a,kid=a", Repeated("kid")),
            ("t=-5,jti=j,v1=V1", Malformed("t")),
            ("t=+5,jti=j,v1=V1", Malformed("t")),
            ("t=5.0,jti=j,v1=V1", Malformed("t")),
            ("t=,jti=j,v1=V1", Malformed("t")),
            ("t=05,jti=j,v1=V1", Malformed("t")),
            ("t=99999999999999999999,jti=j,v1=V1", Malformed("t")),
            ("t=5,jti=,v1=V1", Malformed("jti")),
            ("t=5,jti=a b,v1=V1", Malformed("jti")),
            ("t=5,jti=j,v1=", Malformed("v1")),
            ("t=5,jti=j,v1=V1,v1=short", Malformed("v1")),
        ];
        for (text, reason) in table {
            assert_eq!(header(text), Err(reason), "{text}");
        }
        assert_eq!(
            header(&format!("t=5,jti=j,v1=V1,x={}", "y".repeat(MAX_HEADER_BYTES))),
            Err(TooLong)
        );
    }

    #[test]
    fn v1_is_base64url_with_full_padding_or_none() {
        let bytes = decode(V1).unwrap();
        assert_eq!(bytes.len(), 32);
        assert_eq!(decode(&format!("{V1}=")), Some(bytes));
        // Looks like hex, and its last character has trailing bits: still 32 bytes.
        assert_eq!(
            decode("3073dec57c04075d0b6bfa17c300fa9600ad92fb13e").map(|bytes| bytes.len()),
            Some(32)
        );
        assert_eq!(decode(&"A".repeat(86)).map(|bytes| bytes.len()), Some(64));
        let wrong = [
            format!("{V1}=="),
            format!("{V1}A="),
            format!("{V1}AA"),
            V1.replace('-', "!"),
            V1.replace('-', "+"),
            V1.replace('_', "/"),
            format!("={V1}"),
            "A".repeat(42),
            "A".repeat(20),
            format!("{V1} "),
        ];
        for text in wrong {
            assert_eq!(decode(&text), None, "{text}");
        }
    }
}
