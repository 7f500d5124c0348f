//! One run in memory: its stage, replay buffer, pending asks and followers. Its own task drives it; nothing here
//! blocks.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_core::runs::Policy;
use countersign_protocol::runs::{LiveRun, RunInput, RunStatus};
use countersign_protocol::time::Timestamp;
use countersign_store::ops::run::{RunEnding, StoredEvent};
use tokio::sync::mpsc;

use super::engine::checkpoint::Steering;
use super::engine::commands::RunCommand;
use super::engine::plan::RunPlan;
use super::follow::broadcast::{ByteBudget, ReplayBuffer};
use super::follow::client::RunClient;
use super::follow::pending::PendingAsk;

pub struct TrackedRun {
    pub id: String,
    /// Held while a replica is refreshed from the store.
    pub reading: tokio::sync::Mutex<()>,
    state: Mutex<TrackedRunState>,
}

pub struct TrackedRunState {
    pub plan: Arc<RunPlan>,
    pub stage: RunStage,
    /// Set by the latest prepare.
    pub is_continuation: bool,
    /// The latest started segment; 0 for a run that never started and is not stored.
    pub segment: u64,
    pub inputs: Vec<RunInput>,
    /// Start of the segment; for a prepared run, the time of the prepare.
    pub started_at: Timestamp,
    /// Seq of the last event.
    pub last_seq: u64,
    /// Number of finished agent calls that were broadcast.
    pub records: u64,
    pub replay: ReplayBuffer,
    /// Oldest first.
    pub pending: Vec<PendingAsk>,
    pub followers: Vec<RunFollower>,
}

pub struct RunFollower {
    pub client: Arc<RunClient>,
    /// The client understands messages beyond the base protocol.
    pub extensions: bool,
}

pub enum RunStage {
    Prepared(Prepared),
    /// The start is being stored.
    Starting(mpsc::Sender<RunCommand>),
    Running(mpsc::Sender<RunCommand>),
    /// Another node owns the run; its events are read from the store.
    Remote,
    /// Dropped from memory; holders of this entry have to look the run up again.
    Forgotten,
    Over {
        ending: RunEnding,
        at: Timestamp,
    },
}

/// Commands that arrived before the run started.
#[derive(Default)]
pub struct Prepared {
    pub steering: Steering,
    pub policy: Policy,
    /// Events already broadcast, stored when the run starts.
    pub early_events: Vec<StoredEvent>,
    /// The end of the segment before.
    pub before: Option<(RunEnding, Timestamp)>,
}

impl TrackedRun {
    pub fn new(id: String, state: TrackedRunState) -> Arc<Self> {
        Arc::new(Self {
            id,
            reading: tokio::sync::Mutex::default(),
            state: Mutex::new(state),
        })
    }

    /// Replaces the state of a replica by an owned one, keeping its followers and replay buffer.
    pub fn take_over(self: Arc<Self>, state: TrackedRunState) -> Arc<Self> {
        let mut known = self.lock();
        let replay = std::mem::replace(&mut known.replay, ReplayBuffer::above(0, &ByteBudget::default()));
        let followers = std::mem::take(&mut known.followers);
        *known = TrackedRunState {
            replay,
            followers,
            ..state
        };
        drop(known);
        self
    }

    /// Never hold this lock across an await.
    pub fn lock(&self) -> MutexGuard<'_, TrackedRunState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn status(&self) -> RunStatus {
        self.lock().status()
    }

    pub fn listed(&self) -> LiveRun {
        let state = self.lock();
        let completed_at = match &state.stage {
            RunStage::Over { at, .. } => Some(*at),
            RunStage::Prepared(_)
            | RunStage::Starting(_)
            | RunStage::Running(_)
            | RunStage::Remote
            | RunStage::Forgotten => None,
        };
        LiveRun {
            run_id: self.id.clone(),
            strategy_name: state.plan.strategy.name.clone(),
            status: state.status(),
            started_at: state.started_at,
            completed_at,
            pending_inputs: state.pending.iter().filter_map(PendingAsk::input).collect(),
        }
    }

    /// The command queue of its task, if it has one.
    pub fn command_sender(&self) -> Option<mpsc::Sender<RunCommand>> {
        match &self.lock().stage {
            RunStage::Starting(command_sender) | RunStage::Running(command_sender) => Some(command_sender.clone()),
            RunStage::Prepared(_) | RunStage::Remote | RunStage::Forgotten | RunStage::Over { .. } => None,
        }
    }

    /// Undoes a preparation without followers: its client is gone and will hardly start it. Returns true if it was
    /// undone.
    pub fn undo_preparation(&self) -> bool {
        let mut state = self.lock();
        let RunStage::Prepared(prepared) = &state.stage else {
            return false;
        };
        let (ending, at) = prepared.before.unwrap_or((RunEnding::Cancelled, state.started_at));
        let is_abandoned = state.followers.is_empty();
        if is_abandoned {
            state.stage = RunStage::Over { ending, at };
        }
        is_abandoned
    }

    pub fn unfollow(&self, client: &RunClient) {
        self.lock()
            .followers
            .retain(|follower| follower.client.number != client.number);
    }
}

impl TrackedRunState {
    pub fn status(&self) -> RunStatus {
        match &self.stage {
            RunStage::Prepared(_) | RunStage::Starting(_) => RunStatus::Pending,
            RunStage::Running(_) | RunStage::Remote | RunStage::Forgotten => RunStatus::Running,
            RunStage::Over { ending, .. } => ending.status(),
        }
    }

    pub fn is_stored(&self) -> bool {
        self.segment > 0
    }
}
