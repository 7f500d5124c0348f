//! Inputs and results of the run operations.

use countersign_core::State;
use countersign_protocol::id::MessageId;
use countersign_protocol::runs::{Event, RunStatus};
use countersign_protocol::time::Timestamp;

use crate::model::NewMessage;

/// A new segment: the first one of a new run, or the next one of an ended run.
#[derive(Debug, Clone)]
pub struct NewRun {
    pub run_id: String,
    /// The node that runs it.
    pub node: String,
    /// The idempotency key of this write, the same in every retry.
    pub write_id: String,
    /// 1 for the first segment.
    pub segment: u64,
    pub strategy_path: String,
    pub strategy_name: String,
    pub cwd: String,
    pub started_at: Timestamp,
    /// The highest event number that is used or reserved.
    pub last_seq: u64,
    pub machine: String,
    /// Further state of the hub, opaque to the store.
    pub body: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BeginOutcome {
    New,
    /// A first segment of an existing run; or a continuation, but another one has begun or the last one has not ended.
    Exists,
    /// A continuation of a run that does not exist.
    Missing,
}

/// Whether a running run can be resumed after a restart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunPhase {
    /// Resumable from its stored machine.
    Between,
    /// An agent was working, and its work must not be repeated.
    Working,
}

impl RunPhase {
    const ALL: [Self; 2] = [Self::Between, Self::Working];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Between => "between",
            Self::Working => "working",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| phase.as_str() == text)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunEnding {
    Completed,
    Error,
    Cancelled,
}

impl RunEnding {
    const ALL: [Self; 3] = [Self::Completed, Self::Error, Self::Cancelled];

    pub fn status(self) -> RunStatus {
        match self {
            Self::Completed => RunStatus::Completed,
            Self::Error => RunStatus::Error,
            Self::Cancelled => RunStatus::Cancelled,
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ending| ending.status().as_str() == text)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredRunState {
    Running,
    Ended { ending: RunEnding, at: Timestamp },
}

impl StoredRunState {
    pub fn status(self) -> RunStatus {
        match self {
            Self::Running => RunStatus::Running,
            Self::Ended { ending, .. } => ending.status(),
        }
    }

    pub fn completed_at(self) -> Option<Timestamp> {
        match self {
            Self::Running => None,
            Self::Ended { at, .. } => Some(at),
        }
    }
}

/// An event as followers received it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredEvent {
    pub seq: u64,
    pub kind: String,
    /// The whole frame.
    pub body: String,
}

impl StoredEvent {
    /// `None` for droppable events: they are many, and are not stored.
    pub fn of(event: &Event, seq: u64, frame: &str) -> Option<Self> {
        (!event.is_droppable()).then(|| Self {
            seq,
            kind: event.kind().to_owned(),
            body: frame.to_owned(),
        })
    }
}

/// A message that a run waits for.
#[derive(Debug, Clone)]
pub struct NewAsk {
    pub message: NewMessage,
    /// The number of the asking call in the segment.
    pub number: u64,
    /// The hub's state for continuing with the answer, opaque to the store.
    pub body: String,
}

/// A stored ask with its current state.
#[derive(Debug, Clone)]
pub struct StoredAsk {
    pub message_id: MessageId,
    pub state: State,
    pub number: u64,
    pub body: String,
}

/// The position of a run in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunCursor {
    pub started_at: Timestamp,
    pub seq: i64,
}

/// A run as listed, by its latest segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSummary {
    /// The position in the order of creation.
    pub seq: i64,
    pub run_id: String,
    pub strategy_path: String,
    pub strategy_name: String,
    pub cwd: String,
    pub state: StoredRunState,
    pub segment: u64,
    pub started_at: Timestamp,
    pub last_seq: u64,
}

impl RunSummary {
    pub fn cursor(&self) -> RunCursor {
        RunCursor {
            started_at: self.started_at,
            seq: self.seq,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSummaryPage {
    /// The latest started first.
    pub runs: Vec<RunSummary>,
    /// The start of the next page.
    pub next: Option<RunCursor>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    pub summary: RunSummary,
    /// The node that runs it, or ran it last.
    pub node: String,
    pub phase: RunPhase,
    /// Events up to this number were pruned; 0 if none were.
    pub pruned_seq: u64,
    /// Empty once the segment has ended.
    pub machine: String,
    pub body: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunWithRecords {
    pub run: Run,
    /// Oldest first.
    pub records: Vec<String>,
}
