//! The outbox: knows the hosts with due deliveries, and has what their workers share.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use countersign_config::PushSettings;
use countersign_core::delivery::{Attempt, MAX_DELAY_WITH_JITTER};
use countersign_protocol::time::Timestamp;
use countersign_store::model::Claim;
use countersign_store::ops::deliver::{DueHosts, PendingHosts, ResetDistantDue};
use countersign_store::{Store, StoreError};
use countersign_telemetry::metrics::DurationHistogram;
use futures_util::FutureExt;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::Instant;

use super::host_worker::{OutboxPhase, WorkerHandle, Workers, claim_lease};
use super::push_client::PushClient;
use super::resolver::{DnsLookup, SystemLookup};
use super::settle::{self, DeliveryCounts};
use crate::cluster::LiveChange;
use crate::live::LiveBroadcaster;

/// Over all hosts.
const MAX_CONCURRENT_ATTEMPTS: usize = 512;
/// How often hosts with due deliveries are read from the store. A wake-up can be lost, because the request that
/// committed the delivery may be cut off before sending it.
const SWEEP_INTERVAL: Duration = Duration::from_secs(30);
/// Shorter on a shared store, where another node may commit a delivery and stop before its push.
const SHARED_STORE_SWEEP_INTERVAL: Duration = Duration::from_secs(1);

const MAX_CLOCK_CORRECTION: Duration = Duration::from_secs(60);

#[derive(Debug, thiserror::Error)]
#[error("setting up the HTTP client for pushes failed: {0}")]
pub struct OutboxError(#[from] reqwest::Error);

pub struct Outbox {
    store: Arc<Store>,
    settings: PushSettings,
    push_client: PushClient,
    slots: Arc<Semaphore>,
    counts: watch::Sender<DeliveryCounts>,
    /// From the decision to the delivery.
    durations: DurationHistogram,
    workers: Mutex<Workers>,
    stop: watch::Sender<bool>,
    /// Announces attempts to open pages; set once the hub exists.
    live: OnceLock<Arc<LiveBroadcaster>>,
}

impl Outbox {
    pub fn new(store: Arc<Store>, settings: PushSettings) -> Result<Arc<Self>, OutboxError> {
        Self::with_resolver(store, settings, Arc::new(SystemLookup::default()))
    }

    pub fn with_resolver(
        store: Arc<Store>,
        settings: PushSettings,
        lookup: Arc<dyn DnsLookup>,
    ) -> Result<Arc<Self>, OutboxError> {
        Ok(Arc::new(Self {
            push_client: PushClient::new(Arc::clone(&store), &settings, lookup)?,
            store,
            settings,
            slots: Arc::new(Semaphore::new(MAX_CONCURRENT_ATTEMPTS)),
            counts: watch::Sender::default(),
            durations: DurationHistogram::of_deliveries(),
            workers: Mutex::default(),
            stop: watch::Sender::default(),
            live: OnceLock::new(),
        }))
    }

    /// The HTTP client of the pushes, for other requests to addresses that agents name.
    pub(crate) fn guarded_client(&self) -> reqwest::Client {
        self.push_client.guarded_client()
    }

    /// Starts a worker for every host with pending deliveries.
    pub async fn start(self: &Arc<Self>) -> Result<(), StoreError> {
        self.lock().phase = OutboxPhase::Running;
        self.reset_distant_due().await?;
        let hosts = self.store.run(PendingHosts).await?;
        tracing::debug!(hosts = hosts.len(), "outbox started");
        hosts.iter().for_each(|host| self.wake(host));
        Ok(())
    }

    /// Repairs retries and claims after the clock was set back.
    async fn reset_distant_due(self: &Arc<Self>) -> Result<(), StoreError> {
        let max_ahead = MAX_DELAY_WITH_JITTER.max(claim_lease(&self.settings));
        let hosts = self.store.run(ResetDistantDue { max_ahead }).await?;
        if !hosts.is_empty() {
            tracing::warn!(
                hosts = hosts.len(),
                "the clock was set back: distant push retries are due now"
            );
            hosts.iter().for_each(|host| self.wake(host));
        }
        Ok(())
    }

    /// Wakes the workers of all hosts with due deliveries, until dropped. Workers that wait for a retry time wake by
    /// themselves.
    pub async fn sweep(self: Arc<Self>) {
        let interval = if self.store.is_shared() {
            SHARED_STORE_SWEEP_INTERVAL
        } else {
            SWEEP_INTERVAL
        };
        let mut last_sweep = self.store.clock().now();
        loop {
            tokio::time::sleep(interval).await;
            let now = self.store.clock().now();
            if was_set_back(last_sweep, now)
                && let Err(error) = self.reset_distant_due().await
            {
                tracing::warn!(%error, "rescheduling pushes after the clock was set back failed; retrying");
                continue;
            }
            last_sweep = now;
            match self.store.run(DueHosts).await {
                Ok(hosts) => hosts.iter().for_each(|host| self.wake(host)),
                Err(error) => tracing::warn!(%error, "reading hosts with due deliveries failed; retrying"),
            }
        }
    }

    /// Call after a delivery for this host is committed.
    pub fn wake(self: &Arc<Self>, host: &str) {
        self.lock().wake(self, host);
    }

    /// Starts no new attempts. Running ones have `grace` to finish, then they are aborted; their claims are released
    /// when the node leaves, and do not count as attempts.
    pub async fn stop(&self, grace: Duration) {
        let active = {
            let mut workers = self.lock();
            workers.phase = OutboxPhase::Stopped;
            std::mem::take(&mut workers.active)
        };
        self.stop.send_replace(true);
        let deadline = Instant::now() + grace;
        for WorkerHandle { task, .. } in active.into_values() {
            let cut = task.abort_handle();
            if tokio::time::timeout_at(deadline, task).await.is_err() {
                cut.abort();
            }
        }
    }

    /// Announces every settled attempt there; set once by the hub.
    pub fn announce_attempts_to(&self, live: Arc<LiveBroadcaster>) {
        drop(self.live.set(live));
    }

    pub fn durations(&self) -> DurationHistogram {
        self.durations.clone()
    }

    pub fn counts(&self) -> DeliveryCounts {
        *self.counts.borrow()
    }

    /// Notifies of every settled attempt.
    pub fn watch_counts(&self) -> watch::Receiver<DeliveryCounts> {
        self.counts.subscribe()
    }

    pub(super) fn store(&self) -> &Store {
        &self.store
    }

    pub(super) fn settings(&self) -> &PushSettings {
        &self.settings
    }

    pub(super) async fn attempt(&self, claim: &Claim) -> Attempt {
        self.push_client.attempt(&claim.message_id).await
    }

    pub(super) async fn settle(&self, host: &str, claim: Claim, attempt: &Attempt) {
        let message_id = claim.message_id.clone();
        let decided_at = claim.created_at;
        settle::settle(&self.store, &self.settings.schedule, &self.counts, host, claim, attempt).await;
        if matches!(attempt, Attempt::Delivered { .. }) {
            self.durations.observe(self.store.clock().now().since(decided_at));
        }
        if let Some(live) = self.live.get() {
            live.publish(LiveChange::Tracked(message_id));
        }
    }

    /// Up to `wanted` of the slots all workers share: waits for the first and takes more only if they are free.
    pub(super) async fn slots(&self, wanted: usize) -> Option<OwnedSemaphorePermit> {
        let mut acquired = Arc::clone(&self.slots).acquire_owned().await.ok()?;
        let more = self.slots.available_permits().min(wanted.saturating_sub(1));
        // Another worker may have taken them in between; then one slot is enough.
        if let Ok(others) = Arc::clone(&self.slots).try_acquire_many_owned(u32::try_from(more).unwrap_or(0)) {
            acquired.merge(others);
        }
        Some(acquired)
    }

    /// Removes an idle worker unless it was woken since its last read. Wake-ups take the same lock, so one comes either
    /// before and is seen here, or after and starts a new worker.
    pub(super) fn close_worker(&self, host: &str, wakeup: &Notify) -> bool {
        let mut workers = self.lock();
        let was_woken = wakeup.notified().now_or_never().is_some();
        if !was_woken {
            workers.active.remove(host);
        }
        !was_woken
    }

    /// Notifies of the stop.
    pub(super) fn watch_stop(&self) -> watch::Receiver<bool> {
        self.stop.subscribe()
    }

    fn lock(&self) -> MutexGuard<'_, Workers> {
        self.workers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ignores the small corrections of a clock that follows a time server or the database.
fn was_set_back(earlier: Timestamp, now: Timestamp) -> bool {
    earlier.since(now) > MAX_CLOCK_CORRECTION
}

#[cfg(test)]
mod tests {
    use countersign_core::delivery::Schedule;
    use countersign_store::clock::SystemClock;

    use super::*;
    use countersign_config::LegacyPush;

    #[test]
    fn only_a_real_step_back_of_the_clock_counts() {
        let now = Timestamp::from_millis(1_800_000_000_000);
        assert!(!was_set_back(now, now.plus(SWEEP_INTERVAL)));
        assert!(!was_set_back(now, now.minus(MAX_CLOCK_CORRECTION)), "a correction");
        assert!(was_set_back(now, now.minus(SWEEP_INTERVAL * 120)));
    }

    #[tokio::test]
    async fn worker_woken_after_its_last_read_stays_open() {
        let file = std::env::temp_dir().join(format!("countersign-outbox-{}.db", uuid::Uuid::new_v4()));
        let store = Arc::new(Store::open_sqlite(&file, Arc::new(SystemClock)).unwrap());
        let settings = PushSettings {
            legacy: LegacyPush::Negotiate,
            schedule: Schedule {
                max_attempts: 5,
                max_duration: SWEEP_INTERVAL,
                first_retry: SWEEP_INTERVAL,
            },
            attempt_timeout: SWEEP_INTERVAL,
            per_host_concurrency: 1,
            allow_loopback: false,
        };
        let outbox = Outbox::new(store, settings).unwrap();
        let wakeup = Notify::new();
        wakeup.notify_one();
        assert!(
            !outbox.close_worker("hooks.example:443", &wakeup),
            "it has to read again"
        );
        assert!(
            outbox.close_worker("hooks.example:443", &wakeup),
            "and then it may stop"
        );
        for ending in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{ending}", file.display()));
        }
    }
}
