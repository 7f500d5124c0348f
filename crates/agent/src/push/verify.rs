//! Verifying that a pushed answer comes from the hub, is meant for this receiver, is fresh and unchanged.

use std::fmt;
use std::time::Duration;

use countersign_protocol::a2h::signature::{verify_ed25519, verify_hmac};
use countersign_protocol::a2h::{
    EnvelopeError, Family, PushSigning, SignatureHeader, SignedContext, Version, payload_sha256,
};
use countersign_protocol::json;
use countersign_protocol::time::Timestamp;
use http::HeaderMap;
use serde_json::{Map, Value};

use super::{MAX_PUSH_BYTES, Refusal};
use crate::outcome::Resolved;

const DEFAULT_WINDOW: Duration = Duration::from_secs(120);

/// The journal keeps a jti for a day; a signature must not stay valid for longer than that.
const MAX_WINDOW: Duration = Duration::from_secs(3600);

/// The receiver's side of verification: its callback URL and the trusted keys.
#[derive(Clone)]
pub struct Verifier {
    callback_url: String,
    hmac_keys: Vec<Vec<u8>>,
    ed25519_keys: Vec<Vec<u8>>,
    window: Duration,
    message_id: Option<String>,
    takes_unsigned_answers: bool,
}

/// A push whose signature is genuine, fresh and meant for this receiver.
#[derive(Debug, Clone)]
pub struct Verified {
    /// The outcome that was pushed.
    pub resolved: Resolved,
    /// Identifies this attempt of the hub; see [`Journal::see_jti`](crate::Journal::see_jti).
    pub jti: String,
    /// The end of the signature's validity; the jti need not be stored for longer.
    pub signed_until: Timestamp,
    /// Whether the signature covers the answer and the state. In version 0.2 it does not: a party between the hub and
    /// the receiver could have changed them, so poll the message to be sure.
    pub answer_signed: bool,
}

impl Verifier {
    /// The callback URL must be spelled exactly as in the ask.
    pub fn new(callback_url: impl Into<String>) -> Self {
        Self {
            callback_url: callback_url.into(),
            hmac_keys: Vec::new(),
            ed25519_keys: Vec::new(),
            window: DEFAULT_WINDOW,
            message_id: None,
            takes_unsigned_answers: false,
        }
    }

    /// Adds a trusted HMAC key: the signing key as the hub printed it, or the secret the callback names. Add both keys
    /// during a rotation. An empty key is ignored, because any sender could sign with it.
    #[must_use]
    pub fn hmac_key(mut self, key: impl AsRef<[u8]>) -> Self {
        let key = key.as_ref();
        if !key.is_empty() {
            self.hmac_keys.push(key.to_vec());
        }
        self
    }

    /// Adds one of the hub's public keys, as 32 bytes.
    #[must_use]
    pub fn ed25519_key(mut self, public_key: &[u8]) -> Self {
        self.ed25519_keys.push(public_key.to_vec());
        self
    }

    /// Sets how far the two clocks may be apart: at most an hour, two minutes by default.
    #[must_use]
    pub fn window(mut self, window: Duration) -> Self {
        self.window = window.min(MAX_WINDOW);
        self
    }

    /// Accepts only the answer to this message.
    #[must_use]
    pub fn expecting(mut self, message_id: impl Into<String>) -> Self {
        self.message_id = Some(message_id.into());
        self
    }

    /// Also accepts pushes of version 0.2; the caller must check [`Verified::answer_signed`].
    #[must_use]
    pub fn taking_unsigned_answers(mut self) -> Self {
        self.takes_unsigned_answers = true;
        self
    }

    /// Verifies a push. Replay protection is separate: see [`Journal::see_jti`](crate::Journal::see_jti).
    pub fn verify(&self, headers: &HeaderMap, body: &[u8], now: Timestamp) -> Result<Verified, Refusal> {
        if !is_signed(headers) {
            return Err(Refusal::NoSignature);
        }
        let response = SignedFields::read(body)?;
        let header = header_of(headers, response.version.family)?;
        let resolved = Resolved::from_response(body).map_err(|error| Refusal::BadBody(error.to_string()))?;
        self.check_window(header.t, now)?;
        self.check_signature(&header, &response)?;
        if self
            .message_id
            .as_deref()
            .is_some_and(|expected| expected != response.in_reply_to)
        {
            return Err(Refusal::OtherMessage);
        }
        let answer_signed = response.payload_sha256.is_some();
        if !answer_signed && !self.takes_unsigned_answers {
            return Err(Refusal::AnswerNotSigned);
        }
        Ok(Verified {
            resolved,
            jti: header.jti,
            signed_until: Timestamp::from_millis(header.t.saturating_mul(1000)).plus(self.window),
            answer_signed,
        })
    }

    fn check_window(&self, t: i64, now: Timestamp) -> Result<(), Refusal> {
        let seconds = t.saturating_sub(now.as_seconds());
        if seconds.unsigned_abs() > self.window.as_secs() {
            Err(Refusal::OutsideWindow { seconds })
        } else {
            Ok(())
        }
    }

    fn check_signature(&self, header: &SignatureHeader, response: &SignedFields) -> Result<(), Refusal> {
        let canonical = SignedContext {
            version: response.version,
            callback_url: &self.callback_url,
            in_reply_to: &response.in_reply_to,
            jti: &header.jti,
            resolution: &response.resolution,
            resolution_id: &response.resolution_id,
            resolved_at: &response.resolved_at,
            t: header.t,
            payload_sha256: response.payload_sha256.as_deref(),
        }
        .canonical();
        let hmac_keys: Vec<&[u8]> = self.hmac_keys.iter().map(Vec::as_slice).collect();
        let ed25519_keys: Vec<&[u8]> = self.ed25519_keys.iter().map(Vec::as_slice).collect();
        let genuine = verify_hmac(header, &hmac_keys, &canonical) || verify_ed25519(header, &ed25519_keys, &canonical);
        if genuine { Ok(()) } else { Err(Refusal::WrongSignature) }
    }
}

/// Shows the number of keys, not the keys.
impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verifier")
            .field("callback_url", &self.callback_url)
            .field("hmac_keys", &self.hmac_keys.len())
            .field("ed25519_keys", &self.ed25519_keys.len())
            .field("window", &self.window)
            .field("message_id", &self.message_id)
            .finish()
    }
}

/// [`Verifier::verify`] as a plain function.
pub fn verify(verifier: &Verifier, headers: &HeaderMap, body: &[u8], now: Timestamp) -> Result<Verified, Refusal> {
    verifier.verify(headers, body, now)
}

pub(super) fn is_signed(headers: &HeaderMap) -> bool {
    Family::ALL
        .iter()
        .any(|family| headers.contains_key(family.signature_header()))
}

/// The header must use the same protocol name as the body, and must appear once: with two, another implementation might
/// read the other one.
fn header_of(headers: &HeaderMap, family: Family) -> Result<SignatureHeader, Refusal> {
    let name = family.signature_header();
    let version_key = family.version_key();
    let mut values = headers.get_all(name).iter();
    let value = values.next().ok_or_else(|| {
        Refusal::BadHeader(format!(
            "the body has `{version_key}`, so the signature must come as {name}"
        ))
    })?;
    if values.next().is_some() {
        return Err(Refusal::BadHeader(format!("the header {name} appears more than once")));
    }
    let text = value
        .to_str()
        .map_err(|_| Refusal::BadHeader(format!("the header {name} is not plain text")))?;
    SignatureHeader::parse(text).map_err(|error| Refusal::BadHeader(error.to_string()))
}

/// The signed fields of the body, in their original spelling.
struct SignedFields {
    version: Version,
    in_reply_to: String,
    resolution_id: String,
    resolution: String,
    resolved_at: String,
    payload_sha256: Option<String>,
}

impl SignedFields {
    fn read(body: &[u8]) -> Result<Self, Refusal> {
        if body.len() > MAX_PUSH_BYTES {
            return Err(Refusal::BadBody(format!("it is longer than {MAX_PUSH_BYTES} bytes")));
        }
        let value = json::parse(body).map_err(|error| Refusal::BadBody(error.to_string()))?;
        let fields = value
            .as_object()
            .ok_or_else(|| Refusal::BadBody("it must be a JSON object".to_owned()))?;
        let version = version(fields)?;
        let payload_sha256 = match version.push_signing() {
            Some(PushSigning::Payload) => Some(payload_sha256(fields.get("response"), fields.get("state"))),
            Some(PushSigning::Context) => None,
            None => return Err(unsupported(version)),
        };
        // A task's response may lack the inner object; its time is then signed as an empty text.
        let resolved_at = match fields.get("response") {
            Some(Value::Object(inner)) => text(inner, "resolved_at")?,
            Some(_) => return Err(Refusal::BadBody("`response` must be an object".to_owned())),
            None => String::new(),
        };
        Ok(Self {
            version,
            in_reply_to: text(fields, "in_reply_to")?,
            resolution_id: text(fields, "resolution_id")?,
            resolution: text(fields, "resolution")?,
            resolved_at,
            payload_sha256,
        })
    }
}

fn version(fields: &Map<String, Value>) -> Result<Version, Refusal> {
    Version::from_envelope(fields).map_err(|error| match error {
        EnvelopeError::Invalid { .. } => Refusal::BadBody(error.to_string()),
        EnvelopeError::VersionNotSupported { .. } => {
            Refusal::UnsupportedVersion("the answer uses a later protocol than 0.x: upgrade this receiver".to_owned())
        }
    })
}

fn unsupported(version: Version) -> Refusal {
    let key = version.family.version_key();
    Refusal::UnsupportedVersion(format!(
        "pushes of `{key}` {version} cannot be verified: ask with 0.3 or later"
    ))
}

fn text(fields: &Map<String, Value>, key: &str) -> Result<String, Refusal> {
    let found = fields.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    found
        .map(str::to_owned)
        .ok_or_else(|| Refusal::BadBody(format!("`{key}` must be a text")))
}
