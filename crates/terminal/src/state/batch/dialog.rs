//! The confirmation of a batch. It lists the items and what happens to them, and is inactive at first.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent};

use super::super::overlay::{RejectDialog, RejectStep, SPANS, row};
use super::super::{Effect, GUARD, InboxState, Overlay};
use super::BatchAction;
use super::plan::BatchStep;

#[derive(Debug)]
pub struct BatchDialog {
    pub action: BatchAction,
    /// The ids and titles of the items that take part.
    pub included: Vec<(String, String)>,
    /// The titles of the other marked items, with the reason.
    pub left_out: Vec<(String, String)>,
    /// The reasons, for a batch that denies.
    pub reject: RejectDialog,
    /// The time, for a batch that snoozes. The shortest one is preselected, because snoozing decides nothing.
    pub span: usize,
    appeared: Duration,
}

impl BatchDialog {
    pub fn new(action: BatchAction, presets: Vec<String>, elapsed: Duration) -> Self {
        Self {
            action,
            included: Vec::new(),
            left_out: Vec::new(),
            reject: RejectDialog {
                presets,
                ..RejectDialog::default()
            },
            span: 0,
            appeared: elapsed,
        }
    }

    /// The time until the dialog takes keys.
    pub fn guard_left(&self, elapsed: Duration) -> Duration {
        GUARD.saturating_sub(elapsed.saturating_sub(self.appeared))
    }

    /// Another person decided an item while the dialog was open.
    fn leave_out(&mut self, id: &str, why: &str) {
        if let Some(index) = self.included.iter().position(|(known, _)| known == id) {
            let (_, title) = self.included.remove(index);
            self.left_out.push((title, why.to_owned()));
        }
    }
}

impl InboxState {
    pub(in crate::state) fn batch_key(&mut self, key: KeyEvent, mut dialog: BatchDialog) -> Vec<Effect> {
        let is_guarded = !dialog.guard_left(self.now.elapsed).is_zero();
        let step = match (key.code, dialog.action) {
            (KeyCode::Esc, BatchAction::Approve | BatchAction::Snooze | BatchAction::Archive) => return Vec::new(),
            (KeyCode::Esc, BatchAction::Deny) if !dialog.reject.typing => return Vec::new(),
            _ if is_guarded => None,
            (_, BatchAction::Deny) => match dialog.reject.key(key) {
                RejectStep::Open => None,
                RejectStep::Closed => return Vec::new(),
                RejectStep::Hint(hint) => {
                    self.hint(hint);
                    None
                }
                RejectStep::Chosen(reason) => Some(BatchStep::Deny(reason)),
            },
            (KeyCode::Enter, BatchAction::Approve) => Some(BatchStep::Approve),
            (KeyCode::Enter, BatchAction::Archive) => Some(BatchStep::Archive),
            (KeyCode::Enter, BatchAction::Snooze) => self.until(dialog.span).map(BatchStep::Snooze),
            (_, BatchAction::Snooze) => {
                dialog.span = row(key, Some(dialog.span), SPANS.len()).unwrap_or(dialog.span);
                None
            }
            (_, BatchAction::Approve | BatchAction::Archive) => None,
        };
        match step {
            Some(step) => self.start_batch(step, dialog.included),
            None => {
                self.overlay = Some(Overlay::Batch(dialog));
                Vec::new()
            }
        }
    }

    /// Takes an item that another person decided out of the open confirmation.
    pub(in crate::state) fn leave_out_of_dialog(&mut self, id: &str, text: &str) {
        if let Some(Overlay::Batch(dialog)) = &mut self.overlay {
            dialog.leave_out(id, text);
        }
    }
}
