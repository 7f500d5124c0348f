//! One run as everybody sees it: its stage, what it told last, what it waits for, who follows it. Its own task moves it; here
//! nothing waits.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_core::runs::Policy;
use countersign_protocol::runs::{LiveRun, RunInput, RunStatus};
use countersign_protocol::time::Timestamp;
use countersign_store::ops::run::{RunEnding, StoredEvent};
use tokio::sync::mpsc;

use super::client::RunClient;
use super::mail::RunCommand;
use super::pending::{AskSelector, PendingAsk};
use super::plan::RunPlan;
use super::ring::{ByteBudget, ReplayBuffer};
use super::standing::Steering;

pub struct TrackedRun {
    pub id: String,
    /// Held by whoever reads it from the store, where another hub moves it.
    pub reading: tokio::sync::Mutex<()>,
    state: Mutex<TrackedRunState>,
}

pub struct TrackedRunState {
    pub plan: Arc<RunPlan>,
    pub stage: RunStage,
    /// Of the latest prepare.
    pub is_continuation: bool,
    /// The latest that was begun; 0 for a run that never was, of which the store knows nothing.
    pub segment: u64,
    pub inputs: Vec<RunInput>,
    /// While it is prepared: since then.
    pub started_at: Timestamp,
    /// The number of what was told last.
    pub last_seq: u64,
    /// How many calls of agents have ended, as far as it was told.
    pub records: u64,
    pub replay: ReplayBuffer,
    /// Oldest first.
    pub pending: Vec<PendingAsk>,
    pub followers: Vec<RunFollower>,
}

pub struct RunFollower {
    pub client: Arc<RunClient>,
    /// It knows messages that are not part of the wire.
    pub extensions: bool,
}

pub enum RunStage {
    Prepared(Prepared),
    /// It is being stored.
    Starting(mpsc::Sender<RunCommand>),
    Running(mpsc::Sender<RunCommand>),
    /// Another hub moves it; what it tells is read from the store.
    Remote,
    /// It is not here any more: whoever wants it has to look for it again.
    Forgotten,
    Over {
        ending: RunEnding,
        at: Timestamp,
    },
}

/// What was said to a run before it began.
#[derive(Default)]
pub struct Prepared {
    pub steering: Steering,
    pub policy: Policy,
    /// Told already, and stored when it begins.
    pub early_events: Vec<StoredEvent>,
    /// How the segment before ended.
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

    /// From another hub: those who follow it stay, and hear it go on.
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

    /// Never held over anything that waits.
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

    /// The oldest ask that fits, while the run waits for it.
    pub fn pending(&self, selector: AskSelector<'_>) -> Option<PendingAsk> {
        self.lock()
            .pending
            .iter()
            .find(|pending| pending.matches(selector))
            .cloned()
    }

    /// Where its task hears, if it has one.
    pub fn command_sender(&self) -> Option<mpsc::Sender<RunCommand>> {
        match &self.lock().stage {
            RunStage::Starting(command_sender) | RunStage::Running(command_sender) => Some(command_sender.clone()),
            RunStage::Prepared(_) | RunStage::Remote | RunStage::Forgotten | RunStage::Over { .. } => None,
        }
    }

    /// Undoes a preparation that nobody follows any more: who made it has gone, and will hardly start it. Says whether it did.
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
