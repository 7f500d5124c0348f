//! The line after a batch: what was done, how to take it back, and what failed.

use super::super::InboxState;
use super::plan::BatchStep;
use super::run::{BatchJob, BatchRun};
use crate::local_time::time_label;

impl InboxState {
    pub(super) fn end_batch(&mut self, run: BatchRun) {
        let text = self.summary(&run);
        if run.failed.is_empty() {
            self.show_info(text);
        } else {
            self.show_error(text);
        }
        if !run.held.is_empty() {
            self.held.push(run.held);
        }
    }

    fn summary(&self, run: &BatchRun) -> String {
        let count = run.done.len();
        let done = match &run.job {
            BatchJob::Undo => format!("{count} of {} taken back", count + run.failed.len()),
            BatchJob::Step(step) => self.done_text(step, count, run.held.len()),
        };
        match (run.failed.as_slice(), &run.job) {
            ([], BatchJob::Undo) => format!("{done}; nothing was sent"),
            ([], BatchJob::Step(_)) => done,
            ([(title, why)], _) => format!("{done}; not {title}: {why}"),
            ([(title, why), others @ ..], _) => {
                format!("{done}; not {title}: {why} (and {} more)", others.len())
            }
        }
    }

    fn done_text(&self, step: &BatchStep, count: usize, held: usize) -> String {
        let past = step.action().in_words().past().to_lowercase();
        let them = if count == 1 { "it" } else { "them" };
        match step {
            _ if count == 0 => format!("0 {past}"),
            BatchStep::Approve | BatchStep::Deny(_) if held > 0 => format!("{count} {past}; z takes {them} back"),
            BatchStep::Approve | BatchStep::Deny(_) => format!("{count} {past}"),
            BatchStep::Snooze(until) => {
                let when = time_label(*until, self.now.at, &self.zone);
                format!("{count} {past} until {when}; u takes {them} back, one by one")
            }
            BatchStep::Archive => format!("{count} {past}; u takes {them} back, one by one"),
        }
    }
}
