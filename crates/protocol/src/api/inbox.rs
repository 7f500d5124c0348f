//! Messages for people: /v1/inbox, /v1/notices, /v1/decided, /v1/search and /v1/messages.

use std::ops::Not;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::HubTime;
use crate::a2h::{Agent, CheckItem, Choice};

/// A page of a list. The list of snoozed items has no further pages.
#[derive(Debug, Serialize, Deserialize)]
pub struct ItemsPage<I> {
    pub items: Vec<I>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// How many items wait for the caller in all, whatever the filter; only on the first page of the inbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<i64>,
}

/// A page of all messages.
#[derive(Debug, Serialize, Deserialize)]
pub struct MessagesPage<I> {
    pub messages: Vec<I>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// One message for a person. The hub sends the context as the agent wrote it, and the source with all fields of its door.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Item<P = ItemPart, S = ItemSource> {
    pub id: String,
    /// The message is damaged; only the row of the message is known.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub unreadable: bool,
    /// `ask`, `notify` or `task`.
    #[serde(rename = "type")]
    pub verb: String,
    pub status: String,
    pub title: String,
    pub body: Option<String>,
    pub agent: Agent,
    /// The display name of the agent; an earlier hub sends none.
    #[serde(default)]
    pub agent_name: String,
    pub priority: String,
    #[serde(default)]
    pub tags: Vec<String>,
    #[serde(default = "Vec::new")]
    pub context: Vec<P>,
    #[serde(default)]
    pub sensitive: bool,
    pub question: Option<ItemQuestion>,
    pub action: Option<TaskDetails>,
    #[serde(default)]
    pub permissions: ItemPermissions,
    /// Free text is accepted besides the offered options, and files may be attached.
    #[serde(default)]
    pub open_ended: bool,
    /// For a text question: an empty answer is allowed.
    #[serde(default)]
    pub may_be_empty: bool,
    #[serde(default)]
    pub resolvers: Vec<String>,
    /// No longer true while a decision is on hold.
    #[serde(default)]
    pub can_answer: bool,
    /// A decision that its author can still take back. Only people see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<ItemHold>,
    pub created_at: HubTime,
    pub expires_at: Option<HubTime>,
    pub default_on_expire: Option<Value>,
    pub source: Option<S>,
    pub fetched_at: Option<HubTime>,
    pub resolution: Option<ItemResolution>,
    pub delivery: Option<ItemDelivery>,
    /// Only in the inbox and in one item by its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presence: Option<ItemPresence>,
    /// The next two are only in one item by its id.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub agent_seen_at: Option<Option<HubTime>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting_now: Option<bool>,
    /// The end of this person's snooze; only in the list of snoozed items.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<HubTime>,
}

/// Tells a null from an absent field.
fn present<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<Option<HubTime>>, D::Error> {
    Option::deserialize(reader).map(Some)
}

/// A context part as clients show it.
#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum ItemPart {
    Text {
        text: String,
    },
    Data {
        data: Value,
    },
    File {
        file: FileLink,
    },
    /// A kind from a newer hub, unknown to this version.
    #[serde(other)]
    Unknown,
}

/// The file of a context part.
#[derive(Debug, Deserialize)]
pub struct FileLink {
    pub uri: String,
    pub name: Option<String>,
    pub mime_type: Option<String>,
}

/// The question of an ask.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum ItemQuestion {
    Confirm(Choices),
    Select(Choices),
    Text,
    Form {
        schema: Value,
    },
    /// A kind from a newer hub, unknown to this version.
    #[serde(other)]
    Unknown,
}

/// The options of a confirm or a select.
#[derive(Debug, Serialize, Deserialize)]
pub struct Choices {
    pub options: Vec<Choice>,
    #[serde(default)]
    pub allow_edit: bool,
    /// For a select: several options may be picked.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub many: bool,
}

/// The work of a task.
#[derive(Debug, Serialize, Deserialize)]
pub struct TaskDetails {
    pub instructions: String,
    pub checklist: Option<Vec<ChecklistStep>>,
    pub verification: Option<String>,
}

/// One step of a task's checklist; clients send it back with the decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChecklistStep {
    pub text: String,
    #[serde(default)]
    pub done: bool,
}

impl From<CheckItem> for ChecklistStep {
    fn from(CheckItem { text, done }: CheckItem) -> Self {
        Self { text, done }
    }
}

/// The door of a message and its fields there, as clients read them.
#[derive(Debug, Deserialize)]
pub struct ItemSource {
    pub door: String,
    /// Only some doors have a family and a version.
    #[serde(default)]
    pub family: String,
    #[serde(default)]
    pub version: String,
    /// The next four fields come from terminals only.
    pub runtime: Option<String>,
    pub project_dir: Option<String>,
    pub terminal: Option<String>,
    /// The earlier messages that this one superseded, separated by spaces.
    pub supersedes: Option<String>,
    /// The last two fields come from runs only.
    #[serde(rename = "agentName")]
    pub agent_name: Option<String>,
    pub strategy: Option<String>,
}

/// The actions the asker allows besides answering; a hub may omit them.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(default)]
pub struct ItemPermissions {
    pub respond: bool,
    /// Whether the message may be declined.
    pub ignore: bool,
}

impl Default for ItemPermissions {
    fn default() -> Self {
        Self {
            respond: true,
            ignore: true,
        }
    }
}

/// Whether the process of a cue is still there.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ItemPresence {
    /// `waiting`, `gone` or `paused`; none for messages that are not open cues.
    pub state: Option<String>,
    pub since: Option<HubTime>,
}

/// A decision on hold: its author, as an actor, and when it becomes the resolution.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ItemHold {
    pub by: String,
    pub until: HubTime,
}

/// A decision that was put on hold instead of resolving its message at once.
#[derive(Debug, Serialize, Deserialize)]
pub struct HeldDecision {
    pub id: String,
    /// `open`, until the hold ends.
    pub status: String,
    pub held: ItemHold,
}

/// The outcome of a message.
#[derive(Debug, Serialize, Deserialize)]
pub struct ItemResolution {
    pub resolution_id: String,
    pub resolution: String,
    #[serde(default)]
    pub defaulted: bool,
    pub value: Option<Value>,
    #[serde(default)]
    pub edited: bool,
    pub actor: String,
    pub resolved_at: HubTime,
    pub comment: Option<String>,
    pub checklist: Option<Vec<ChecklistStep>>,
    #[serde(default)]
    pub files: Vec<SentFile>,
}

/// A file that came with an answer.
#[derive(Debug, Serialize, Deserialize)]
pub struct SentFile {
    pub name: String,
    pub media_type: String,
    pub size: u64,
    /// Hex.
    #[serde(default)]
    pub sha256: String,
}

/// The push of an outcome to the agent's callback.
#[derive(Debug, Serialize, Deserialize)]
pub struct ItemDelivery {
    pub state: String,
    pub attempts: u64,
    pub next_attempt_at: Option<HubTime>,
    pub delivered_at: Option<HubTime>,
    pub last_error: Option<String>,
}

/// The message that was snoozed, archived or restored.
#[derive(Debug, Serialize, Deserialize)]
pub struct MessageRef {
    pub id: String,
}

/// The preset reasons for rejecting.
#[derive(Debug, Serialize, Deserialize)]
pub struct Presets {
    pub reject: Vec<String>,
}
