//! One task per host with pending deliveries. A receiver that hangs delays only its own host.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use countersign_config::PushSettings;
use countersign_core::delivery::Attempt;
use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;
use countersign_store::StoreError;
use countersign_store::model::Claim;
use countersign_store::ops::deliver::{ClaimDue, NextDue, ReleaseClaims};
use tokio::sync::{Notify, OwnedSemaphorePermit, watch};
use tokio::task::{JoinError, JoinHandle, JoinSet};

use super::concurrency_window::ConcurrencyWindow;
use super::outbox::Outbox;

/// Added to the attempt time-out in the lease of a claim, for settling.
const SETTLE_RESERVE: Duration = Duration::from_secs(30);
const MIN_SLEEP: Duration = Duration::from_millis(1);
/// Bounded, because the wall clock may be set during the sleep.
const MAX_SLEEP: Duration = Duration::from_secs(60);
const STORE_RETRY_DELAY: Duration = Duration::from_secs(1);
/// Bounds the attempts that are answered but not settled, as a multiple of the concurrency of the host.
const UNSETTLED_PER_SLOT: usize = 4;

/// The workers of an outbox, by host.
#[derive(Default)]
pub(super) struct Workers {
    pub phase: OutboxPhase,
    pub active: HashMap<String, WorkerHandle>,
}

#[derive(Default, PartialEq, Eq)]
pub(super) enum OutboxPhase {
    /// Not started: wake-ups are ignored, because the start reads everything committed before.
    #[default]
    Idle,
    Running,
    Stopped,
}

pub(super) struct WorkerHandle {
    pub wakeup: Arc<Notify>,
    pub task: JoinHandle<()>,
}

impl Workers {
    /// Wakes the worker of a host, or starts it.
    pub fn wake(&mut self, outbox: &Arc<Outbox>, host: &str) {
        if self.phase != OutboxPhase::Running {
            return;
        }
        match self.active.get(host) {
            Some(worker) if !worker.task.is_finished() => worker.wakeup.notify_one(),
            Some(_) | None => {
                let worker = HostWorker::start(outbox, host);
                self.active.insert(host.to_owned(), worker);
            }
        }
    }
}

struct HostWorker {
    outbox: Arc<Outbox>,
    host: String,
    /// Keeps one wake-up, so none is lost between a read and the wait after it.
    wakeup: Arc<Notify>,
    in_flight: JoinSet<Attempt>,
    /// How many attempts in flight have their answer and are being settled.
    settling: Arc<AtomicUsize>,
    /// Messages with an attempt in flight.
    claimed: Arc<Mutex<HashSet<MessageId>>>,
    /// A claim may have been committed although its reply was lost.
    may_have_lost_claims: bool,
    window: ConcurrencyWindow,
}

enum QueueState {
    /// No free slot for another attempt.
    Full,
    /// No delivery is pending for this host.
    Empty,
    /// When the next delivery is due.
    Until(Timestamp),
}

impl HostWorker {
    fn start(outbox: &Arc<Outbox>, host: &str) -> WorkerHandle {
        let wakeup = Arc::new(Notify::new());
        let worker = Self {
            outbox: Arc::clone(outbox),
            host: host.to_owned(),
            wakeup: Arc::clone(&wakeup),
            in_flight: JoinSet::new(),
            settling: Arc::default(),
            claimed: Arc::default(),
            may_have_lost_claims: false,
            window: ConcurrencyWindow::up_to(outbox.settings().per_host_concurrency),
        };
        let task = tokio::spawn(worker.run(outbox.watch_stop()));
        WorkerHandle { wakeup, task }
    }

    /// Runs until nothing is pending or the outbox stops, then waits for the attempts in flight.
    async fn run(mut self, mut stop: watch::Receiver<bool>) {
        tokio::select! {
            biased;
            _ = stop.wait_for(|stop| *stop) => {}
            () = self.work() => {}
        }
        while self.in_flight.join_next().await.is_some() {}
    }

    /// Starts due attempts and waits, in turns, until nothing is pending.
    async fn work(&mut self) {
        loop {
            let state = match self.start_attempts().await {
                Ok(state) => state,
                Err(error) => {
                    tracing::warn!(host = self.host, %error, "reading due deliveries failed; retrying");
                    QueueState::Until(self.now().plus(STORE_RETRY_DELAY))
                }
            };
            let sleep = match state {
                QueueState::Empty if self.in_flight.is_empty() => {
                    if self.outbox.close_worker(&self.host, &self.wakeup) {
                        return;
                    }
                    continue;
                }
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
    }

    fn free_slots(&self) -> usize {
        let in_flight = self.in_flight.len();
        let at_host = in_flight.saturating_sub(self.settling.load(Ordering::Acquire));
        let max_in_flight = UNSETTLED_PER_SLOT * self.outbox.settings().per_host_concurrency;
        let unsettled = max_in_flight.saturating_sub(in_flight);
        self.window.free_slots(at_host).min(unsettled)
    }

    fn now(&self) -> Timestamp {
        self.outbox.store().clock().now()
    }

    /// Starts attempts while slots are free and deliveries are due. Slots are acquired before claims, because a claim
    /// that waits for a slot would use up its lease.
    async fn start_attempts(&mut self) -> Result<QueueState, StoreError> {
        if self.may_have_lost_claims {
            self.release_lost_claims().await?;
        }
        loop {
            let free_slots = self.free_slots();
            if free_slots == 0 {
                return Ok(QueueState::Full);
            }
            let store = self.outbox.store();
            let host = self.host.clone();
            // Reads before it claims, so that an empty queue does not cost a write.
            let Some(due_at) = store.run(NextDue { host: host.clone() }).await? else {
                return Ok(QueueState::Empty);
            };
            if due_at > self.now() {
                return Ok(QueueState::Until(due_at));
            }
            let Some(slots) = self.outbox.slots(free_slots).await else {
                return Ok(QueueState::Full);
            };
            let claim = ClaimDue {
                node: store.node(),
                host,
                limit: i64::try_from(slots.num_permits()).unwrap_or(i64::MAX),
                lease: claim_lease(self.outbox.settings()),
            };
            self.may_have_lost_claims = true;
            let claims = store.run(claim).await;
            self.may_have_lost_claims =
                matches!(claims, Err(StoreError::CommitUnknown(_) | StoreError::Unavailable(_)));
            let claims = claims?;
            if claims.is_empty() {
                return Ok(QueueState::Until(self.now().plus(STORE_RETRY_DELAY)));
            }
            self.spawn_attempts(claims, slots);
        }
    }

    /// Releases claims whose reply was lost; otherwise they would wait for the end of their lease.
    async fn release_lost_claims(&mut self) -> Result<(), StoreError> {
        let in_flight = {
            let claimed = self.claimed.lock().unwrap_or_else(PoisonError::into_inner);
            claimed.iter().cloned().collect()
        };
        let store = self.outbox.store();
        let release = ReleaseClaims {
            node: store.node(),
            host: self.host.clone(),
            in_flight,
        };
        store.run(release).await?;
        self.may_have_lost_claims = false;
        Ok(())
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
                // Frees the slot before settling, so that the next push does not wait for the commit.
                drop(slot);
                let _settling = Settling::new(settling, &wakeup);
                outbox.settle(&host, claim, &attempt).await;
                drop(in_flight);
                attempt
            });
        }
    }

    fn record_end(&mut self, ended: Result<Attempt, JoinError>) {
        match ended {
            Ok(attempt) => self.window.update(&attempt),
            // Its claim expires by itself.
            Err(error) => tracing::error!(host = self.host, %error, "push attempt panicked or was aborted"),
        }
    }
}

/// How long a claim holds: the attempt and its settling.
pub(super) fn claim_lease(settings: &PushSettings) -> Duration {
    settings.attempt_timeout.saturating_add(SETTLE_RESERVE)
}

/// Registers an attempt from its claim until it ends, also by a panic.
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

/// Counts an attempt from its answer until it is settled.
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
