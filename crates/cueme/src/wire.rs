//! What goes to the hub's terminal door and what comes back.

use countersign_protocol::hap::CueKind;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Debug, Serialize)]
pub struct Join<'a> {
    pub runtime: &'a str,
    pub project_dir: &'a str,
    pub terminal: &'a str,
}

#[derive(Debug, Deserialize)]
pub struct Joined {
    pub agent_id: String,
}

#[derive(Debug, Serialize)]
pub struct Cue<'a> {
    pub agent_id: &'a str,
    pub kind: CueKind,
    pub prompt: &'a str,
    pub payload: Option<&'a Map<String, Value>>,
    pub project_dir: &'a str,
    pub terminal: &'a str,
}

/// The hub has it, and keeps it whatever happens to this process.
#[derive(Debug, Deserialize)]
pub struct Kept {
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
pub enum Status {
    Open,
    Answered,
    Declined,
    Cancelled,
    Expired,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Cued {
    pub id: String,
    pub status: Status,
    pub kind: Option<CueKind>,
    #[serde(default)]
    pub reply: Reply,
    #[serde(default)]
    pub value: Value,
    pub actor: Option<String>,
    pub resolved_at: Option<String>,
    /// Whether a confirm was answered with its first choice. Nothing for other questions.
    pub confirmed: Option<bool>,
    /// Its question in one line; told only of those that were kept.
    pub title: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct KeptAnswers {
    pub kept: Vec<Cued>,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Reply {
    #[serde(default)]
    pub text: String,
    pub comment: Option<String>,
    #[serde(default)]
    pub files: Vec<FileNote>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct FileNote {
    pub name: String,
    pub media_type: Option<String>,
    pub size: u64,
    pub sha256: String,
}

impl Cued {
    /// The id of the cue that replaced this one.
    pub fn superseded_by(&self) -> Option<&str> {
        let comment = self
            .reply
            .comment
            .as_deref()
            .filter(|_| self.status == Status::Cancelled)?;
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
