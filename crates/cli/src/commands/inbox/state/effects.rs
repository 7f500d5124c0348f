//! What goes into the machine and what comes out of it.

use std::sync::Arc;

use crossterm::event::KeyEvent;
use jiff::Timestamp;
use serde_json::Value;

use super::super::feed::Feed;
use super::super::seen::Seen;
use crate::client::HubError;

#[derive(Debug)]
pub enum Input {
    Key(KeyEvent),
    Paste(String),
    Tick,
    Feed(Feed),
    Reply(Reply),
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
        /// It is read because it has just come up, and belongs into a list.
        fresh: bool,
    },
    Resolve {
        id: String,
        body: Value,
    },
    Put {
        id: String,
        away: Away,
    },
    Retry {
        id: String,
    },
    /// A text for the next cue of an agent in a terminal.
    Ahead {
        agent_id: String,
        text: String,
    },
    Presets,
    Ring,
    Quit,
}

#[derive(Debug)]
pub enum Reply {
    Loaded {
        listing: Listing,
        appends: bool,
        page: Result<Page, HubError>,
    },
    Read {
        id: String,
        fresh: bool,
        seen: Result<Arc<Seen>, HubError>,
    },
    /// With the status the hub gave it.
    Resolved {
        id: String,
        status: Result<String, HubError>,
    },
    Put {
        id: String,
        away: Away,
        done: Result<(), HubError>,
    },
    Retried {
        id: String,
        done: Result<(), HubError>,
    },
    Ahead {
        agent_id: String,
        text: String,
        done: Result<(), HubError>,
    },
    Presets(Result<Vec<String>, HubError>),
}

#[derive(Debug)]
pub struct Page {
    pub items: Vec<Arc<Seen>>,
    pub next: Option<String>,
}

/// Out of this person's sight, and back; it decides nothing.
#[derive(Debug, Clone, PartialEq)]
pub enum Away {
    Until(Timestamp),
    Archived,
    Back,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tab {
    Waiting,
    Notices,
    Aside,
    Decided,
    Found,
}

impl Tab {
    pub const ALL: [Self; 5] = [Self::Waiting, Self::Notices, Self::Aside, Self::Decided, Self::Found];
}

#[derive(Debug, Clone, PartialEq)]
pub enum Listing {
    Waiting,
    Notices,
    Aside,
    Decided,
    Found(String),
}

impl Listing {
    pub fn tab(&self) -> Tab {
        match self {
            Self::Waiting => Tab::Waiting,
            Self::Notices => Tab::Notices,
            Self::Aside => Tab::Aside,
            Self::Decided => Tab::Decided,
            Self::Found(_) => Tab::Found,
        }
    }
}
