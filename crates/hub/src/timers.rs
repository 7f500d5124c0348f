//! What happens because time passes: messages expire, and retention empties what is old. Idle, both sleep.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use countersign_core::decide::is_overdue_at;
use countersign_protocol::id::ResolutionId;
use countersign_protocol::time::Timestamp;
use countersign_store::StoreError;
use countersign_store::ops::rate::ForgetRates;
use countersign_store::ops::run::{OldestEndedRun, PurgeRuns};
use countersign_store::ops::sweep::{ExpireDue, NextExpiry, OldestResolved, Purge};
use tokio::sync::Notify;
use tokio::time::timeout;
use uuid::Uuid;

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
const MOST_RATES: i64 = 10_000;
/// Among other hubs, who may have been told of a message that is due sooner.
const LONGEST_SLEEP_AMONG_OTHERS: Duration = Duration::from_secs(1);
/// A sleep is never longer than this: the wall clock may be set while we sleep.
const LONGEST_SLEEP: Duration = Duration::from_secs(60);
const AFTER_AN_ERROR: Duration = Duration::from_millis(500);
const PURGE_ROUND: Duration = Duration::from_secs(600);

/// Runs until it is dropped.
pub async fn expire(hub: Arc<Hub>) {
    let longest = if hub.store.is_shared() { LONGEST_SLEEP_AMONG_OTHERS } else { LONGEST_SLEEP };
    loop {
        hub.expiry_alarm.awake();
        let (next, pause) = match expire_what_is_due(&hub).await {
            // Strictly later than the instant itself, because until then an answer wins.
            Ok(Some(next)) => (Some(next), next.since(hub.store.clock().now()) + Duration::from_millis(1)),
            Ok(None) => (None, longest),
            Err(error) => {
                tracing::error!(%error, "expiry could not run");
                (None, AFTER_AN_ERROR)
            }
        };
        hub.expiry_alarm.sleep(next, pause.min(longest)).await;
    }
}

/// Says when the next message is due.
async fn expire_what_is_due(hub: &Hub) -> Result<Option<Timestamp>, StoreError> {
    while is_overdue_at(hub.store.run(NextExpiry).await?, hub.store.clock().now()) {
        let resolution_ids = (0..BATCH).map(|_| ResolutionId::from_uuid(Uuid::new_v4())).collect();
        let expired = hub.store.run(ExpireDue { resolution_ids }).await;
        let expired = expired.inspect_err(|error| hub.may_be_done(error))?;
        hub.indexer.active();
        expired.iter().for_each(|applied| hub.announce(applied));
        if expired.is_empty() {
            // Others are at it.
            break;
        }
    }
    hub.store.run(NextExpiry).await
}

pub async fn purge(hub: Arc<Hub>) {
    let retention = Duration::from_secs(u64::from(hub.config.retention_days) * 24 * 3600);
    loop {
        let purged = purge_what_is_old(&hub, retention).await;
        if let Err(error) = purged.and(purge_old_runs(&hub, retention).await) {
            tracing::error!(%error, "retention could not run");
        }
        if hub.store.is_shared()
            && let Err(error) = hub.store.run(ForgetRates { limit: MOST_RATES }).await
        {
            tracing::error!(%error, "limits that nobody uses could not be forgotten");
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
