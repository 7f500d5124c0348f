//! What terminals ask the store for, and what they get.

use countersign_core::hap::Terminal;
use countersign_core::{Content, Digest};
use countersign_protocol::id::{MessageId, ResolutionId};
use countersign_protocol::time::Timestamp;
use serde::Serialize;

use crate::model::{AgentView, NewMessage, ResolvedMessage};

/// A cue as the door hands it over; the store finds out whether it is a new one.
#[derive(Debug, Clone)]
pub struct NewCue {
    pub message: NewMessage,
    pub terminal: Terminal,
    /// Whose token brought it.
    pub person: String,
    /// Two cues of one agent with the same digest are the same cue.
    pub envelope: Digest,
    /// Earlier cues of this agent whose process is gone. Each comes with the id its end would have.
    pub gone: Vec<(MessageId, ResolutionId)>,
    /// The id of the resolution, should somebody have typed ahead.
    pub resolution_id: ResolutionId,
}

#[derive(Debug, Clone)]
pub enum CueOutcome {
    Created {
        /// Those of `gone` that it ended.
        superseded: Vec<ResolvedMessage>,
        /// Where somebody had typed ahead.
        answered: Option<Box<ResolvedMessage>>,
    },
    /// The same cue is open, or its answer was not collected yet.
    Attached(MessageId),
    /// The name belongs to another person's agent, or to one that is no terminal's, or its agent was removed.
    NotYours,
    TooMany(TooMany),
}

/// Of what there are too many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TooMany {
    OpenOfAgent,
    OpenOfPerson,
    Joined,
}

/// What became of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinOutcome {
    New,
    /// Somebody has it or had it, or the person is not there.
    Taken,
    TooMany,
}

/// A cue as its terminal sees it.
#[derive(Debug, Clone)]
pub struct FoundCue {
    pub pulled: AgentView,
    pub content: Content,
    /// The agent has printed its answer.
    pub collected: bool,
}

/// A text that waits for an agent's next cue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ahead {
    pub id: i64,
    pub agent_id: String,
    pub person: String,
    pub text: String,
    pub created_at: Timestamp,
}

/// What became of a text typed ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypeAheadOutcome {
    /// Under this number.
    Waiting(i64),
    /// Or it is another person's, whom the agent does not ask.
    NoSuchAgent,
    TooMany,
}

/// What became of a cue that was asked elsewhere, before this hub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportOutcome {
    New,
    /// It was imported before.
    Known(MessageId),
    NotYours,
    TooMany(TooMany),
}

#[derive(Debug, Clone, Serialize)]
pub struct TerminalSummary {
    #[serde(flatten)]
    pub terminal: Terminal,
    /// Whose it is; empty once that person has been removed.
    pub person: String,
    pub joined_at: Timestamp,
    /// When it last called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen_at: Option<Timestamp>,
    pub open: i64,
    /// Its newest cue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_cue_id: Option<MessageId>,
    /// Texts that wait for its next one.
    pub ahead: i64,
}
