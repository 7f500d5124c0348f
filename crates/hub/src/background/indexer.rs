//! Fills the search index in the background, so that a submit does not wait for it. Batches run when the hub is quiet,
//! at least every few seconds, and at once for a search.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use countersign_store::ops::search::IndexBatch;
use countersign_store::{Store, StoreError};
use tokio::sync::{Mutex, Notify};
use tokio::time::{Instant, sleep, timeout};

/// Messages in one transaction; small, because all operations share the writer.
const BATCH_ROWS: i64 = 200;
/// The hub counts as quiet after this long without activity.
const QUIET_INTERVAL: Duration = Duration::from_millis(200);
/// A busy hub still indexes a batch this often.
const MAX_BATCH_DELAY: Duration = Duration::from_secs(5);
/// A search waits this long for the index, then runs without the messages that are not indexed yet.
const SEARCH_TIMEOUT: Duration = Duration::from_secs(1);

pub struct Indexer {
    store: Arc<Store>,
    /// Messages submitted. Starts at one, because an earlier process may have left some unindexed.
    submitted: AtomicU64,
    /// The value of `submitted` up to which everything is indexed.
    indexed: AtomicU64,
    /// Counts foreground writes; the hub is quiet while the number does not change.
    activity: AtomicU64,
    /// One batch at a time: two would work on the same messages.
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

    /// Call after the message is committed.
    pub fn note_submitted(&self) {
        self.submitted.fetch_add(1, Ordering::SeqCst);
        self.note_activity();
        self.wakeup.notify_one();
    }

    /// Call after a foreground write that adds nothing to the index.
    pub fn note_activity(&self) {
        self.activity.fetch_add(1, Ordering::Relaxed);
    }

    /// Waits until all earlier submits are indexed, at most `SEARCH_TIMEOUT`.
    pub async fn wait_until_caught_up(&self) {
        // Other nodes do not announce their submits for indexing, so on a shared store assume one more.
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

    /// Indexes one batch; on a quiet hub, all that is left.
    async fn work(&self, is_quiet: bool) -> Result<(), StoreError> {
        let before = self.activity.load(Ordering::Relaxed);
        self.index_batch().await?;
        while is_quiet && self.is_behind() && self.activity.load(Ordering::Relaxed) == before {
            self.index_batch().await?;
        }
        Ok(())
    }

    /// Indexes until the future is dropped.
    pub async fn run(self: Arc<Self>) {
        loop {
            if !self.is_behind() {
                self.wakeup.notified().await;
            }
            // A batch is due when the hub is quiet, and at last after the delay.
            let (began, mut is_quiet) = (Instant::now(), false);
            while !is_quiet && began.elapsed() < MAX_BATCH_DELAY {
                let before = self.activity.load(Ordering::Relaxed);
                sleep(QUIET_INTERVAL).await;
                is_quiet = self.activity.load(Ordering::Relaxed) == before;
            }
            if let Err(error) = self.work(is_quiet).await {
                tracing::warn!(%error, "indexing messages failed; retrying");
                sleep(MAX_BATCH_DELAY).await;
            }
        }
    }
}
