//! The append-only audit trail: who did what, when, on exactly which content.
//!
//! The entries of one message form a hash chain: changing or removing an entry breaks every later hash of that message.
//! A single chain for the whole hub was rejected, because it would serialize all writers of a shared database.

use std::fmt;
use std::str::FromStr;

use aws_lc_rs::digest;
use countersign_protocol::hex::hex;
use countersign_protocol::time::Timestamp;
use serde::{Serialize, Serializer};

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditRecord {
    /// A message id, or `agent:…`, `human:…`, `hub`.
    pub subject: String,
    pub at: Timestamp,
    pub actor: String,
    pub event: String,
    /// The digest of the agent's message as stored, which the actor decided on.
    pub content_sha256: Option<Digest>,
    /// The digest of the resolution as stored.
    pub resolution_sha256: Option<Digest>,
    pub prev_hash: Option<Digest>,
}

impl AuditRecord {
    /// Hashes one field per line, with an empty line for an absent field. No field can contain a line break: ids,
    /// actors and events are validated on input.
    pub fn hash(&self) -> Digest {
        let hex = |digest: &Option<Digest>| digest.as_ref().map(Digest::to_string).unwrap_or_default();
        let text = [
            hex(&self.prev_hash).as_str(),
            &self.subject,
            &self.at.as_millis().to_string(),
            &self.actor,
            &self.event,
            &hex(&self.content_sha256),
            &hex(&self.resolution_sha256),
        ]
        .join("\n");
        Digest::of(text.as_bytes())
    }
}

/// A SHA-256 digest, stored as bytes and displayed as hex.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// A start for digests of digests; no text has it.
    pub const ZERO: Self = Self([0; 32]);

    pub fn of(bytes: &[u8]) -> Self {
        let mut sum = [0; 32];
        sum.copy_from_slice(digest::digest(&digest::SHA256, bytes).as_ref());
        Self(sum)
    }

    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub fn into_bytes(self) -> [u8; 32] {
        self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl FromStr for Digest {
    type Err = ();

    /// From 64 hex digits.
    fn from_str(text: &str) -> Result<Self, ()> {
        let mut bytes = [0; 32];
        if text.len() != 64 || !text.is_ascii() {
            return Err(());
        }
        for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            let pair = std::str::from_utf8(pair).map_err(|_| ())?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| ())?;
        }
        Ok(Self(bytes))
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_is_covered_by_the_hash() {
        let digest = |text: &str| Some(Digest::of(text.as_bytes()));
        let entry = AuditRecord {
            subject: "msg_1".to_owned(),
            at: Timestamp::from_millis(1),
            actor: "human:alice".to_owned(),
            event: "answered".to_owned(),
            content_sha256: digest("c"),
            resolution_sha256: digest("r"),
            prev_hash: digest("p"),
        };
        let changed = [
            AuditRecord {
                subject: "msg_2".to_owned(),
                ..entry.clone()
            },
            AuditRecord {
                at: Timestamp::from_millis(2),
                ..entry.clone()
            },
            AuditRecord {
                actor: "human:bob".to_owned(),
                ..entry.clone()
            },
            AuditRecord {
                event: "declined".to_owned(),
                ..entry.clone()
            },
            AuditRecord {
                content_sha256: digest("d"),
                ..entry.clone()
            },
            AuditRecord {
                resolution_sha256: digest("s"),
                ..entry.clone()
            },
            AuditRecord {
                prev_hash: digest("q"),
                ..entry.clone()
            },
            AuditRecord {
                prev_hash: None,
                ..entry.clone()
            },
        ];
        for other in changed {
            assert_ne!(other.hash(), entry.hash(), "{other:?}");
        }
    }

    #[test]
    fn the_empty_text_has_the_well_known_digest() {
        let known = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(Digest::of(b"").to_string(), known);
        assert_eq!(Digest::from_bytes(Digest::of(b"").as_bytes()), Some(Digest::of(b"")));
        assert_eq!(Digest::from_bytes(b"short"), None);
        assert_eq!(known.parse(), Ok(Digest::of(b"")));
        for wrong in [
            "",
            "e3b0",
            &known.replace('e', "x"),
            &format!("{known}0"),
            &"é".repeat(32),
        ] {
            assert_eq!(wrong.parse::<Digest>(), Err(()), "{wrong}");
        }
    }
}
