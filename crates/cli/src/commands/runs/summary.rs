//! Labels of runs, for tables.

use countersign_client::screen::duration_label;
use countersign_protocol::api::HubTime;
use countersign_protocol::api::runs::{ListedRun, WaitingQuestion};

/// A running run with open questions is shown as waiting.
pub fn status_label(run: &ListedRun) -> &str {
    if run.status == "running" && !run.waiting.is_empty() {
        "waiting"
    } else {
        &run.status
    }
}

/// The duration of the run so far, or until its end.
pub fn took(run: &ListedRun, now: jiff::Timestamp) -> String {
    let end = run.completed_at.as_ref().and_then(HubTime::at).unwrap_or(now);
    duration_label(run.started_at.age(end))
}

/// `editor for 5m`, with the kind if it is not a text.
pub fn waiting_label(waiting: &WaitingQuestion, now: jiff::Timestamp) -> String {
    let kind = if waiting.kind == "input" {
        String::new()
    } else {
        format!(" ({})", waiting.kind)
    };
    format!(
        "{}{kind} for {}",
        waiting.agent_name,
        duration_label(waiting.since.age(now))
    )
}
