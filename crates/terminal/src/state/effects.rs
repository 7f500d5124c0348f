//! The inputs and effects of the state machine.

use std::sync::Arc;

use countersign_client::hub::ClientError;
use countersign_protocol::api::inbox::ItemsPage;
use crossterm::event::KeyEvent;
use jiff::Timestamp;
use serde_json::Value;

use crate::feed::FeedEvent;
use crate::inbox_entry::InboxEntry;

#[derive(Debug)]
pub enum InboxInput {
    Key(KeyEvent),
    Paste(String),
    Tick,
    Feed(FeedEvent),
    Reply(InboxReply),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    Load {
        listing: Listing,
        after: Option<String>,
        want: usize,
    },
    Read {
        id: String,
        /// The item is new and belongs into a list.
        fresh: bool,
    },
    Resolve {
        id: String,
        body: Value,
    },
    /// Takes back a decision that is on hold.
    Undo {
        id: String,
    },
    Put {
        id: String,
        away: SnoozeAction,
    },
    Retry {
        id: String,
    },
    /// A type-ahead text for an agent in a terminal.
    Ahead {
        agent_id: String,
        text: String,
    },
    Presets,
    /// Counts all items that wait.
    Count,
    /// Opens the item's page.
    Browse {
        id: String,
    },
    Ring,
    Quit,
}

#[derive(Debug)]
pub enum InboxReply {
    Loaded {
        listing: Listing,
        appends: bool,
        page: Result<EntriesPage, ClientError>,
    },
    Read {
        id: String,
        fresh: bool,
        entry: Result<Arc<InboxEntry>, ClientError>,
    },
    /// With the status from the hub: `open` while the decision is on hold.
    Resolved {
        id: String,
        status: Result<String, ClientError>,
    },
    Undone {
        id: String,
        done: Result<(), ClientError>,
    },
    Put {
        id: String,
        away: SnoozeAction,
        done: Result<(), ClientError>,
    },
    Retried {
        id: String,
        done: Result<(), ClientError>,
    },
    Ahead {
        agent_id: String,
        text: String,
        done: Result<(), ClientError>,
    },
    Presets(Result<Vec<String>, ClientError>),
    /// `None` from a hub that does not count.
    Counted(Result<Option<i64>, ClientError>),
    /// With the text to show.
    Browsed(String),
}

/// A page of a list of entries.
pub type EntriesPage = ItemsPage<Arc<InboxEntry>>;

/// Snoozing, archiving and bringing back, for this person only; none of them decides the item.
#[derive(Debug, Clone, PartialEq)]
pub enum SnoozeAction {
    Until(Timestamp),
    Archived,
    Back,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tab {
    Waiting,
    Notices,
    Snoozed,
    Decided,
    Found,
}

impl Tab {
    pub const ALL: [Self; 5] = [Self::Waiting, Self::Notices, Self::Snoozed, Self::Decided, Self::Found];
}

#[derive(Debug, Clone, PartialEq)]
pub enum Listing {
    Waiting,
    Notices,
    Snoozed,
    Decided,
    Found(String),
}

impl Listing {
    pub fn tab(&self) -> Tab {
        match self {
            Self::Waiting => Tab::Waiting,
            Self::Notices => Tab::Notices,
            Self::Snoozed => Tab::Snoozed,
            Self::Decided => Tab::Decided,
            Self::Found(_) => Tab::Found,
        }
    }
}
