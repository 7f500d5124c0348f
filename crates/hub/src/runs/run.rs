//! One run as everybody sees it: its stage, what it told last, what it waits for, who follows it. Its own task moves it; here
//! nothing waits.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_core::runs::Policy;
use countersign_protocol::runs::{Input, LiveRun, RunStatus};
use countersign_protocol::time::Timestamp;
use countersign_store::ops::run::{Ending, StoredEvent};
use tokio::sync::mpsc;

use super::client::Client;
use super::mail::Mail;
use super::pending::{Pending, Wanted};
use super::plan::Plan;
use super::ring::{Ring, Together};
use super::standing::Steering;

pub struct Run {
    pub id: String,
    /// Held by whoever reads it from the store, where another hub moves it.
    pub reading: tokio::sync::Mutex<()>,
    state: Mutex<RunState>,
}

pub struct RunState {
    pub plan: Arc<Plan>,
    pub stage: Stage,
    /// Of the latest prepare.
    pub is_continuation: bool,
    /// The latest that was begun; 0 for a run that never was, of which the store knows nothing.
    pub segment: u64,
    pub inputs: Vec<Input>,
    /// While it is prepared: since then.
    pub started_at: Timestamp,
    /// The number of what was told last.
    pub last_seq: u64,
    /// How many calls of agents have ended, as far as it was told.
    pub records: u64,
    pub ring: Ring,
    /// Oldest first.
    pub pending: Vec<Pending>,
    pub followers: Vec<Follower>,
}

pub struct Follower {
    pub client: Arc<Client>,
    /// It knows messages that are not part of the wire.
    pub extensions: bool,
}

pub enum Stage {
    Prepared(Prepared),
    /// It is being stored.
    Starting(mpsc::Sender<Mail>),
    Running(mpsc::Sender<Mail>),
    /// Another hub moves it; what it tells is read from the store.
    Elsewhere,
    /// It is not here any more: whoever wants it has to look for it again.
    Forgotten,
    Over {
        ending: Ending,
        at: Timestamp,
    },
}

/// What was said to a run before it began.
#[derive(Default)]
pub struct Prepared {
    pub steering: Steering,
    pub policy: Policy,
    /// Told already, and stored when it begins.
    pub told: Vec<StoredEvent>,
    /// How the segment before ended.
    pub before: Option<(Ending, Timestamp)>,
}

impl Run {
    pub fn new(id: String, state: RunState) -> Arc<Self> {
        Arc::new(Self {
            id,
            reading: tokio::sync::Mutex::default(),
            state: Mutex::new(state),
        })
    }

    /// From another hub: those who follow it stay, and hear it go on.
    pub fn taken_over(self: Arc<Self>, state: RunState) -> Arc<Self> {
        let mut known = self.lock();
        let ring = std::mem::replace(&mut known.ring, Ring::above(0, &Together::default()));
        let followers = std::mem::take(&mut known.followers);
        *known = RunState {
            ring,
            followers,
            ..state
        };
        drop(known);
        self
    }

    /// Never held over anything that waits.
    pub fn lock(&self) -> MutexGuard<'_, RunState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn status(&self) -> RunStatus {
        self.lock().status()
    }

    pub fn listed(&self) -> LiveRun {
        let state = self.lock();
        let completed_at = match &state.stage {
            Stage::Over { at, .. } => Some(*at),
            Stage::Prepared(_) | Stage::Starting(_) | Stage::Running(_) | Stage::Elsewhere | Stage::Forgotten => None,
        };
        LiveRun {
            run_id: self.id.clone(),
            strategy_name: state.plan.strategy.name.clone(),
            status: state.status(),
            started_at: state.started_at,
            completed_at,
            pending_inputs: state.pending.iter().filter_map(Pending::input).collect(),
        }
    }

    /// The oldest ask that fits, while the run waits for it.
    pub fn pending(&self, wanted: Wanted<'_>) -> Option<Pending> {
        self.lock().pending.iter().find(|pending| pending.is(wanted)).cloned()
    }

    /// Where its task hears, if it has one.
    pub fn mailbox(&self) -> Option<mpsc::Sender<Mail>> {
        match &self.lock().stage {
            Stage::Starting(mailbox) | Stage::Running(mailbox) => Some(mailbox.clone()),
            Stage::Prepared(_) | Stage::Elsewhere | Stage::Forgotten | Stage::Over { .. } => None,
        }
    }

    /// Undoes a preparation that nobody follows any more: who made it has gone, and will hardly start it. Says whether it did.
    pub fn take_back(&self) -> bool {
        let mut state = self.lock();
        let Stage::Prepared(prepared) = &state.stage else {
            return false;
        };
        let (ending, at) = prepared.before.unwrap_or((Ending::Cancelled, state.started_at));
        let is_abandoned = state.followers.is_empty();
        if is_abandoned {
            state.stage = Stage::Over { ending, at };
        }
        is_abandoned
    }

    pub fn unfollow(&self, client: &Client) {
        self.lock()
            .followers
            .retain(|follower| follower.client.number != client.number);
    }
}

impl RunState {
    pub fn status(&self) -> RunStatus {
        match &self.stage {
            Stage::Prepared(_) | Stage::Starting(_) => RunStatus::Pending,
            Stage::Running(_) | Stage::Elsewhere | Stage::Forgotten => RunStatus::Running,
            Stage::Over { ending, .. } => ending.status(),
        }
    }

    pub fn is_stored(&self) -> bool {
        self.segment > 0
    }
}
