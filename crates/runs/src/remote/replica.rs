//! A replica of a run that another node owns, for its followers here. It reads stored events, so streamed text is left
//! out, as it is for a slow client.

use std::sync::Arc;

use countersign_protocol::id::MessageId;
use countersign_store::StoreError;
use countersign_store::ops::run::{
    FollowRun, Followed, NewSegment, OpenAsk, OpenAsks, Run as StoredRun, StoredRunState as StoredState,
};
use tokio::sync::Notify;

use crate::engine::plan;
use crate::follow::broadcast::EventFrame;
use crate::follow::broadcast::RunUpdate;
use crate::follow::broadcast::{ByteBudget, ReplayBuffer};
use crate::follow::pending::{AskSelector, PendingAsk};
use crate::run::{RunStage, TrackedRun, TrackedRunState};
use crate::service::RunService;

const PAGE_SIZE: i64 = 500;

impl RunService {
    /// Turns a run of this node, which another node has taken over or continued, into a replica.
    pub(crate) fn become_replica(self: &Arc<Self>, run: &Arc<TrackedRun>) {
        run.lock().stage = RunStage::Remote;
        if let Some(wakeup) = self.registry.register_replica(run) {
            self.spawn_replica_task(run, wakeup);
        }
    }

    pub(crate) fn spawn_replica_task(self: &Arc<Self>, run: &Arc<TrackedRun>, wakeup: Arc<Notify>) {
        tokio::spawn(follow(Arc::clone(self), Arc::clone(run), wakeup));
    }

    /// Broadcasts the events stored since the last read. Returns true while another node owns the run.
    pub(crate) async fn refresh(self: &Arc<Self>, run: &Arc<TrackedRun>) -> Result<bool, StoreError> {
        // Serializes readers, so that events are broadcast in the order they were read.
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
                limit: PAGE_SIZE,
                known_segment: Some(segment),
            };
            let found = if run.is_remote() {
                self.store.run(follow).await?
            } else {
                return Ok(false);
            };
            let Some(found) = found else {
                self.registry.drop_deleted_replica(run);
                return Ok(false);
            };
            if run.rewind(&found, &self.registry.byte_budget) {
                continue;
            }
            let version = found.version.clone();
            let is_all = is_all(&found);
            if is_all && version.state != StoredState::Running {
                self.registry.end(run, |run| run.apply_remote(found));
                return Ok(false);
            }
            if !run.apply_remote(found) {
                return Ok(false);
            }
            if is_all {
                self.registry.record_version(run, version);
                return Ok(true);
            }
        }
    }

    /// The pending asks of a run, no matter which node owns it.
    pub async fn pending_in_store(self: &Arc<Self>, run_id: &str) -> Result<Vec<PendingAsk>, StoreError> {
        Ok(still_open(
            self.store
                .run(OpenAsks {
                    run_id: run_id.to_owned(),
                })
                .await?,
        ))
    }

    /// The oldest matching ask in the store, for a run of another node or a replica that may lag behind.
    pub(crate) async fn pending_in_shared_store(
        self: &Arc<Self>,
        run_id: &str,
        selector: AskSelector<'_>,
    ) -> Result<Option<PendingAsk>, StoreError> {
        if !self.store.is_shared() {
            return Ok(None);
        }
        Ok(self
            .pending_in_store(run_id)
            .await?
            .into_iter()
            .find(|pending| pending.matches(selector)))
    }
}

/// Refreshes the replica on every wake-up: a signal of the owning node, or a changed row version.
async fn follow(service: Arc<RunService>, run: Arc<TrackedRun>, wakeup: Arc<Notify>) {
    loop {
        match service.refresh(&run).await {
            Ok(true) => {}
            Ok(false) => return service.registry.remove_replica(&run.id, &wakeup),
            Err(error) => {
                tracing::warn!(run_id = run.id, %error, "reading a run of another node failed; retrying on its next change")
            }
        }
        wakeup.notified().await;
        if !service.registry.keep_replica(&run, &wakeup) {
            return;
        }
    }
}

fn is_all(found: &Followed) -> bool {
    i64::try_from(found.events.len()).is_ok_and(|count| count < PAGE_SIZE)
}

fn still_open(asks: Vec<OpenAsk>) -> Vec<PendingAsk> {
    asks.into_iter()
        .filter_map(|ask| PendingAsk::from_frame(ask.message_id, &ask.wire))
        .collect()
}

impl TrackedRun {
    pub fn is_remote(&self) -> bool {
        matches!(self.lock().stage, RunStage::Remote)
    }

    /// Events sent here while the run was only prepared were never stored, and the owning node reused their seqs.
    /// Returns true if the segment has to be read again from its start.
    fn rewind(&self, found: &Followed, byte_budget: &ByteBudget) -> bool {
        let Some(first) = found
            .new_segment
            .as_ref()
            .and_then(|new_segment| new_segment.first_event)
        else {
            return false;
        };
        let mut state = self.lock();
        let is_hidden = matches!(state.stage, RunStage::Remote) && first <= state.last_seq;
        if is_hidden {
            state.last_seq = first - 1;
            state.replay = ReplayBuffer::above(state.last_seq, byte_budget);
        }
        is_hidden
    }

    /// Applies everything that was read in one step, including the end of the run after its last page. Returns false if
    /// the run is no longer a replica.
    fn apply_remote(&self, found: Followed) -> bool {
        let mut state = self.lock();
        if !matches!(state.stage, RunStage::Remote) {
            return false;
        }
        let is_all = is_all(&found);
        let Followed {
            version,
            new_segment,
            open,
            events,
            ..
        } = found;
        if let Some(NewSegment { run, .. }) = &new_segment {
            state.enter(run);
        }
        let last_seq = state.last_seq;
        let frames: Vec<_> = events
            .into_iter()
            .map(EventFrame::from)
            .filter(|frame| frame.seq > last_seq)
            .collect();
        let up_to = if is_all {
            u64::MAX
        } else {
            frames.last().map_or(last_seq, |frame| frame.seq)
        };
        let (asked, resolved) = state.diff_asks(still_open(open), up_to);
        if let (true, StoredState::Ended { ending, at }) = (is_all, version.state) {
            state.stage = RunStage::Over { ending, at };
            state.pending.clear();
        }
        state.broadcast(RunUpdate {
            frames,
            pending: asked,
            ..RunUpdate::default()
        });
        let now = state.started_at;
        drop(state);
        resolved.iter().for_each(|id| self.resolved(id, now));
        true
    }
}

impl TrackedRunState {
    /// The state of a stored run: ended, or owned by another node.
    pub fn stored(
        stored: &StoredRun,
        last_event: u64,
        open: Vec<OpenAsk>,
        byte_budget: &ByteBudget,
    ) -> Result<Self, StoreError> {
        let (plan, segment) = plan::read(stored)?;
        let stage = match stored.summary.state {
            StoredState::Running => RunStage::Remote,
            StoredState::Ended { ending, at } => RunStage::Over { ending, at },
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
            replay: ReplayBuffer::above(last_event, byte_budget),
            pending: still_open(open),
            followers: Vec::new(),
        })
    }

    /// Switches to a new segment.
    fn enter(&mut self, stored: &StoredRun) {
        self.segment = stored.summary.segment;
        (self.is_continuation, self.started_at) = (self.segment > 1, stored.summary.started_at);
        if let Ok((plan, segment)) = plan::read(stored) {
            (self.plan, self.inputs) = (Arc::new(plan), segment.inputs);
        }
    }

    /// Returns the new asks up to this seq, and the known asks that are no longer open.
    fn diff_asks(&self, open: Vec<PendingAsk>, up_to: u64) -> (Vec<PendingAsk>, Vec<MessageId>) {
        let known: Vec<&MessageId> = self.pending.iter().map(|pending| &pending.message_id).collect();
        let is_open = |id: &MessageId| open.iter().any(|pending| pending.message_id == *id);
        let resolved = known.iter().filter(|id| !is_open(id)).map(|&id| id.clone()).collect();
        let is_new = |pending: &PendingAsk| !known.contains(&&pending.message_id) && pending.frame.seq <= up_to;
        (open.into_iter().filter(is_new).collect(), resolved)
    }
}
