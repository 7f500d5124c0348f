//! The append-only trail: who did what, when, on exactly which content.
//!
//! The entries of one message form a hash chain. Changing or dropping one breaks every later hash of that message. One
//! chain for the whole hub was refused: on a shared database it would make every writer wait for every other.

use aws_lc_rs::digest;
use countersign_protocol::time::Timestamp;
use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// What the entry is about: a message id, or `agent:…`, `human:…`, `hub`.
    pub subject: String,
    pub at: Timestamp,
    pub actor: String,
    pub event: String,
    /// SHA-256 of the content as stored, the one the actor decided on; empty where there is none.
    pub content_sha256: String,
    /// SHA-256 of the stored resolution; empty where there is none.
    pub resolution_sha256: String,
    pub prev_hash: String,
}

impl Entry {
    /// Every field on a line of its own. None can hold a line break: ids, actors and events are checked where they enter.
    pub fn hash(&self) -> String {
        let text = format!(
            "{}\n{}\n{}\n{}\n{}\n{}\n{}",
            self.prev_hash,
            self.subject,
            self.at.as_millis(),
            self.actor,
            self.event,
            self.content_sha256,
            self.resolution_sha256
        );
        sha256_hex(text.as_bytes())
    }
}

pub fn sha256_hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    let digest = digest::digest(&digest::SHA256, bytes);
    digest.as_ref().iter().fold(String::with_capacity(64), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_is_covered_by_the_hash() {
        let entry = Entry {
            subject: "msg_1".to_owned(),
            at: Timestamp::from_millis(1),
            actor: "human:alice".to_owned(),
            event: "answered".to_owned(),
            content_sha256: "c".to_owned(),
            resolution_sha256: "r".to_owned(),
            prev_hash: "p".to_owned(),
        };
        let changed = [
            Entry { subject: "msg_2".to_owned(), ..entry.clone() },
            Entry { at: Timestamp::from_millis(2), ..entry.clone() },
            Entry { actor: "human:bob".to_owned(), ..entry.clone() },
            Entry { event: "declined".to_owned(), ..entry.clone() },
            Entry { content_sha256: "d".to_owned(), ..entry.clone() },
            Entry { resolution_sha256: "s".to_owned(), ..entry.clone() },
            Entry { prev_hash: "q".to_owned(), ..entry.clone() },
        ];
        for other in changed {
            assert_ne!(other.hash(), entry.hash(), "{other:?}");
        }
    }
}
