//! Agents in terminals, and the texts typed ahead for them: /v1/terminals.

use serde::{Deserialize, Serialize};

use super::HubTime;
use super::inbox::ItemPresence;

/// GET /v1/terminals.
#[derive(Debug, Serialize, Deserialize)]
pub struct TerminalsList {
    pub terminals: Vec<ListedTerminal>,
}

/// An agent in a terminal.
#[derive(Debug, Serialize, Deserialize)]
pub struct ListedTerminal {
    pub agent_id: String,
    /// The display name; an earlier hub sends none.
    #[serde(default)]
    pub name: String,
    pub runtime: String,
    pub project_dir: String,
    pub terminal: String,
    /// Empty once the person has been removed.
    pub person: String,
    pub joined_at: HubTime,
    /// The agent's last call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen_at: Option<HubTime>,
    pub open: i64,
    /// The newest cue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_cue_id: Option<String>,
    /// The number of queued texts.
    pub ahead: i64,
    pub presence: ItemPresence,
}

/// A text that answers an agent's next cue.
#[derive(Debug, Serialize, Deserialize)]
pub struct QueuedText {
    pub id: i64,
    #[serde(default)]
    pub agent_id: String,
    pub person: String,
    pub text: String,
    pub created_at: HubTime,
}

/// The queued texts of an agent, in order of use.
#[derive(Debug, Serialize, Deserialize)]
pub struct QueuedTexts<T = QueuedText> {
    pub ahead: Vec<T>,
}

/// The number of a text that was queued.
#[derive(Debug, Serialize, Deserialize)]
pub struct QueuedTextRef {
    pub id: i64,
}
