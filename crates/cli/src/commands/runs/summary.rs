//! A run as the hub lists it.

use countersign_client::screen::duration_words;
use countersign_protocol::api::HubTime;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
pub struct ListedRun {
    pub run_id: String,
    pub strategy_name: String,
    pub strategy_path: String,
    pub cwd: String,
    pub status: String,
    pub started_at: HubTime,
    pub completed_at: Option<HubTime>,
    /// The open questions, the oldest first.
    #[serde(default)]
    pub waiting: Vec<WaitingQuestion>,
}

#[derive(Debug, Deserialize)]
pub struct WaitingQuestion {
    /// `input`, `permission` or `question`.
    pub kind: String,
    pub agent_name: String,
    pub message_id: String,
    #[serde(default)]
    pub prompt: Option<String>,
    pub since: HubTime,
}

impl ListedRun {
    /// A running run with open questions is shown as waiting.
    pub fn status_words(&self) -> &str {
        if self.status == "running" && !self.waiting.is_empty() {
            "waiting"
        } else {
            &self.status
        }
    }

    /// The duration of the run so far, or until its end.
    pub fn took(&self, now: jiff::Timestamp) -> String {
        let end = self.completed_at.as_ref().and_then(HubTime::at).unwrap_or(now);
        duration_words(self.started_at.age(end))
    }
}

impl WaitingQuestion {
    /// `editor for 5m`, with the kind if it is not a text.
    pub fn words(&self, now: jiff::Timestamp) -> String {
        let kind = if self.kind == "input" {
            String::new()
        } else {
            format!(" ({})", self.kind)
        };
        format!("{}{kind} for {}", self.agent_name, duration_words(self.since.age(now)))
    }
}
