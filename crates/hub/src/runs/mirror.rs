//! A run that another hub moves, for those who follow it here. What it tells is read from the store, so what merely streams is
//! left out, as for a client that is slow.

use std::sync::Arc;
use std::time::Duration;

use countersign_protocol::id::MessageId;
use countersign_store::StoreError;
use countersign_store::ops::run::{
    LatestEvents, LookAtRun, Run as StoredRun, RunEvents, RunState as StoredState, TakeAsks,
};
use tokio::sync::Notify;
use tokio::time::timeout;

use super::frame::Frame;
use super::pending::{Pending, Wanted};
use super::plan;
use super::ring::Ring;
use super::run::{Run, RunState, Stage};
use super::task::pending_of;
use super::telling::News;
use crate::app::Hub;

/// The net under the words of the hub that moves the run.
const ROUND: Duration = Duration::from_secs(1);
const PAGE: i64 = 500;

impl Hub {
    /// Here from now on, for as long as somebody follows it.
    pub(super) async fn mirror(&self, stored: &StoredRun) -> Result<Arc<Run>, StoreError> {
        let (plan, segment) = plan::read(stored)?;
        let summary = &stored.summary;
        let latest = LatestEvents { run_id: summary.run_id.clone(), before: None, limit: 1 };
        let last_seq = self.store.run(latest).await?.last().map_or(0, |event| event.seq);
        let state = RunState {
            plan: Arc::new(plan),
            stage: Stage::Elsewhere,
            is_continuation: segment.number > 1,
            segment: segment.number,
            inputs: segment.inputs,
            started_at: summary.started_at,
            last_seq,
            records: 0,
            ring: Ring::above(last_seq, &self.runs.together),
            pending: Vec::new(),
            followers: Vec::new(),
        };
        let (run, bell) = self.runs.put_mirror(Run::new(summary.run_id.clone(), state));
        // What it waits for is to be known before anybody follows it.
        self.refresh(&run).await?;
        self.follow_elsewhere(&run, bell);
        Ok(run)
    }

    /// A run of this hub that another one has taken over.
    pub(super) fn moved_elsewhere(&self, run: &Arc<Run>) {
        run.lock().stage = Stage::Elsewhere;
        let (run, bell) = self.runs.put_mirror(Arc::clone(run));
        self.follow_elsewhere(&run, bell);
    }

    /// Another hub has stored something of a run.
    pub(crate) fn advanced_elsewhere(&self, run_id: &str) {
        if self.runs.ring_mirror(run_id) {
            return;
        }
        // One that was over goes on there, and somebody here wants to hear of it.
        let known = self.runs.get(run_id).filter(|run| {
            let state = run.lock();
            matches!(state.stage, Stage::Over { .. }) && !state.followers.is_empty()
        });
        if let Some(run) = known {
            self.moved_elsewhere(&run);
        }
    }

    fn follow_elsewhere(&self, run: &Arc<Run>, bell: Option<Arc<Notify>>) {
        if let (Some(hub), Some(bell)) = (self.me.upgrade(), bell) {
            tokio::spawn(follow(hub, Arc::clone(run), bell));
        }
    }

    /// Tells what was stored since the last time. Says whether the run is still another hub's.
    pub(super) async fn refresh(&self, run: &Arc<Run>) -> Result<bool, StoreError> {
        let Some(stored) = self.store.run(LookAtRun { run_id: run.id.clone() }).await? else { return Ok(false) };
        let open = self.pending_in_store(&run.id).await?;
        loop {
            let after = run.lock().last_seq;
            let events = self.store.run(RunEvents { run_id: run.id.clone(), after, limit: PAGE }).await?;
            let is_last = i64::try_from(events.len()).is_ok_and(|count| count < PAGE);
            let frames = events.into_iter().map(Frame::from).collect();
            if !is_last {
                run.tell_elsewhere(News { frames, ..News::default() }, None);
                continue;
            }
            return Ok(match stored.summary.state {
                StoredState::Running => run.tell_elsewhere(News { frames, ..News::default() }, Some((&stored, open))),
                StoredState::Ended { ending, at } => {
                    let news = News { frames, ..News::default() };
                    self.runs.end(run, |run| run.is_elsewhere() && run.end(ending, at, news));
                    false
                }
            });
        }
    }

    /// What a run waits for, wherever it is.
    pub(crate) async fn pending_in_store(&self, run_id: &str) -> Result<Vec<Pending>, StoreError> {
        let mut open = Vec::new();
        for ask in self.store.run(TakeAsks { run_id: run_id.to_owned() }).await? {
            open.extend(pending_of(self, ask.message_id).await?);
        }
        Ok(open)
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
        Ok(self.pending_in_store(run_id).await?.into_iter().find(|pending| pending.is(wanted)))
    }
}

async fn follow(hub: Arc<Hub>, run: Arc<Run>, bell: Arc<Notify>) {
    loop {
        match hub.refresh(&run).await {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => tracing::warn!(run_id = run.id, %error, "a run of another hub could not be read"),
        }
        if hub.runs.forget_mirror(&run) {
            return;
        }
        // Whether it rang or not, it is looked at.
        let _ = timeout(ROUND, bell.notified()).await;
    }
    hub.runs.end_mirror(&run);
}

impl Run {
    pub fn is_elsewhere(&self) -> bool {
        matches!(self.lock().stage, Stage::Elsewhere)
    }

    /// With all that it waits for, if that is known. Says whether it is still another hub's.
    fn tell_elsewhere(&self, news: News, known: Option<(&StoredRun, Vec<Pending>)>) -> bool {
        let mut state = self.lock();
        if !matches!(state.stage, Stage::Elsewhere) {
            return false;
        }
        let mut resolved: Vec<MessageId> = Vec::new();
        let mut asked = Vec::new();
        if let Some((stored, open)) = known {
            state.update_from(stored);
            let is_open = |id: &MessageId| open.iter().any(|pending| pending.message_id == *id);
            let known: Vec<_> = state.pending.iter().map(|pending| pending.message_id.clone()).collect();
            resolved.extend(known.iter().filter(|id| !is_open(id)).cloned());
            asked.extend(open.into_iter().filter(|pending| !known.contains(&pending.message_id)));
        }
        state.tell(News { pending: asked, ..news });
        let now = state.started_at;
        drop(state);
        resolved.iter().for_each(|id| self.resolved(id, now));
        true
    }
}

impl RunState {
    /// Another segment may have begun.
    fn update_from(&mut self, stored: &StoredRun) {
        if self.segment == stored.summary.segment {
            return;
        }
        if let Ok((plan, segment)) = plan::read(stored) {
            (self.plan, self.segment, self.inputs) = (Arc::new(plan), segment.number, segment.inputs);
            (self.is_continuation, self.started_at) = (segment.number > 1, stored.summary.started_at);
        }
    }
}
