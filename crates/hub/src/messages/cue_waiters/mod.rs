//! Which open cues a process still waits for: how many long-polls are held for each, and when the last one ended. And
//! which other messages an agent waits for. This is in memory only; nodes on one store publish it to each other. After
//! a start nothing is known, so every process gets a grace period to reconnect before its cue counts as gone.

mod agents;
mod presence;
mod remote;
mod waiter;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use countersign_protocol::hap::CueKind;
use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;
use countersign_store::Store;
use countersign_store::ops::terminal::ListTerminals;
use countersign_store::waiters::{POLL_GAP_GRACE, Waiters};
use tokio::sync::Notify;
use waiter::{CueWaiter, RemoteWaiters};

use crate::cluster::{Cluster, LiveChange, Signal};
use crate::live::LiveBroadcaster;

pub use presence::{CuePresence, CueState, cue_kind};

/// After a start, cues without a process count as gone only when this has passed.
const STARTUP_GRACE: Duration = Duration::from_secs(10);
/// How often processes between two long-polls are checked; there is no timer while there are none.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Agents announced as gone at the end of the startup grace.
const MAX_ANNOUNCED_AGENTS: i64 = 1000;

pub struct CueWaiters {
    /// Provides the clock.
    store: Arc<Store>,
    live: Arc<LiveBroadcaster>,
    started_at: Timestamp,
    cluster: Arc<Cluster>,
    /// Waiters of open cues at this node.
    cues: Mutex<HashMap<MessageId, CueWaiter>>,
    /// Waiters at other nodes.
    remote: Mutex<RemoteWaiters>,
    /// Resolved cues whose outcome was handed to a waiting process, with the time. That process is printing it.
    handed_over: Mutex<HashMap<MessageId, Timestamp>>,
    wakeup: Notify,
}

impl CueWaiters {
    pub fn new(
        store: Arc<Store>,
        live: Arc<LiveBroadcaster>,
        cluster: Arc<Cluster>,
        started_at: Timestamp,
    ) -> Arc<Self> {
        let cues = Mutex::default();
        let remote = Mutex::default();
        let handed_over = Mutex::default();
        Arc::new(Self {
            store,
            live,
            cluster,
            started_at,
            cues,
            remote,
            handed_over,
            wakeup: Notify::new(),
        })
    }

    /// Announces a process that will start its long-poll in a moment. Call before checking that there is something to
    /// wait for, and `withdraw` if there is not.
    pub fn expect(&self, id: &MessageId, kind: CueKind) {
        let now = self.store.clock().now();
        let mut cues = self.lock();
        let waiter = Self::waiter(&mut cues, id, Some(kind), now);
        waiter.left_at = now;
        waiter.is_gone = false;
        let waiter = *waiter;
        drop(cues);
        self.publish_waiting(id, waiter);
        self.wakeup.notify_one();
    }

    /// Counts a waiting connection until the guard is dropped. Call before the last read of the cue.
    pub fn start_wait(self: &Arc<Self>, id: &MessageId, kind: CueKind) -> WaitGuard {
        self.add_wait(id, Some(kind), self.is_gone(id));
        WaitGuard {
            cue_waiters: Arc::clone(self),
            id: id.clone(),
            ending: WaitEnd::Broken,
        }
    }

    fn add_wait(&self, id: &MessageId, kind: Option<CueKind>, is_first_notice: bool) {
        let now = self.store.clock().now();
        let mut cues = self.lock();
        let waiter = Self::waiter(&mut cues, id, kind, now);
        waiter.held += 1;
        let waiter = *waiter;
        drop(cues);
        if waiter.held == 1 {
            self.publish_waiting(id, waiter);
        }
        if is_first_notice {
            self.live.publish(LiveChange::Tracked(id.clone()));
        }
    }

    fn waiter<'c>(
        cues: &'c mut HashMap<MessageId, CueWaiter>,
        id: &MessageId,
        kind: Option<CueKind>,
        now: Timestamp,
    ) -> &'c mut CueWaiter {
        let fresh = CueWaiter {
            kind,
            held: 0,
            waiting_since: now,
            left_at: now,
            is_gone: false,
        };
        let waiter = cues.entry(id.clone()).or_insert(fresh);
        if !waiter.is_present(now) {
            waiter.waiting_since = now;
        }
        waiter
    }

    /// Adds an imported open cue. Its process, if any, waits at another program.
    pub fn add_gone(&self, id: &MessageId, kind: CueKind, since: Timestamp) {
        let waiter = CueWaiter {
            kind: Some(kind),
            held: 0,
            waiting_since: since,
            left_at: since,
            is_gone: true,
        };
        self.lock().entry(id.clone()).or_insert(waiter);
    }

    /// Removes a cue that no longer exists.
    pub fn forget(&self, id: &MessageId) {
        self.lock().remove(id);
        self.lock_remote().forget(id);
    }

    /// Reverts `expect` for a cue that was not created or is resolved already, here and at other nodes.
    pub fn withdraw(&self, id: &MessageId) {
        self.forget(id);
        self.cluster.publish(|| Signal::NoCue(id.clone()));
    }

    /// Call when the cue is resolved. A process that waits for it gets the outcome.
    pub fn cue_ended(&self, id: &MessageId) {
        let now = self.store.clock().now();
        let is_present = self.latest(id, now).is_some_and(|waiter| waiter.is_present(now));
        if is_present {
            self.mark_handed_over(id)
        } else {
            self.forget(id)
        }
    }

    /// Marks the outcome as handed to a process that is about to print it.
    pub fn mark_handed_over(&self, id: &MessageId) {
        let now = self.store.clock().now();
        let mut handed_over = self.lock_handed_over();
        handed_over.retain(|_, at| now < at.plus(POLL_GAP_GRACE));
        handed_over.insert(id.clone(), now);
        drop(handed_over);
        // Second, so that the cue is at every moment in one of the two maps.
        self.forget(id);
    }

    /// Whether a process waits for the outcome or is printing it, so that no other process needs to.
    pub fn is_handed_over(&self, id: &MessageId) -> bool {
        let now = self.store.clock().now();
        let is_present = self.latest(id, now).is_some_and(|waiter| waiter.is_present(now));
        is_present
            || self
                .lock_handed_over()
                .get(id)
                .is_some_and(|at| now < at.plus(POLL_GAP_GRACE))
    }

    pub fn is_gone(&self, id: &MessageId) -> bool {
        let now = self.store.clock().now();
        !self.is_present(id, now)
    }

    fn is_present(&self, id: &MessageId, now: Timestamp) -> bool {
        self.latest(id, now).map_or_else(
            || now < self.started_at.plus(STARTUP_GRACE),
            |waiter| waiter.is_present(now),
        )
    }

    /// The best known waiter of a cue, at this node or another: a present one first, then the latest.
    fn latest(&self, id: &MessageId, now: Timestamp) -> Option<CueWaiter> {
        let here = self.lock().get(id).copied();
        let remote = self.lock_remote().latest(id, now);
        here.into_iter()
            .chain(remote)
            .max_by_key(|waiter| (waiter.is_present(now), waiter.left_at))
    }

    fn leave(&self, id: &MessageId, ending: WaitEnd) {
        let now = self.store.clock().now();
        let mut cues = self.lock();
        // A resolved cue has no entry any more.
        let Some(waiter) = cues.get_mut(id) else { return };
        waiter.held = waiter.held.saturating_sub(1);
        if waiter.held > 0 {
            return;
        }
        waiter.left_at = now;
        waiter.is_gone = ending == WaitEnd::Broken;
        drop(cues);
        self.cluster.publish(|| Signal::CueWaitersLeft {
            id: id.clone(),
            at: now,
            broken: ending == WaitEnd::Broken,
        });
        match ending {
            WaitEnd::Broken => self.live.publish(LiveChange::Tracked(id.clone())),
            WaitEnd::Finished => self.wakeup.notify_one(),
        }
    }

    /// Announces the processes that did not reconnect in time. Returns whether others still may.
    fn announce_gone(&self) -> bool {
        let now = self.store.clock().now();
        let mut gone = Vec::new();
        let mut is_any_expected = false;
        for (id, waiter) in self
            .lock()
            .iter_mut()
            .filter(|(_, waiter)| waiter.held == 0 && !waiter.is_gone)
        {
            if waiter.is_present(now) {
                is_any_expected = true;
            } else {
                waiter.is_gone = true;
                gone.push(id.clone());
            }
        }
        gone.into_iter()
            .for_each(|id| self.live.publish(LiveChange::Tracked(id)));
        is_any_expected
    }

    async fn watch_departures(&self) {
        loop {
            self.wakeup.notified().await;
            loop {
                tokio::time::sleep(CHECK_INTERVAL).await;
                if !self.announce_gone() {
                    break;
                }
            }
        }
    }

    fn lock_handed_over(&self) -> MutexGuard<'_, HashMap<MessageId, Timestamp>> {
        self.handed_over.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<MessageId, CueWaiter>> {
        self.cues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum WaitEnd {
    /// The client disconnected before the reply.
    Broken,
    Finished,
}

/// One waiting connection. Dropped without `finish`, it marks the process as gone.
pub struct WaitGuard {
    cue_waiters: Arc<CueWaiters>,
    id: MessageId,
    ending: WaitEnd,
}

impl WaitGuard {
    /// Call when the long-poll has its reply.
    pub fn finish(mut self) {
        self.ending = WaitEnd::Finished;
    }
}

impl Drop for WaitGuard {
    fn drop(&mut self) {
        self.cue_waiters.leave(&self.id, self.ending);
    }
}

impl CueWaiters {
    /// Announces, after the startup grace, the cues whose processes have not reconnected.
    async fn announce_missing_after_start(&self) {
        let grace_ends_at = self.started_at.plus(STARTUP_GRACE);
        tokio::time::sleep(grace_ends_at.since(self.store.clock().now())).await;
        match self
            .store
            .run(ListTerminals {
                limit: MAX_ANNOUNCED_AGENTS,
            })
            .await
        {
            Ok(terminals) => {
                let open = terminals.into_iter().filter(|terminal| terminal.open > 0);
                let gone = open
                    .filter_map(|terminal| terminal.last_cue_id)
                    .filter(|id| self.is_gone(id));
                gone.for_each(|id| self.live.publish(LiveChange::Tracked(id)));
            }
            Err(error) => tracing::warn!(%error, "reading terminals after the startup grace failed"),
        }
    }
}

/// Runs until dropped.
pub async fn run(cue_waiters: &CueWaiters, waiters: &Waiters) {
    tokio::join!(
        cue_waiters.announce_missing_after_start(),
        cue_waiters.watch_departures(),
        cue_waiters.watch_agents(waiters)
    );
}
