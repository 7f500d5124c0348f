//! One task per host with obligations. A receiver that hangs holds up its own lane and nobody else's.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use countersign_core::delivery::Attempt;
use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;
use countersign_store::StoreError;
use countersign_store::model::Claim;
use countersign_store::ops::deliver::{ClaimDue, NextDue, ReleaseClaims};
use tokio::sync::{Notify, OwnedSemaphorePermit, watch};
use tokio::task::{JoinError, JoinSet};

use super::outbox::Outbox;
use super::width::ConcurrencyWindow;

/// Beyond the attempt itself: for the writing down of its end.
const SETTLE_RESERVE: Duration = Duration::from_secs(30);
const MIN_SLEEP: Duration = Duration::from_millis(1);
/// The wall clock may be set while we sleep by another one, so no nap is longer than this.
const MAX_SLEEP: Duration = Duration::from_secs(60);
const STORE_RETRY_DELAY: Duration = Duration::from_secs(1);
/// Attempts that have their answer but are not written down yet, for each one the host may have under way.
const UNSETTLED_PER_SLOT: usize = 4;

pub struct HostWorker {
    outbox: Arc<Outbox>,
    host: String,
    /// Keeps a ring that nobody waits for, so none is lost between a look and the wait after it.
    wakeup: Arc<Notify>,
    in_flight: JoinSet<Attempt>,
    /// How many of those under way have left the host and are being written down.
    settling: Arc<AtomicUsize>,
    /// What is under way.
    claimed: Arc<Mutex<HashSet<MessageId>>>,
    /// Something may have been claimed that this lane was not told of.
    may_have_lost_claims: bool,
    window: ConcurrencyWindow,
}

enum QueueState {
    /// No room for another attempt.
    Full,
    /// Nothing is pending for this host.
    Empty,
    /// Nothing to do before then.
    Until(Timestamp),
}

impl HostWorker {
    pub fn new(outbox: Arc<Outbox>, host: String, wakeup: Arc<Notify>) -> Self {
        let window = ConcurrencyWindow::up_to(outbox.settings().per_host_concurrency);
        Self {
            outbox,
            host,
            wakeup,
            in_flight: JoinSet::new(),
            settling: Arc::default(),
            claimed: Arc::default(),
            may_have_lost_claims: false,
            window,
        }
    }

    /// Runs until nothing is pending, or until told to stop; then what is under way may still finish.
    pub async fn run(mut self, mut stop: watch::Receiver<bool>) {
        loop {
            let continues = tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => false,
                continues = self.step() => continues,
            };
            if !continues {
                break;
            }
        }
        while self.in_flight.join_next().await.is_some() {}
    }

    /// One look and the wait after it. Says whether the lane stays open.
    async fn step(&mut self) -> bool {
        let state = match self.start_attempts().await {
            Ok(state) => state,
            Err(error) => {
                tracing::warn!(host = self.host, %error, "reading due deliveries failed; retrying");
                QueueState::Until(self.now().plus(STORE_RETRY_DELAY))
            }
        };
        if matches!(state, QueueState::Empty) && self.in_flight.is_empty() {
            return !self.outbox.close_worker(&self.host, &self.wakeup);
        }
        self.wait(state).await;
        true
    }

    fn free_slots(&self) -> usize {
        let at_host = self
            .in_flight
            .len()
            .saturating_sub(self.settling.load(Ordering::Acquire));
        let max_in_flight = UNSETTLED_PER_SLOT * self.outbox.settings().per_host_concurrency;
        self.window
            .free_slots(at_host)
            .min(max_in_flight.saturating_sub(self.in_flight.len()))
    }

    fn now(&self) -> Timestamp {
        self.outbox.store().clock().now()
    }

    /// Begins attempts while there is room and something is due. Places are taken before obligations are claimed: a
    /// claim that waits for a place would use up its lease.
    async fn start_attempts(&mut self) -> Result<QueueState, StoreError> {
        self.release_lost_claims().await?;
        loop {
            let free_slots = self.free_slots();
            if free_slots == 0 {
                return Ok(QueueState::Full);
            }
            // A read, and only then a claim: the writer is shared by everybody and need not hear "nothing to do".
            let next = NextDue {
                host: self.host.clone(),
            };
            let Some(due_at) = self.outbox.store().run(next).await? else {
                return Ok(QueueState::Empty);
            };
            if due_at > self.now() {
                return Ok(QueueState::Until(due_at));
            }
            let Some(slots) = self.outbox.slots(free_slots).await else {
                return Ok(QueueState::Full);
            };
            self.release_lost_claims().await?;
            let claims = self.claim(slots.num_permits()).await?;
            if claims.is_empty() {
                return Ok(QueueState::Until(self.now().plus(STORE_RETRY_DELAY)));
            }
            self.spawn_attempts(claims, slots);
        }
    }

    /// After a claim that nobody was told of: otherwise it would lie there until its lease is over.
    async fn release_lost_claims(&mut self) -> Result<(), StoreError> {
        if self.may_have_lost_claims {
            let in_flight = self
                .claimed
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .iter()
                .cloned()
                .collect();
            let store = self.outbox.store();
            store
                .run(ReleaseClaims {
                    node: store.node(),
                    host: self.host.clone(),
                    in_flight,
                })
                .await?;
            self.may_have_lost_claims = false;
        }
        Ok(())
    }

    async fn claim(&mut self, limit: usize) -> Result<Vec<Claim>, StoreError> {
        let lease = self.outbox.settings().attempt_timeout.saturating_add(SETTLE_RESERVE);
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let store = self.outbox.store();
        self.may_have_lost_claims = true;
        let claims = store
            .run(ClaimDue {
                node: store.node(),
                host: self.host.clone(),
                limit,
                lease,
            })
            .await;
        self.may_have_lost_claims = matches!(claims, Err(StoreError::CommitUnknown(_) | StoreError::Unavailable(_)));
        claims
    }

    fn spawn_attempts(&mut self, claims: Vec<Claim>, mut slots: OwnedSemaphorePermit) {
        for claim in claims {
            let Some(slot) = slots.split(1) else { return };
            let outbox = Arc::clone(&self.outbox);
            let host = self.host.clone();
            let settling = Arc::clone(&self.settling);
            let wakeup = Arc::clone(&self.wakeup);
            let in_flight = InFlight::new(&self.claimed, claim.message_id.clone());
            self.in_flight.spawn(async move {
                let attempt = outbox.attempt(&claim).await;
                // The next push need not wait until the end of this one has been committed.
                drop(slot);
                let _settling = Settling::new(settling, &wakeup);
                outbox.settle(&host, claim, &attempt).await;
                drop(in_flight);
                attempt
            });
        }
    }

    async fn wait(&mut self, state: QueueState) {
        let sleep = match state {
            QueueState::Full | QueueState::Empty => MAX_SLEEP,
            QueueState::Until(at) => at.since(self.now()).clamp(MIN_SLEEP, MAX_SLEEP),
        };
        tokio::select! {
            Some(ended) = self.in_flight.join_next() => self.record_end(ended),
            () = self.wakeup.notified() => {}
            () = tokio::time::sleep(sleep) => {}
        }
        while let Some(ended) = self.in_flight.try_join_next() {
            self.record_end(ended);
        }
    }

    fn record_end(&mut self, ended: Result<Attempt, JoinError>) {
        match ended {
            Ok(attempt) => self.window.update(&attempt),
            // Its claim runs out by itself.
            Err(error) => tracing::error!(host = self.host, %error, "push attempt panicked or was aborted"),
        }
    }
}

/// Held by an attempt from its claim to its end, however it ends.
struct InFlight {
    all: Arc<Mutex<HashSet<MessageId>>>,
    id: MessageId,
}

impl InFlight {
    fn new(all: &Arc<Mutex<HashSet<MessageId>>>, id: MessageId) -> Self {
        all.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone());
        Self {
            all: Arc::clone(all),
            id,
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}

/// Held by an attempt from its answer to its end.
struct Settling(Arc<AtomicUsize>);

impl Settling {
    fn new(count: Arc<AtomicUsize>, wakeup: &Notify) -> Self {
        count.fetch_add(1, Ordering::Release);
        wakeup.notify_one();
        Self(count)
    }
}

impl Drop for Settling {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}
