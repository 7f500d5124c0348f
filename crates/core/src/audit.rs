//! The append-only audit trail: who did what, when, on exactly which content.
//!
//! The entries of one message form a hash chain: changing or removing an entry breaks every later hash of that message.
//! A single chain for the whole hub was rejected, because it would serialize all writers of a shared database.

use countersign_protocol::time::Timestamp;
use serde::Serialize;

use crate::digest::Digest;

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
}
