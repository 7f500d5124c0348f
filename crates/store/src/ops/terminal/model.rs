//! Inputs and results of the terminal operations.

use countersign_core::hap::Terminal;
use countersign_core::{Content, Digest};
use countersign_protocol::id::{MessageId, ResolutionId};
use countersign_protocol::time::Timestamp;
use serde::Serialize;

use crate::model::{AgentView, NewMessage, ResolvedMessage};

/// A cue as the door submits it; the store finds out whether it is new.
#[derive(Debug, Clone)]
pub struct NewCue {
    pub message: NewMessage,
    pub terminal: Terminal,
    /// The person whose token was used.
    pub person: String,
    /// Two cues of one agent with the same digest are the same cue.
    pub envelope: Digest,
    /// Earlier cues of this agent whose process is gone, each with the resolution id to use if it is superseded.
    pub gone: Vec<(MessageId, ResolutionId)>,
    /// The resolution id to use if a type-ahead text answers the cue.
    pub resolution_id: ResolutionId,
}

#[derive(Debug, Clone)]
pub enum CueOutcome {
    Created {
        /// The cues of `gone` that it superseded.
        superseded: Vec<ResolvedMessage>,
        /// The answer from a type-ahead text, if there was one.
        answered: Option<Box<ResolvedMessage>>,
    },
    /// The same cue is already open, or its answer is uncollected.
    Attached(MessageId),
    /// The name belongs to another person's agent, to an agent outside terminals, or to a removed agent.
    NotYours,
    QuotaExceeded(ExceededQuota),
    /// A cue to be superseded has an answer on hold; nothing was submitted. Submit the cue again when the hold has ended.
    Held {
        until: Timestamp,
        cue: Box<NewCue>,
    },
}

/// The quota that was exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExceededQuota {
    OpenOfAgent,
    OpenOfPerson,
    Joined,
}

/// The result of joining under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinOutcome {
    New,
    /// The name is or was in use, or the person does not exist.
    Taken,
    /// The person has reached the quota of recently joined agents.
    TooManyJoined,
}

/// A cue as its terminal sees it.
#[derive(Debug, Clone)]
pub struct FoundCue {
    pub view: AgentView,
    pub content: Content,
    /// The agent has printed the answer.
    pub collected: bool,
}

/// A type-ahead text that waits for an agent's next cue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ahead {
    pub id: i64,
    pub agent_id: String,
    pub person: String,
    pub text: String,
    pub created_at: Timestamp,
}

/// The result of storing a type-ahead text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypeAheadOutcome {
    /// Stored under this id.
    Waiting(i64),
    /// The agent does not exist, or belongs to another person.
    NoSuchAgent,
    TooManyTexts,
}

/// The result of importing a cue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportOutcome {
    New,
    /// It was imported before.
    Known(MessageId),
    NotYours,
    QuotaExceeded(ExceededQuota),
}

#[derive(Debug, Clone, Serialize)]
pub struct TerminalSummary {
    #[serde(flatten)]
    pub terminal: Terminal,
    /// The display name.
    pub name: String,
    /// Empty once the person has been removed.
    pub person: String,
    pub joined_at: Timestamp,
    /// When the agent last called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen_at: Option<Timestamp>,
    pub open: i64,
    /// The newest cue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_cue_id: Option<MessageId>,
    /// The number of waiting type-ahead texts.
    pub ahead: i64,
}
