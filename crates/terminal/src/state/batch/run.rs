//! A batch at work: one call at a time, the next one after the reply. What fails stays marked.

use std::collections::VecDeque;
use std::sync::Arc;

use countersign_client::hub::ClientError;

use super::super::open::ON_HOLD;
use super::super::{Effect, InboxState, Tab};
use super::plan::BatchStep;
use crate::inbox_entry::InboxEntry;

/// What a batch does with its items.
#[derive(Debug, PartialEq)]
pub enum BatchJob {
    Step(BatchStep),
    /// Takes the decisions of an earlier batch back.
    Undo,
}

#[derive(Debug)]
pub struct BatchRun {
    pub(super) job: BatchJob,
    /// Ids and titles.
    waiting: VecDeque<(String, String)>,
    /// The item whose reply is pending.
    current: Option<(String, String)>,
    /// The current item was decided by another person, and is being read.
    is_reading: bool,
    pub(super) done: Vec<String>,
    /// The decisions that can be taken back.
    pub(super) held: Vec<String>,
    /// Titles, with the reason.
    pub(super) failed: Vec<(String, String)>,
}

impl BatchRun {
    fn new(job: BatchJob, items: Vec<(String, String)>) -> Self {
        Self {
            job,
            waiting: items.into(),
            current: None,
            is_reading: false,
            done: Vec::new(),
            held: Vec::new(),
            failed: Vec::new(),
        }
    }

    /// The number of the item at work, and of all.
    pub fn progress(&self) -> (usize, usize) {
        let ended = self.done.len() + self.failed.len();
        let current = usize::from(self.current.is_some());
        (ended + current, ended + current + self.waiting.len())
    }

    fn fail(&mut self, title: String, why: impl Into<String>) {
        self.failed.push((title, why.into()));
    }
}

impl InboxState {
    /// Whether a batch is at work.
    pub fn is_sending(&self) -> bool {
        self.batch.is_some()
    }

    pub(super) fn start_batch(&mut self, step: BatchStep, items: Vec<(String, String)>) -> Vec<Effect> {
        self.message = None;
        self.batch = Some(BatchRun::new(BatchJob::Step(step), items));
        self.next_of_batch()
    }

    pub(in crate::state) fn undo_batch(&mut self, ids: Vec<String>) -> Vec<Effect> {
        let title = |id: &str| self.marked_entry(id).map(|entry| entry.item.title.clone());
        let items = ids.into_iter().map(|id| (title(&id).unwrap_or_default(), id));
        let items = items.map(|(title, id)| (id, title)).collect();
        self.message = None;
        self.batch = Some(BatchRun::new(BatchJob::Undo, items));
        self.next_of_batch()
    }

    /// The next call, or the summary. An item that changed meanwhile is not sent.
    fn next_of_batch(&mut self) -> Vec<Effect> {
        let Some(mut run) = self.batch.take() else {
            return Vec::new();
        };
        while let Some((id, title)) = run.waiting.pop_front() {
            match self.effect_of(&run.job, &id) {
                Ok(effect) => {
                    run.current = Some((id, title));
                    self.batch = Some(run);
                    return vec![effect];
                }
                Err(why) => run.fail(title, why),
            }
        }
        self.end_batch(run);
        Vec::new()
    }

    fn effect_of(&mut self, job: &BatchJob, id: &str) -> Result<Effect, String> {
        let step = match job {
            BatchJob::Undo => return Ok(Effect::Undo { id: id.to_owned() }),
            BatchJob::Step(step) => step,
        };
        let entry = self.marked_entry(id).ok_or("it was answered meanwhile")?;
        self.check_fits(&entry, step.action())?;
        let effect = step.effect(&entry)?;
        if let Effect::Put { away, .. } = &effect {
            let is_free = !self.put(id, away.clone()).is_empty();
            return if is_free {
                Ok(effect)
            } else {
                Err("it is being put away".to_owned())
            };
        }
        Ok(effect)
    }

    /// The title of the item if the batch waits for its reply.
    fn take_current(&mut self, id: &str) -> Option<(BatchRun, String)> {
        let is_current = |run: &mut BatchRun| run.current.as_ref().is_some_and(|(current, _)| current == id);
        let mut run = self.batch.take_if(is_current)?;
        let (_, title) = run.current.take()?;
        Some((run, title))
    }

    /// The reply to a decision of the batch; `None` if the item is not at work. An item that another person decided is
    /// read before the batch goes on, so that the person learns who it was.
    pub(in crate::state) fn batch_answered(
        &mut self,
        id: &str,
        status: &Result<String, ClientError>,
    ) -> Option<Vec<Effect>> {
        let (mut run, title) = self.take_current(id)?;
        let read = Effect::Read {
            id: id.to_owned(),
            fresh: false,
        };
        match status {
            Ok(status) => {
                if status == ON_HOLD {
                    run.held.push(id.to_owned());
                } else {
                    self.list_mut(Tab::Waiting).remove(id, None);
                }
                self.list_mut(Tab::Waiting).unmark(id);
                run.done.push(id.to_owned());
            }
            Err(error) if error.has_code("already_terminal") => {
                (run.current, run.is_reading) = (Some((id.to_owned(), title)), true);
                self.batch = Some(run);
                return Some(vec![read]);
            }
            Err(error) => fail_with(&mut run, title, error),
        }
        self.batch = Some(run);
        let mut effects = vec![read];
        effects.extend(self.next_of_batch());
        Some(effects)
    }

    /// The item that another person decided first.
    pub(in crate::state) fn batch_read(&mut self, id: &str, entry: Option<&Arc<InboxEntry>>) -> Vec<Effect> {
        let is_reading = self.batch.as_ref().is_some_and(|run| run.is_reading);
        let Some((mut run, title)) = is_reading.then(|| self.take_current(id)).flatten() else {
            return Vec::new();
        };
        run.is_reading = false;
        let outcome = entry.and_then(|entry| entry.item.short_outcome_text());
        let why = outcome.map_or("already answered".to_owned(), |outcome| format!("already {outcome}"));
        run.fail(title, why);
        let now = self.now.elapsed;
        self.list_mut(Tab::Waiting).remove(id, Some(now));
        self.batch = Some(run);
        self.next_of_batch()
    }

    /// The reply to snoozing or archiving an item of the batch.
    pub(in crate::state) fn batch_put(&mut self, id: &str, done: &Result<(), ClientError>) -> Option<Vec<Effect>> {
        let (mut run, title) = self.take_current(id)?;
        self.busy.remove(id);
        match done {
            Ok(()) => {
                run.done.push(id.to_owned());
                self.total.mark_due();
                for tab in [Tab::Waiting, Tab::Notices] {
                    self.list_mut(tab).remove(id, None);
                }
            }
            Err(error) => {
                self.put_away.retain(|known| known != id);
                fail_with(&mut run, title, error);
            }
        }
        self.batch = Some(run);
        Some(self.next_of_batch())
    }

    /// The reply to taking back one decision of a batch.
    pub(in crate::state) fn batch_undone(&mut self, id: &str, done: &Result<(), ClientError>) -> Option<Vec<Effect>> {
        let (mut run, title) = self.take_current(id)?;
        match done {
            Ok(()) => run.done.push(id.to_owned()),
            Err(error) if error.has_code("already_terminal") => run.fail(title, "it was sent"),
            Err(error) => fail_with(&mut run, title, error),
        }
        self.batch = Some(run);
        let mut effects = vec![Effect::Read {
            id: id.to_owned(),
            fresh: false,
        }];
        effects.extend(self.next_of_batch());
        Some(effects)
    }
}

/// Without a hub the other items would fail in the same way, so they are not tried.
fn fail_with(run: &mut BatchRun, title: String, error: &ClientError) {
    match error {
        ClientError::Refused { message, .. } => run.fail(title, message),
        ClientError::Unreachable(_) | ClientError::UnexpectedResponse(_) => {
            run.fail(title, format!("{error}; it is not known whether it arrived"));
            for (_, title) in std::mem::take(&mut run.waiting) {
                run.fail(title, "not sent");
            }
        }
    }
}
