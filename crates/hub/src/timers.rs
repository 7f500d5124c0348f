//! What happens because time passes: messages expire, and retention empties what is old. Idle, both sleep.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use countersign_core::Command;
use countersign_protocol::time::Timestamp;
use countersign_store::StoreError;
use countersign_store::ops::run::{OldestEndedRun, PurgeRuns};
use countersign_store::ops::sweep::{NextExpiry, OldestResolved, Overdue, Purge};
use futures_util::future::join_all;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::app::Hub;

/// Wakes the expiry timer when a message comes in that is due before what it sleeps for.
#[derive(Default)]
pub struct Alarm {
    notify: Notify,
    sleeps_until: AtomicI64,
}

impl Alarm {
    /// Call it after the message is committed.
    pub fn due(&self, expires_at: Timestamp) {
        if expires_at.as_millis() < self.sleeps_until.load(Ordering::SeqCst) {
            self.notify.notify_one();
        }
    }

    /// From here until it sleeps again, the timer wants to hear of every message: it may have looked already.
    fn awake(&self) {
        self.sleeps_until.store(i64::MAX, Ordering::SeqCst);
    }

    async fn sleep(&self, until: Option<Timestamp>, at_most: Duration) {
        self.sleeps_until.store(until.map_or(i64::MAX, Timestamp::as_millis), Ordering::SeqCst);
        drop(timeout(at_most, self.notify.notified()).await);
    }
}

const BATCH: i64 = 256;
/// A sleep is never longer than this: the wall clock may be set while we sleep.
const LONGEST_SLEEP: Duration = Duration::from_secs(60);
const AFTER_AN_ERROR: Duration = Duration::from_millis(500);
const PURGE_ROUND: Duration = Duration::from_secs(600);

/// Runs until it is dropped.
pub async fn expire(hub: Arc<Hub>) {
    loop {
        hub.expiry_alarm.awake();
        let (next, pause) = match expire_what_is_due(&hub).await {
            // Strictly later than the instant itself, because until then an answer wins.
            Ok(Some(next)) => (Some(next), next.since(hub.store.clock().now()) + Duration::from_millis(1)),
            Ok(None) => (None, LONGEST_SLEEP),
            Err(error) => {
                tracing::error!(%error, "expiry could not run");
                (None, AFTER_AN_ERROR)
            }
        };
        hub.expiry_alarm.sleep(next, pause.min(LONGEST_SLEEP)).await;
    }
}

/// Says when the next message is due.
async fn expire_what_is_due(hub: &Hub) -> Result<Option<Timestamp>, StoreError> {
    loop {
        let due = hub.store.run(Overdue { limit: BATCH }).await?;
        if due.is_empty() {
            return hub.store.run(NextExpiry).await;
        }
        let decided = join_all(due.iter().map(|id| hub.decide(id, Command::Expire))).await;
        decided.into_iter().collect::<Result<Vec<_>, _>>()?;
    }
}

pub async fn purge(hub: Arc<Hub>) {
    let retention = Duration::from_secs(u64::from(hub.config.retention_days) * 24 * 3600);
    loop {
        let purged = purge_what_is_old(&hub, retention).await;
        if let Err(error) = purged.and(purge_old_runs(&hub, retention).await) {
            tracing::error!(%error, "retention could not run");
        }
        tokio::time::sleep(PURGE_ROUND).await;
    }
}

pub async fn purge_what_is_old(hub: &Hub, retention: Duration) -> Result<(), StoreError> {
    loop {
        let resolved_before = hub.store.clock().now().minus(retention);
        let oldest = hub.store.run(OldestResolved).await?;
        if oldest.is_none_or(|oldest| oldest >= resolved_before) {
            return Ok(());
        }
        let emptied = hub.store.run(Purge { resolved_before, limit: BATCH }).await?;
        tracing::info!(emptied, "retention emptied messages");
    }
}

async fn purge_old_runs(hub: &Hub, retention: Duration) -> Result<(), StoreError> {
    loop {
        let ended_before = hub.store.clock().now().minus(retention);
        let oldest = hub.store.run(OldestEndedRun).await?;
        if oldest.is_none_or(|oldest| oldest >= ended_before) {
            return Ok(());
        }
        let forgotten = hub.store.run(PurgeRuns { ended_before, limit: BATCH }).await?;
        tracing::info!(forgotten, "retention forgot runs");
    }
}
