//! Requests to the terminal door of the hub, and its replies.

use countersign_protocol::hap::CueKind;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Debug, Serialize)]
pub struct JoinRequest<'a> {
    pub runtime: &'a str,
    pub project_dir: &'a str,
    pub terminal: &'a str,
}

#[derive(Debug, Deserialize)]
pub struct JoinReply {
    pub agent_id: String,
}

#[derive(Debug, Serialize)]
pub struct CueRequest<'a> {
    pub agent_id: &'a str,
    pub kind: CueKind,
    pub prompt: &'a str,
    pub payload: Option<&'a Map<String, Value>>,
    pub project_dir: &'a str,
    pub terminal: &'a str,
}

/// A cue that the hub has stored. It survives the end of this process.
#[derive(Debug, Deserialize)]
pub struct AcceptedCue {
    pub id: String,
    #[serde(default)]
    pub attached: bool,
    #[serde(default)]
    pub superseded: Vec<String>,
    #[serde(default)]
    pub queued_behind: u64,
    pub warning: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CueStatus {
    Open,
    Answered,
    Declined,
    Cancelled,
    Expired,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct CueView {
    pub id: String,
    pub status: CueStatus,
    pub kind: Option<CueKind>,
    #[serde(default)]
    pub reply: Reply,
    #[serde(default)]
    pub value: Value,
    pub actor: Option<String>,
    pub resolved_at: Option<String>,
    /// Whether a confirm was answered with its first choice; `None` for other questions.
    pub confirmed: Option<bool>,
    /// The question in one line; present only in the list of uncollected answers.
    pub title: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct UncollectedReply {
    pub kept: Vec<CueView>,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Reply {
    #[serde(default)]
    pub text: String,
    pub comment: Option<String>,
    #[serde(default)]
    pub files: Vec<ReplyFile>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ReplyFile {
    pub name: String,
    pub media_type: Option<String>,
    pub size: u64,
    pub sha256: String,
}

impl CueView {
    /// The id of the cue that replaced this one.
    pub fn superseded_by(&self) -> Option<&str> {
        let comment = self
            .reply
            .comment
            .as_deref()
            .filter(|_| self.status == CueStatus::Cancelled)?;
        comment.strip_prefix("superseded by ")
    }

    pub fn comment(&self) -> Option<&str> {
        self.reply
            .comment
            .as_deref()
            .map(str::trim)
            .filter(|comment| !comment.is_empty())
    }
}
