//! The result of checking the whole audit trail.

use std::fmt;
use std::str::FromStr;

use countersign_core::Digest;
use serde::Serialize;

/// Faults beyond this number are counted, not listed.
pub const MAX_LISTED_FAULTS: usize = 1_000;

#[derive(Debug, Clone, Default, Serialize)]
pub struct AuditReport {
    pub entries: u64,
    pub messages: u64,
    /// Trails of agents, people, deliveries and the hub.
    pub other_trails: u64,
    /// Numbers that no entry has. A write that PostgreSQL rolled back leaves one too.
    pub unused_numbers: u64,
    pub faults: Vec<AuditFault>,
    /// Faults that are not listed.
    pub more_faults: u64,
    /// The state of the trail, to be compared later; `None` while other transactions may still add earlier entries.
    pub checkpoint: Option<AuditCheckpoint>,
    /// False if the time was over before everything was checked.
    pub is_complete: bool,
}

impl AuditReport {
    pub fn is_intact(&self) -> bool {
        self.faults.is_empty()
    }

    pub(super) fn add(&mut self, subject: &str, entry: Option<i64>, kind: AuditFaultKind) {
        if self.faults.len() >= MAX_LISTED_FAULTS {
            self.more_faults += 1;
            return;
        }
        self.faults.push(AuditFault {
            subject: subject.to_owned(),
            entry,
            kind,
        });
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditFault {
    /// A message id, `agent:…`, `human:…`, `delivery:…` or `hub`.
    pub subject: String,
    /// The number of the entry in the trail of its subject, if the fault is in one.
    pub entry: Option<i64>,
    pub kind: AuditFaultKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditFaultKind {
    MissingEntry,
    ChangedEntry,
    MissingLastEntry,
    UnreachableEntry,
    ChangedContent,
    ChangedResolution,
    UnreadableMessage,
    ChangedCheckpoint,
}

impl fmt::Display for AuditFaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::MissingEntry => "the entry is missing",
            Self::ChangedEntry => "the entry, or the one before it, was changed",
            Self::MissingLastEntry => "the last entry is missing",
            Self::UnreachableEntry => "the entry belongs to no trail",
            Self::ChangedContent => "the stored content is not the one that was recorded",
            Self::ChangedResolution => "the stored resolution is not the one that was recorded",
            Self::UnreadableMessage => "the stored message cannot be read",
            Self::ChangedCheckpoint => "the trail is not a continuation of the expected state",
        })
    }
}

impl fmt::Display for AuditFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.entry {
            Some(entry) => write!(f, "{} entry {entry}: {}", self.subject, self.kind),
            None => write!(f, "{}: {}", self.subject, self.kind),
        }
    }
}

/// A digest over all entries up to a number. Entries are only added, so it holds for every later state of the trail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditCheckpoint {
    pub seq: i64,
    pub digest: Digest,
}

impl AuditCheckpoint {
    /// The state of an empty trail.
    pub(super) const START: Self = Self {
        seq: 0,
        digest: Digest::ZERO,
    };

    /// The state after one more entry.
    pub(super) fn with(self, seq: i64, hash: &Digest) -> Self {
        let digest = Digest::of(&[self.digest.as_bytes(), hash.as_bytes()].concat());
        Self { seq, digest }
    }
}

impl fmt::Display for AuditCheckpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.seq, self.digest)
    }
}

impl Serialize for AuditCheckpoint {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl FromStr for AuditCheckpoint {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str = "write it as `countersign audit verify` printed it: NUMBER:SHA256";
        let (seq, digest) = text.split_once(':').ok_or(EXPECTED)?;
        Ok(Self {
            seq: seq.parse().map_err(|_| EXPECTED)?,
            digest: digest.parse().map_err(|()| EXPECTED)?,
        })
    }
}
