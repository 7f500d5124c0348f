//! A run that another hub moves, for those who follow it here. What it tells is read from the store, so what merely streams is
//! left out, as for a client that is slow.

use std::sync::Arc;

use countersign_protocol::id::MessageId;
use countersign_store::StoreError;
use countersign_store::ops::run::{
    Entered, FollowRun, Followed, OpenAsk, OpenAsks, Run as StoredRun, RunState as StoredState,
};
use tokio::sync::Notify;

use super::frame::Frame;
use super::pending::{Pending, Wanted};
use super::plan;
use super::ring::{Ring, Together};
use super::run::{Run, RunState, Stage};
use super::telling::News;
use crate::app::Hub;

const PAGE: i64 = 500;

impl Hub {
    /// A run of this hub that another one has taken over, or goes on with.
    pub(super) fn moved_elsewhere(&self, run: &Arc<Run>) {
        run.lock().stage = Stage::Elsewhere;
        if let Some(bell) = self.runs.become_mirror(run) {
            self.follow_elsewhere(run, bell);
        }
    }

    pub(super) fn follow_elsewhere(&self, run: &Arc<Run>, bell: Arc<Notify>) {
        if let Some(hub) = self.me.upgrade() {
            tokio::spawn(follow(hub, Arc::clone(run), bell));
        }
    }

    /// Tells what was stored since the last time. Says whether the run is still another hub's.
    pub(super) async fn refresh(&self, run: &Arc<Run>) -> Result<bool, StoreError> {
        // One after the other: what was read first is told first.
        let _turn = run.reading.lock().await;
        loop {
            let (after, segment) = {
                let state = run.lock();
                (state.last_seq, state.segment)
            };
            let run_id = run.id.clone();
            let follow = FollowRun {
                run_id,
                after: Some(after),
                limit: PAGE,
                known_segment: Some(segment),
            };
            let found = if run.is_elsewhere() {
                self.store.run(follow).await?
            } else {
                return Ok(false);
            };
            let Some(found) = found else {
                self.runs.lose_mirror(run);
                return Ok(false);
            };
            if run.go_back(&found, &self.runs.together) {
                continue;
            }
            let glance = found.glance.clone();
            let is_all = is_all(&found);
            if is_all && glance.state != StoredState::Running {
                self.runs.end(run, |run| run.tell_elsewhere(found));
                return Ok(false);
            }
            if !run.tell_elsewhere(found) {
                return Ok(false);
            }
            if is_all {
                self.runs.saw(run, glance);
                return Ok(true);
            }
        }
    }

    /// What a run waits for, wherever it is.
    pub(crate) async fn pending_in_store(&self, run_id: &str) -> Result<Vec<Pending>, StoreError> {
        Ok(still_open(
            self.store
                .run(OpenAsks {
                    run_id: run_id.to_owned(),
                })
                .await?,
        ))
    }

    /// The oldest that fits, of a run that is not here, or whose latest word has not come yet.
    pub(super) async fn pending_elsewhere(
        &self,
        run_id: &str,
        wanted: Wanted<'_>,
    ) -> Result<Option<Pending>, StoreError> {
        if !self.store.is_shared() {
            return Ok(None);
        }
        Ok(self
            .pending_in_store(run_id)
            .await?
            .into_iter()
            .find(|pending| pending.is(wanted)))
    }
}

/// Looks whenever the bell rings: at a word of the hub that moves the run, or because the run stands otherwise than it did.
async fn follow(hub: Arc<Hub>, run: Arc<Run>, bell: Arc<Notify>) {
    loop {
        match hub.refresh(&run).await {
            Ok(true) => {}
            Ok(false) => return hub.runs.end_mirror(&run.id, &bell),
            Err(error) => tracing::warn!(run_id = run.id, %error, "a run of another hub could not be read"),
        }
        bell.notified().await;
        if !hub.runs.keeps_mirror(&run, &bell) {
            return;
        }
    }
}

fn is_all(found: &Followed) -> bool {
    i64::try_from(found.events.len()).is_ok_and(|count| count < PAGE)
}

fn still_open(asks: Vec<OpenAsk>) -> Vec<Pending> {
    asks.into_iter()
        .filter_map(|ask| Pending::told(ask.message_id, &ask.wire))
        .collect()
}

impl Run {
    pub fn is_elsewhere(&self) -> bool {
        matches!(self.lock().stage, Stage::Elsewhere)
    }

    /// What was told here while it was only prepared was never stored, and another hub gave those numbers again. Says whether
    /// the segment is to be heard from its start.
    fn go_back(&self, found: &Followed, together: &Together) -> bool {
        let Some(first) = found.entered.as_ref().and_then(|entered| entered.first_event) else {
            return false;
        };
        let mut state = self.lock();
        let is_hidden = matches!(state.stage, Stage::Elsewhere) && first <= state.last_seq;
        if is_hidden {
            state.last_seq = first - 1;
            state.ring = Ring::above(state.last_seq, together);
        }
        is_hidden
    }

    /// Everything that was found, at once; if it has ended and that is all, it is over. Says whether it was still another
    /// hub's.
    fn tell_elsewhere(&self, found: Followed) -> bool {
        let mut state = self.lock();
        if !matches!(state.stage, Stage::Elsewhere) {
            return false;
        }
        let is_all = is_all(&found);
        let Followed {
            glance,
            entered,
            open,
            events,
            ..
        } = found;
        if let Some(Entered { run, .. }) = &entered {
            state.enter(run);
        }
        let heard = state.last_seq;
        let frames: Vec<_> = events
            .into_iter()
            .map(Frame::from)
            .filter(|frame| frame.seq > heard)
            .collect();
        let up_to = if is_all {
            u64::MAX
        } else {
            frames.last().map_or(heard, |frame| frame.seq)
        };
        let (asked, resolved) = state.asked_and_resolved(still_open(open), up_to);
        if let (true, StoredState::Ended { ending, at }) = (is_all, glance.state) {
            state.stage = Stage::Over { ending, at };
            state.pending.clear();
        }
        state.tell(News {
            frames,
            pending: asked,
            ..News::default()
        });
        let now = state.started_at;
        drop(state);
        resolved.iter().for_each(|id| self.resolved(id, now));
        true
    }
}

impl RunState {
    /// As the store has it: over, or another hub's.
    pub fn stored(
        stored: &StoredRun,
        last_event: u64,
        open: Vec<OpenAsk>,
        together: &Together,
    ) -> Result<Self, StoreError> {
        let (plan, segment) = plan::read(stored)?;
        let stage = match stored.summary.state {
            StoredState::Running => Stage::Elsewhere,
            StoredState::Ended { ending, at } => Stage::Over { ending, at },
        };
        Ok(Self {
            plan: Arc::new(plan),
            stage,
            is_continuation: segment.number > 1,
            segment: segment.number,
            inputs: segment.inputs,
            started_at: stored.summary.started_at,
            last_seq: last_event,
            records: 0,
            ring: Ring::above(last_event, together),
            pending: still_open(open),
            followers: Vec::new(),
        })
    }

    /// Another segment has begun.
    fn enter(&mut self, stored: &StoredRun) {
        self.segment = stored.summary.segment;
        (self.is_continuation, self.started_at) = (self.segment > 1, stored.summary.started_at);
        if let Ok((plan, segment)) = plan::read(stored) {
            (self.plan, self.inputs) = (Arc::new(plan), segment.inputs);
        }
    }

    /// Which asks have come, as far as that is told, and which are open no longer.
    fn asked_and_resolved(&self, open: Vec<Pending>, up_to: u64) -> (Vec<Pending>, Vec<MessageId>) {
        let known: Vec<&MessageId> = self.pending.iter().map(|pending| &pending.message_id).collect();
        let is_open = |id: &MessageId| open.iter().any(|pending| pending.message_id == *id);
        let resolved = known.iter().filter(|id| !is_open(id)).map(|&id| id.clone()).collect();
        let is_new = |pending: &Pending| !known.contains(&&pending.message_id) && pending.frame.seq <= up_to;
        (open.into_iter().filter(is_new).collect(), resolved)
    }
}
