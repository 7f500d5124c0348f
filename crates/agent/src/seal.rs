//! Sealing (AES-GCM) for the state that the hub stores for an agent: the hub cannot read it, nor change it unnoticed.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use aws_lc_rs::constant_time;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use countersign_protocol::a2h::seal::{KEY_BYTES, NONCE_BYTES};
use countersign_protocol::a2h::{SealBinding, SealToken, SealedFor, TokenError};
use countersign_protocol::{json, webhooks};
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// A key has at most 64 characters; a much longer file is not a key file.
const MAX_KEY_FILE_BYTES: u64 = 1024;

/// Why a state could not be sealed or opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// The token is malformed, changed, or sealed with another key or for another message.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// The text is not a key.
    #[error("{from}: not a seal key; it must be 32 bytes as base64 or hex, such as `openssl rand -base64 32` prints")]
    BadKey {
        /// The variable or the file.
        from: String,
    },
    /// The variable or the file cannot be read.
    #[error("{from}: {reason}; the seal key is 32 bytes as base64 or hex")]
    NoKey {
        /// The variable or the file.
        from: String,
        /// The error of the system.
        reason: String,
    },
    /// See [`SealKey::refuse_same_as`].
    #[error("the seal key is also a callback secret, which the hub knows: generate a separate key for sealing")]
    SameAsCallbackSecret,
    /// The hub returned another state than a sealed one.
    #[error("the state has no `sealed` token: it was not sealed, or it was replaced")]
    NotSealed,
    /// The token opens, but its content is not JSON.
    #[error("the sealed text is not JSON: another program sealed it")]
    NotJson,
    /// Sealing it would lose it.
    #[error("the state is nested too deeply to be opened again")]
    TooDeep,
    /// A token without a random nonce would not be safe.
    #[error("the system's random number generator failed: {0}")]
    NoRandomness(String),
}

/// A 32-byte key that only the agent has: in its environment or a file, never in the state and never at the hub.
#[derive(Clone)]
pub struct SealKey([u8; KEY_BYTES]);

impl SealKey {
    /// A key from a secret store of your own.
    pub fn from_bytes(bytes: [u8; KEY_BYTES]) -> Self {
        Self(bytes)
    }

    /// Reads the key from the environment variable of this name.
    pub fn from_env(name: &str) -> Result<Self, SealError> {
        let from = format!("environment variable {name}");
        match std::env::var(name) {
            Ok(text) => Self::from_text(&text).ok_or(SealError::BadKey { from }),
            Err(error) => Err(SealError::NoKey {
                from,
                reason: error.to_string(),
            }),
        }
    }

    /// Reads the key from a file; a line break at its end is ignored.
    pub fn from_file(path: &Path) -> Result<Self, SealError> {
        let from = path.display().to_string();
        let mut text = String::new();
        let read = File::open(path).and_then(|file| file.take(MAX_KEY_FILE_BYTES).read_to_string(&mut text));
        match read {
            Ok(_) => Self::from_text(&text).ok_or(SealError::BadKey { from }),
            Err(error) => Err(SealError::NoKey {
                from,
                reason: error.to_string(),
            }),
        }
    }

    fn from_text(text: &str) -> Option<Self> {
        decode(text.trim()).map(Self)
    }

    /// Refuses a key that equals a callback secret: the hub knows those, and could open the state.
    pub fn refuse_same_as(&self, secrets: &[&str]) -> Result<(), SealError> {
        let same = |bytes: &[u8]| constant_time::verify_slices_are_equal(&self.0, bytes).is_ok();
        let known = secrets.iter().any(|secret| {
            let secret = secret.trim();
            let decoded = decode(secret).is_some_and(|key| same(&key));
            let webhook = webhooks::decode_secret(secret).is_some_and(|key| same(&key));
            same(secret.as_bytes()) || decoded || webhook
        });
        if known {
            Err(SealError::SameAsCallbackSecret)
        } else {
            Ok(())
        }
    }
}

impl fmt::Debug for SealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealKey(…)")
    }
}

/// Hex and base64 of 32 bytes differ in length, so the spellings are unambiguous.
fn decode(text: &str) -> Option<[u8; KEY_BYTES]> {
    if text.len() == 2 * KEY_BYTES {
        return decode_hex(text);
    }
    let digits = text.strip_suffix('=').unwrap_or(text);
    let bytes = URL_SAFE_NO_PAD
        .decode(digits)
        .or_else(|_| STANDARD_NO_PAD.decode(digits));
    bytes.ok()?.try_into().ok()
}

fn decode_hex(text: &str) -> Option<[u8; KEY_BYTES]> {
    let digits: Option<Vec<u32>> = text.chars().map(|digit| digit.to_digit(16)).collect();
    let bytes: Vec<u8> = digits?
        .chunks_exact(2)
        .map(|pair| (pair[0] * 16 + pair[1]) as u8)
        .collect();
    bytes.try_into().ok()
}

/// The kind of token. `A2h` and `Ma2h` are compatible with other implementations; prefer `Own`, which opens only for
/// the message it was sealed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binding<'a> {
    /// Opens for every message, with the prefix of A2H.
    A2h,
    /// Opens for every message, with the prefix of MA2H.
    Ma2h,
    /// Opens only for this message.
    Own {
        /// The agent that sends the message.
        agent_id: &'a str,
        /// The key that the message is sent under.
        idempotency_key: &'a str,
    },
}

/// Encrypts a state to a token, which goes into the message by [`sealed_state`].
pub fn seal(key: &SealKey, state: &Value, binding: Binding<'_>) -> Result<String, SealError> {
    let text = state.to_string();
    // Refuse a state that is too deep now, not when the answer arrives and the state does not open.
    serde_json::from_str::<Value>(&text).map_err(|_| SealError::TooDeep)?;
    let mut nonce = [0; NONCE_BYTES];
    getrandom::fill(&mut nonce).map_err(|error| SealError::NoRandomness(error.to_string()))?;
    let binding = match binding {
        Binding::A2h => SealBinding::A2h,
        Binding::Ma2h => SealBinding::Ma2h,
        Binding::Own {
            agent_id,
            idempotency_key,
        } => SealBinding::Bound(SealedFor {
            agent_id,
            idempotency_key,
        }),
    };
    Ok(SealToken::seal(&key.0, nonce, text.as_bytes(), binding)?.to_string())
}

/// `owner` is the agent id and idempotency key of a `Binding::Own` token. With an owner only its bound tokens open;
/// without one, only unbound tokens do.
pub fn open(key: &SealKey, token: &str, owner: Option<(&str, &str)>) -> Result<Value, SealError> {
    let owner = owner.map(|(agent_id, idempotency_key)| SealedFor {
        agent_id,
        idempotency_key,
    });
    let plaintext = SealToken::parse(token)?.open(&key.0, owner)?;
    serde_json::from_slice(&plaintext).map_err(|_| SealError::NotJson)
}

/// Wraps a token into the `state` object of an envelope.
pub fn sealed_state(token: &str) -> Value {
    json!({"sealed": token})
}

/// Opens the token in a returned state. Other fields of the state were never sealed and are ignored.
pub fn open_state(key: &SealKey, state: &RawValue, owner: Option<(&str, &str)>) -> Result<Value, SealError> {
    let state = json::parse(state.get().as_bytes()).map_err(|_| SealError::NotSealed)?;
    let token = state
        .get("sealed")
        .and_then(Value::as_str)
        .ok_or(SealError::NotSealed)?;
    open(key, token, owner)
}
