//! Runs as people see them: /v1/runs.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::HubTime;
use crate::runs::RunError;

/// A page of the list, latest start first.
#[derive(Debug, Serialize, Deserialize)]
pub struct RunsPage<R = ListedRun> {
    pub runs: Vec<R>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A run by its latest segment.
#[derive(Debug, Serialize, Deserialize)]
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

/// A question that a run waits for.
#[derive(Debug, Serialize, Deserialize)]
pub struct WaitingQuestion {
    /// `input`, `permission` or `question`.
    pub kind: String,
    pub agent_name: String,
    pub message_id: String,
    pub prompt: Option<String>,
    pub since: HubTime,
}

/// GET /v1/runs/{id}.
#[derive(Debug, Serialize, Deserialize)]
pub struct RunDetails {
    #[serde(flatten)]
    pub summary: ListedRun,
    #[serde(default)]
    pub agents: Vec<String>,
    #[serde(default)]
    pub flow_tree: Value,
    #[serde(default)]
    pub segment: u64,
    #[serde(default)]
    pub last_seq: u64,
    pub error: Option<RunError>,
    #[serde(default)]
    pub steps: Vec<RunStep>,
    /// Set if there are steps before this event.
    pub earlier: Option<u64>,
}

/// A step of a run; what happened before the oldest event of the page is unknown.
#[derive(Debug, Serialize, Deserialize)]
pub struct RunStep {
    #[serde(default)]
    pub seq: u64,
    pub name: String,
    pub message: Option<String>,
    pub started_at: Option<HubTime>,
    pub completed_at: Option<HubTime>,
    pub result: Option<RunStepResult>,
    /// Whether a text was cut.
    #[serde(default)]
    pub is_cut: bool,
}

/// The result of a step.
#[derive(Debug, Serialize, Deserialize)]
pub struct RunStepResult {
    pub text: String,
    #[serde(default)]
    pub usage: StepUsage,
    #[serde(default)]
    pub finish_reason: String,
}

/// The token counts of a step; the run socket spells them differently.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StepUsage {
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
}
