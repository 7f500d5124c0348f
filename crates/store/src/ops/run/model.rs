//! What the hub tells the store of its runs, and what it gets back.

use countersign_core::State;
use countersign_protocol::id::MessageId;
use countersign_protocol::runs::{Event, RunStatus};
use countersign_protocol::time::Timestamp;

use crate::model::NewMessage;

/// A segment that begins: the first one of a run that is not known yet, or the next one of a run that has ended.
#[derive(Debug, Clone)]
pub struct NewRun {
    pub run_id: String,
    /// Whose task moves it.
    pub node: String,
    /// Of this very write, whenever it is repeated.
    pub write_id: String,
    /// 1 for the first.
    pub segment: u64,
    pub strategy_path: String,
    pub strategy_name: String,
    pub cwd: String,
    pub started_at: Timestamp,
    /// The highest number that an event has, or will have without another word.
    pub last_seq: u64,
    pub machine: String,
    /// All else the hub wants back, in its own words.
    pub body: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BeginOutcome {
    New,
    /// A first segment, and the run is known; or a continuation, and another one has begun or the last one has not ended.
    Exists,
    /// A continuation, and there is no such run.
    Missing,
}

/// What a restart may do with a run that has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunPhase {
    /// It can go on from its machine.
    Between,
    /// An agent was at work whose work must not be done twice.
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

/// An event as subscribers got it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredEvent {
    pub seq: u64,
    pub kind: String,
    /// The whole frame.
    pub body: String,
}

impl StoredEvent {
    /// Nothing for one that subscribers may miss: those are many, and are not stored.
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
    /// The call in the segment that asks.
    pub number: u64,
    /// What the hub needs to go on with the answer.
    pub body: String,
}

/// The same, later.
#[derive(Debug, Clone)]
pub struct StoredAsk {
    pub message_id: MessageId,
    pub state: State,
    pub number: u64,
    pub body: String,
}

/// Where a run stands in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunCursor {
    pub started_at: Timestamp,
    pub seq: i64,
}

/// A run as it is listed, by its latest segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSummary {
    /// Its place in the order in which runs first came.
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
    /// The latest to start first.
    pub runs: Vec<RunSummary>,
    /// Where to go on.
    pub next: Option<RunCursor>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    pub summary: RunSummary,
    /// Whose task moves it, or moved it last.
    pub node: String,
    pub phase: RunPhase,
    /// Events up to this one are not kept any more; 0 while all are.
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
