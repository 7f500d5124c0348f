//! Puts messages into the search index, after the fact: a submit must not wait for it. Nobody hurries while messages
//! keep coming in or being answered, except for somebody who searches.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use countersign_store::ops::search::IndexBatch;
use countersign_store::{Store, StoreError};
use tokio::sync::{Mutex, Notify};
use tokio::time::{Instant, sleep, timeout};

use crate::app::Hub;

/// So many in one turn of the writer, whom everybody shares.
const BATCH_ROWS: i64 = 200;
/// The hub is quiet when nothing came in for so long.
const QUIET_INTERVAL: Duration = Duration::from_millis(200);
/// However busy the hub is, so often a batch is done.
const MAX_BATCH_DELAY: Duration = Duration::from_secs(5);
/// How long a search waits for the index; then it goes without what is not in it yet.
const SEARCH_TIMEOUT: Duration = Duration::from_secs(1);

pub struct Indexer {
    store: Arc<Store>,
    /// How many messages came in, counted from one, because an earlier process may have left some behind.
    submitted: AtomicU64,
    /// Those that are in the index for certain.
    indexed: AtomicU64,
    /// Counts whatever was written for somebody who waits for it: the hub is quiet while it stands still.
    activity: AtomicU64,
    /// Two at work on the same messages would only be in each other's way.
    batch_lock: Mutex<()>,
    wakeup: Notify,
}

impl Indexer {
    pub fn new(store: Arc<Store>) -> Self {
        let submitted = AtomicU64::new(1);
        let indexed = AtomicU64::new(0);
        Self {
            store,
            submitted,
            indexed,
            activity: AtomicU64::new(0),
            batch_lock: Mutex::default(),
            wakeup: Notify::new(),
        }
    }

    /// Call it after the message is committed.
    pub fn note_submitted(&self) {
        self.submitted.fetch_add(1, Ordering::SeqCst);
        self.note_activity();
        self.wakeup.notify_one();
    }

    /// Something was written that nobody will search for.
    pub fn note_activity(&self) {
        self.activity.fetch_add(1, Ordering::Relaxed);
    }

    /// Waits until everything that was submitted before is in the index, but not for long.
    pub async fn wait_until_caught_up(&self) {
        // Other hubs do not say what came to them, so there may always be one more.
        let remote = u64::from(self.store.is_shared());
        let wanted = self.submitted.fetch_add(remote, Ordering::SeqCst) + remote;
        let catch_up = async {
            while self.indexed.load(Ordering::SeqCst) < wanted {
                self.index_batch().await?;
            }
            Ok::<_, StoreError>(())
        };
        match timeout(SEARCH_TIMEOUT, catch_up).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "updating the search index before a search failed"),
            Err(_elapsed) => tracing::info!("search index is behind; searching without the newest messages"),
        }
    }

    async fn index_batch(&self) -> Result<(), StoreError> {
        let _guard = self.batch_lock.lock().await;
        let before = self.submitted.load(Ordering::SeqCst);
        if self.indexed.load(Ordering::SeqCst) >= before {
            return Ok(());
        }
        if self.store.run(IndexBatch { limit: BATCH_ROWS }).await?.is_all {
            self.indexed.store(before, Ordering::SeqCst);
        }
        Ok(())
    }

    fn is_behind(&self) -> bool {
        self.indexed.load(Ordering::SeqCst) < self.submitted.load(Ordering::SeqCst)
    }

    /// Says whether the hub fell quiet; if not, it is time for a batch all the same.
    async fn wait_for_quiet(&self) -> bool {
        let began = Instant::now();
        while began.elapsed() < MAX_BATCH_DELAY {
            let before = self.activity.load(Ordering::Relaxed);
            sleep(QUIET_INTERVAL).await;
            if self.activity.load(Ordering::Relaxed) == before {
                return true;
            }
        }
        false
    }

    /// While the hub is quiet, all there is; otherwise one batch.
    async fn work(&self, is_quiet: bool) -> Result<(), StoreError> {
        let before = self.activity.load(Ordering::Relaxed);
        self.index_batch().await?;
        while is_quiet && self.is_behind() && self.activity.load(Ordering::Relaxed) == before {
            self.index_batch().await?;
        }
        Ok(())
    }
}

/// Runs until it is dropped.
pub async fn run(hub: Arc<Hub>) {
    let indexer = &hub.indexer;
    loop {
        if !indexer.is_behind() {
            indexer.wakeup.notified().await;
        }
        let is_quiet = indexer.wait_for_quiet().await;
        if let Err(error) = indexer.work(is_quiet).await {
            tracing::warn!(%error, "indexing messages failed; retrying");
            sleep(MAX_BATCH_DELAY).await;
        }
    }
}
