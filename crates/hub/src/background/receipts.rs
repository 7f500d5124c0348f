//! Receipts of answers that agents fetched. A pull records one in memory; a background task stores them in batches.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use countersign_protocol::id::MessageId;
use countersign_store::ops::message::pull::RecordFetched;
use countersign_store::{Store, StoreError};
use tokio::sync::Notify;

use crate::cluster::LiveChange;
use crate::live::LiveBroadcaster;

/// Receipts not stored yet. Beyond that a pull is not recorded, until the agent pulls again.
const MAX_PENDING: usize = 65_536;
/// Receipts in one transaction; small, because all operations share the writer.
const BATCH_ROWS: usize = 128;
/// Lets more receipts join a batch.
const BATCH_DELAY: Duration = Duration::from_millis(250);
const ERROR_RETRY_DELAY: Duration = Duration::from_millis(500);
/// Size of one generation of the dedup window: a repeated pull of the same answer causes no write.
const MAX_IDS_PER_GENERATION: usize = 4096;

pub struct Receipts {
    store: Arc<Store>,
    live: Arc<LiveBroadcaster>,
    pending: Mutex<PendingReceipts>,
    wakeup: Notify,
}

#[derive(Default)]
struct PendingReceipts {
    queue: VecDeque<MessageId>,
    seen: ReceiptDedup,
}

/// A dedup window of two generations: when the current one is full, it replaces the previous one.
#[derive(Default)]
struct ReceiptDedup {
    current: HashSet<MessageId>,
    previous: HashSet<MessageId>,
}

impl ReceiptDedup {
    /// Returns whether the id is new in the window.
    fn insert(&mut self, id: &MessageId) -> bool {
        if self.previous.contains(id) {
            return false;
        }
        let is_new = self.current.insert(id.clone());
        if self.current.len() >= MAX_IDS_PER_GENERATION {
            self.previous = std::mem::take(&mut self.current);
        }
        is_new
    }
}

impl Receipts {
    pub fn new(store: Arc<Store>, live: Arc<LiveBroadcaster>) -> Self {
        Self {
            store,
            live,
            pending: Mutex::default(),
            wakeup: Notify::new(),
        }
    }

    /// Records that the agent fetched its answer.
    pub fn record(&self, id: &MessageId) {
        let mut pending = self.lock();
        if pending.queue.len() < MAX_PENDING && pending.seen.insert(id) {
            pending.queue.push_back(id.clone());
            self.wakeup.notify_one();
        }
    }

    fn take(&self) -> Vec<MessageId> {
        let mut pending = self.lock();
        let batch = pending.queue.len().min(BATCH_ROWS);
        pending.queue.drain(..batch).collect()
    }

    fn requeue(&self, ids: Vec<MessageId>) {
        self.lock().queue.extend(ids);
        self.wakeup.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, PendingReceipts> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores all pending receipts and announces the new ones to open pages.
    pub async fn flush(&self) -> Result<(), StoreError> {
        loop {
            let ids = self.take();
            if ids.is_empty() {
                return Ok(());
            }
            match self.store.run(RecordFetched { ids: ids.clone() }).await {
                Ok(recorded) => recorded
                    .into_iter()
                    .for_each(|id| self.live.publish(LiveChange::Tracked(id))),
                Err(error) => {
                    self.requeue(ids);
                    return Err(error);
                }
            }
        }
    }

    /// Flushes until the future is dropped.
    pub async fn run(self: Arc<Self>) {
        loop {
            self.wakeup.notified().await;
            tokio::time::sleep(BATCH_DELAY).await;
            if let Err(error) = self.flush().await {
                tracing::warn!(%error, "storing receipts of fetched answers failed; retrying");
                tokio::time::sleep(ERROR_RETRY_DELAY).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::testing;

    fn id(number: usize) -> MessageId {
        MessageId::from_uuid(Uuid::from_u128(number as u128))
    }

    #[test]
    fn repeated_fetch_is_recorded_once() {
        let hub = testing::hub();
        let receipts = &hub.background.receipts;
        receipts.record(&id(1));
        receipts.record(&id(1));
        assert_eq!(receipts.take(), [id(1)]);
        receipts.record(&id(1));
        assert_eq!(receipts.take(), []);
    }

    #[test]
    fn pending_receipts_are_bounded_and_none_is_lost() {
        let hub = testing::hub();
        let receipts = &hub.background.receipts;
        (0..MAX_PENDING + 10).for_each(|number| receipts.record(&id(number)));
        let mut taken = HashSet::new();
        loop {
            let batch = receipts.take();
            assert!(batch.len() <= BATCH_ROWS);
            if batch.is_empty() {
                break;
            }
            taken.extend(batch);
        }
        assert_eq!(taken.len(), MAX_PENDING);
        let pending = receipts.lock();
        assert!(pending.seen.current.len() + pending.seen.previous.len() <= 2 * MAX_IDS_PER_GENERATION);
    }
}
