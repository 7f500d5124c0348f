//! The message: common to all doors and surfaces.

use std::fmt;
use std::str::FromStr;

use countersign_protocol::a2h::{Agent, CheckItem, Kind, Priority};
use countersign_protocol::id::{MessageId, ResolutionId};
use countersign_protocol::time::Timestamp;
use countersign_protocol::wire_enum;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::access::Actor;
use crate::form::only_text_field;
use crate::hold::Hold;
use crate::question::{Ask, Question};
use crate::rejection::Rejection;

/// The part of a message that a person sees and decides on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Content {
    pub agent: Agent,
    pub title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    pub priority: Priority,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<Value>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sensitive: bool,
    #[serde(rename = "matter")]
    pub payload: Payload,
    /// The actors who may resolve. Without resolvers on the wire, a door fills in the submitting agent.
    pub resolvers: Vec<Actor>,
}

impl Content {
    /// Validates the question.
    pub fn check(&self) -> Result<(), Rejection> {
        match &self.payload {
            Payload::Ask(ask) => ask.check(),
            Payload::Task(_) | Payload::Notify => Ok(()),
        }
    }

    /// The kind as the word used in lists, filters and pages. A form with one text field asks for a text.
    pub fn kind_word(&self) -> &'static str {
        match &self.payload {
            Payload::Notify => "notify",
            Payload::Task(_) => "task",
            Payload::Ask(ask) => match &ask.question {
                Question::Confirm { .. } => "confirm",
                Question::Select { many: false, .. } => "select",
                Question::Select { many: true, .. } => "many",
                Question::Text => "text",
                Question::Form { schema } if only_text_field(schema).is_some() => "text",
                Question::Form { .. } => "form",
            },
        }
    }
}

/// A notify, an ask or a task, with its content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Payload {
    Notify,
    Ask(Ask),
    Task(Task),
}

impl Payload {
    pub fn kind(&self) -> Kind {
        match self {
            Self::Notify => Kind::Notify,
            Self::Ask(_) => Kind::Ask,
            Self::Task(_) => Kind::Task,
        }
    }
}

/// The sort order of the inbox: 0 comes first.
pub fn inbox_rank(priority: Priority) -> i64 {
    match priority {
        Priority::Urgent => 0,
        Priority::High => 1,
        Priority::Normal => 2,
        Priority::Low => 3,
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    pub instructions: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checklist: Vec<CheckItem>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<String>,
}

/// The door a message came through, with its ids there. Stored and shown as one flat object; its fields stand in
/// alphabetical order, as they always have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "door", rename_all = "snake_case")]
pub enum Source {
    A2h(A2hSource),
    Hap(HapSource),
    Runs(RunSource),
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct A2hSource {
    pub family: String,
    pub run_id: String,
    pub version: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HapSource {
    pub cue: String,
    /// When a cue of another program was imported, in RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub imported_at: Option<String>,
    pub project_dir: String,
    pub runtime: String,
    /// The ids of the cues that this one replaced, separated by spaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<String>,
    pub terminal: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct RunSource {
    pub agent_name: String,
    pub ask: String,
    pub input_id: String,
    pub run_id: String,
    pub strategy: String,
}

impl Source {
    pub fn door(&self) -> Door {
        match self {
            Self::A2h(_) => Door::A2h,
            Self::Hap(_) => Door::Hap,
            Self::Runs(_) => Door::Runs,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Door {
    A2h,
    Hap,
    Runs,
}

impl Door {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::A2h => "a2h",
            Self::Hap => "hap",
            Self::Runs => "runs",
        }
    }
}

/// Where the resolution is pushed to. Separate from `Content`, because no surface shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Callback {
    /// In the agent's exact spelling, because the signature covers it.
    pub url: String,
    pub host: String,
    pub auth: Option<CallbackCredential>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallbackCredential {
    pub scheme: countersign_protocol::a2h::AuthScheme,
    /// The name of a secret registered at the hub, never the secret itself.
    pub reference: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    pub id: MessageId,
    pub received_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    pub content: Content,
    pub source: Source,
    pub callback: Option<Callback>,
    pub state: State,
    /// Only an open message has one.
    pub hold: Option<Hold>,
    /// The revision for optimistic locking: a write succeeds only if the revision is still the one that was read.
    pub rev: i64,
}

#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "most states are resolved; boxing each would cost more"
)]
pub enum State {
    /// Waiting for a person, an expiry or a cancel.
    Open,
    /// A notify: terminal as soon as it is accepted.
    Delivered,
    Resolved(Resolution),
}

impl State {
    pub fn status(&self) -> Status {
        match self {
            Self::Open => Status::Open,
            Self::Delivered => Status::Delivered,
            Self::Resolved(resolution) => Status::Resolved(resolution.outcome),
        }
    }
}

/// The single terminal outcome of an ask or task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Resolution {
    pub id: ResolutionId,
    pub outcome: Outcome,
    pub defaulted: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    pub edited: bool,
    pub actor: Actor,
    pub resolved_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checklist: Option<Vec<CheckItem>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileNote>,
}

/// Metadata of a file in an answer; the bytes are stored separately.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileNote {
    pub name: String,
    pub media_type: String,
    pub size: u64,
    /// Hex.
    pub sha256: String,
}

wire_enum!(
    /// How an ask or a task ended.
    Outcome {
        Answered = "answered",
        Declined = "declined",
        Cancelled = "cancelled",
        Completed = "completed",
        Dismissed = "dismissed",
        Expired = "expired",
    }
);

impl Outcome {
    pub const ALL: [Self; 6] = [
        Self::Answered,
        Self::Declined,
        Self::Cancelled,
        Self::Completed,
        Self::Dismissed,
        Self::Expired,
    ];
}

/// The lifecycle phase, as spelled on the wire and in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    Open,
    Delivered,
    Resolved(Outcome),
}

impl Status {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Delivered => "delivered",
            Self::Resolved(outcome) => outcome.as_str(),
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Status {
    type Err = UnknownStatus;

    fn from_str(text: &str) -> Result<Self, UnknownStatus> {
        match text {
            "open" => Ok(Self::Open),
            "delivered" => Ok(Self::Delivered),
            outcome => outcome.parse().map(Self::Resolved).map_err(|_| UnknownStatus),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a status: use open, delivered, answered, declined, cancelled, completed, dismissed or expired")]
pub struct UnknownStatus;
