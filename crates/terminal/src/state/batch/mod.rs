//! Several selected items at once: `x` marks them, one confirmation lists them, then each goes one by one through the
//! same path as a single decision.

mod dialog;
mod marks;
mod plan;
mod run;
mod summary;

use countersign_core::vocabulary::Action;

pub use dialog::BatchDialog;
pub use run::BatchRun;

/// What happens to every item of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchAction {
    Approve,
    Deny,
    Snooze,
    Archive,
}

impl BatchAction {
    /// The name of the action, as on every surface.
    pub fn in_words(self) -> Action {
        match self {
            Self::Approve => Action::Approve,
            Self::Deny => Action::Deny,
            Self::Snooze => Action::Snooze,
            Self::Archive => Action::Archive,
        }
    }
}

/// `1 item`, `3 items`
pub fn items(count: usize) -> String {
    match count {
        1 => "1 item".to_owned(),
        _ => format!("{count} items"),
    }
}
