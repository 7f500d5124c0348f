//! The order of the inbox, and positions in it.

use std::time::Duration;

use countersign_protocol::time::Timestamp;

/// The order of the open messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum InboxOrder {
    /// Messages that expire soon, then those whose agent waits right now, then by priority and age.
    #[default]
    Smart,
    Newest,
    Oldest,
    /// By agent, then by age.
    Agent,
}

/// The sections of the smart order, first to last. All other orders have one section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum InboxSection {
    Soon,
    Waiting,
    Rest,
}

/// What the smart order depends on besides the messages. All pages of one walk through the inbox share it, so that no
/// message changes its place in between.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InboxWalk {
    /// Messages that expire before this come first.
    pub soon_before: Timestamp,
    /// The seqs of the messages whose agent waits, in their order.
    pub waiting: Vec<i64>,
}

impl InboxWalk {
    /// How long before its expiry a message counts as soon.
    pub const SOON: Duration = Duration::from_secs(3600);

    pub fn section(&self, seq: i64, expires_at: Option<Timestamp>) -> InboxSection {
        if expires_at.is_some_and(|at| at < self.soon_before) {
            InboxSection::Soon
        } else if self.waiting.contains(&seq) {
            InboxSection::Waiting
        } else {
            InboxSection::Rest
        }
    }
}

/// The position at which a page of the inbox ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    pub section: InboxSection,
    /// Soon: the expiry in milliseconds. Waiting: the place among those that wait. Rest: the rank. Unused in the orders
    /// without sections.
    pub key: i64,
    pub seq: i64,
    /// `None` starts a new walk at this position.
    pub walk: Option<InboxWalk>,
}

impl Cursor {
    /// A position among the messages that neither expire soon nor have a waiting agent.
    pub fn of_rank(rank: i64, seq: i64) -> Self {
        Self {
            section: InboxSection::Rest,
            key: rank,
            seq,
            walk: None,
        }
    }
}
