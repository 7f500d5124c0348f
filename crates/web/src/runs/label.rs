//! The status of a run as a short label.

use countersign_hub::inbox::runs::RunOverview;
use countersign_protocol::runs::RunStatus;

use crate::language::t;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunLabel {
    pub text: &'static str,
    /// `good`, `warn`, `bad` or nothing.
    pub badge_class: &'static str,
}

impl RunLabel {
    pub fn of(run: &RunOverview) -> Self {
        let is_waiting = !run.waiting.is_empty();
        let (text, badge_class) = match run.status {
            RunStatus::Pending => (t("prepared, not started"), ""),
            RunStatus::Running if is_waiting => (t("waiting for an answer"), "warn"),
            RunStatus::Running => (t("running"), "good"),
            RunStatus::Completed => (t("completed"), ""),
            RunStatus::Error => (t("failed"), "bad"),
            RunStatus::Cancelled => (t("stopped"), ""),
        };
        Self { text, badge_class }
    }
}

/// The status filters of the list: the value in the URL, and the label.
pub const STATUS_FILTERS: [(&str, &str); 5] = [
    ("", "All"),
    ("running", "Running"),
    ("completed", "Completed"),
    ("error", "Failed"),
    ("cancelled", "Stopped"),
];
