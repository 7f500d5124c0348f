//! The open lanes: who wakes them, how they end, how all of them stop.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use countersign_core::delivery::Attempt;
use countersign_store::model::Claim;
use countersign_store::ops::deliver::{DueHosts, PendingHosts};
use countersign_store::{Store, StoreError};
use futures_util::FutureExt;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::lane::Lane;
use super::resolver::{Lookup, SystemLookup};
use super::send::Courier;
use super::settle::{self, DeliveryCounts};
use crate::config::PushSettings;
use crate::inbox::news::{Change, News};

/// Attempts under way at once, over all hosts.
const PLACES: usize = 512;
/// How often hosts with something due are looked for. A wake-up is a hint that can be missed: whoever committed the obligation may
/// have been cut off before passing it on.
const PATROL: Duration = Duration::from_secs(30);
/// The same where other hubs commit obligations, and may be gone before they get to them.
const PATROL_AMONG_OTHERS: Duration = Duration::from_secs(1);

#[derive(Debug, thiserror::Error)]
#[error("the client for pushes cannot be set up: {0}")]
pub struct OutboxError(#[from] reqwest::Error);

pub struct Outbox {
    store: Arc<Store>,
    settings: PushSettings,
    courier: Courier,
    places: Arc<Semaphore>,
    counts: watch::Sender<DeliveryCounts>,
    lanes: Mutex<Lanes>,
    stop: watch::Sender<bool>,
    /// Who hears of attempts, once there is a hub.
    news: OnceLock<Arc<News>>,
}

#[derive(Default)]
struct Lanes {
    phase: Phase,
    open: HashMap<String, OpenLane>,
}

#[derive(Default, PartialEq, Eq)]
enum Phase {
    /// Wake-ups are not heeded yet: starting looks for everything committed before it.
    #[default]
    Idle,
    Running,
    Stopped,
}

struct OpenLane {
    bell: Arc<Notify>,
    task: JoinHandle<()>,
}

impl Outbox {
    pub fn new(store: Arc<Store>, settings: PushSettings) -> Result<Arc<Self>, OutboxError> {
        Self::with_resolver(store, settings, Arc::new(SystemLookup::default()))
    }

    pub fn with_resolver(
        store: Arc<Store>,
        settings: PushSettings,
        lookup: Arc<dyn Lookup>,
    ) -> Result<Arc<Self>, OutboxError> {
        Ok(Arc::new(Self {
            courier: Courier::new(Arc::clone(&store), &settings, lookup)?,
            store,
            settings,
            places: Arc::new(Semaphore::new(PLACES)),
            counts: watch::Sender::default(),
            lanes: Mutex::default(),
            stop: watch::Sender::default(),
            news: OnceLock::new(),
        }))
    }

    /// Every pending host gets its lane.
    pub async fn start(self: &Arc<Self>) -> Result<(), StoreError> {
        self.lock().phase = Phase::Running;
        let hosts = self.store.run(PendingHosts).await?;
        tracing::debug!(hosts = hosts.len(), "outbox started");
        hosts.iter().for_each(|host| self.wake(host));
        tokio::spawn(patrol(Arc::clone(self), self.stop.subscribe()));
        Ok(())
    }

    /// An obligation for this host has been committed.
    pub fn wake(self: &Arc<Self>, host: &str) {
        let mut lanes = self.lock();
        if lanes.phase != Phase::Running {
            return;
        }
        match lanes.open.get(host) {
            Some(lane) if !lane.task.is_finished() => lane.bell.notify_one(),
            Some(_) | None => {
                let lane = self.open_lane(host);
                lanes.open.insert(host.to_owned(), lane);
            }
        }
    }

    /// No new attempts from here on. Those under way have `grace` to finish; then they are cut. What was cut is given back
    /// when the node leaves, and does not count.
    pub async fn stop(&self, grace: Duration) {
        let open = {
            let mut lanes = self.lock();
            lanes.phase = Phase::Stopped;
            std::mem::take(&mut lanes.open)
        };
        self.stop.send_replace(true);
        let deadline = Instant::now() + grace;
        for OpenLane { task, .. } in open.into_values() {
            let cut = task.abort_handle();
            if tokio::time::timeout_at(deadline, task).await.is_err() {
                cut.abort();
            }
        }
    }

    /// To be told of every attempt that has been settled; set once, by the hub that has this outbox.
    pub fn tell_of_attempts(&self, news: Arc<News>) {
        drop(self.news.set(news));
    }

    pub fn counts(&self) -> DeliveryCounts {
        *self.counts.borrow()
    }

    /// The counts as they change: with every attempt that has been settled.
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
        self.courier.attempt(&claim.message_id).await
    }

    pub(super) async fn settle(&self, host: &str, claim: Claim, attempt: &Attempt) {
        let message_id = claim.message_id.clone();
        settle::settle(&self.store, &self.settings.schedule, &self.counts, host, claim, attempt).await;
        if let Some(news) = self.news.get() {
            news.tell(Change::Tracked(message_id));
        }
    }

    /// Up to `wanted` of the places all lanes share; waits for the first, takes of the others what is free.
    pub(super) async fn places(&self, wanted: usize) -> Option<OwnedSemaphorePermit> {
        let mut taken = Arc::clone(&self.places).acquire_owned().await.ok()?;
        while taken.num_permits() < wanted
            && let Ok(another) = Arc::clone(&self.places).try_acquire_owned()
        {
            taken.merge(another);
        }
        Some(taken)
    }

    /// Takes the lane off the map unless its bell has rung since it last looked. Wake-ups hold the same lock, so one
    /// comes either before, and is heard here, or after, and opens a new lane.
    pub(super) fn close_lane(&self, host: &str, bell: &Notify) -> bool {
        let mut lanes = self.lock();
        let rung = bell.notified().now_or_never().is_some();
        if !rung {
            lanes.open.remove(host);
        }
        !rung
    }

    fn open_lane(self: &Arc<Self>, host: &str) -> OpenLane {
        let bell = Arc::new(Notify::new());
        let lane = Lane::new(Arc::clone(self), host.to_owned(), Arc::clone(&bell));
        OpenLane {
            bell,
            task: tokio::spawn(lane.run(self.stop.subscribe())),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Lanes> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Wakes whoever has something to bring now, heard of or not. Lanes that wait for their time wake by themselves.
async fn patrol(outbox: Arc<Outbox>, mut stop: watch::Receiver<bool>) {
    let round = if outbox.store.is_shared() {
        PATROL_AMONG_OTHERS
    } else {
        PATROL
    };
    while tokio::time::timeout(round, stop.wait_for(|stop| *stop)).await.is_err() {
        match outbox.store.run(DueHosts).await {
            Ok(hosts) => hosts.iter().for_each(|host| outbox.wake(host)),
            Err(error) => tracing::warn!(%error, "hosts with something due could not be read"),
        }
    }
}

#[cfg(test)]
mod tests {
    use countersign_core::delivery::Schedule;
    use countersign_store::clock::SystemClock;

    use super::*;
    use crate::config::LegacyPush;

    #[tokio::test]
    async fn a_lane_whose_bell_rang_after_its_last_look_stays_open() {
        let file = std::env::temp_dir().join(format!("countersign-outbox-{}.db", uuid::Uuid::new_v4()));
        let store = Arc::new(Store::open_sqlite(&file, Arc::new(SystemClock)).unwrap());
        let settings = PushSettings {
            legacy: LegacyPush::Negotiate,
            schedule: Schedule {
                max_attempts: 5,
                max_duration: PATROL,
                first_retry: PATROL,
            },
            attempt_timeout: PATROL,
            per_host_concurrency: 1,
            allow_loopback: false,
        };
        let outbox = Outbox::new(store, settings).unwrap();
        let bell = Notify::new();
        bell.notify_one();
        assert!(!outbox.close_lane("hooks.example:443", &bell), "it has to look again");
        assert!(outbox.close_lane("hooks.example:443", &bell), "and then it may end");
        for ending in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{ending}", file.display()));
        }
    }
}
