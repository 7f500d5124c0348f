//! What happens because time passes: messages expire, and retention empties what is old. Idle, both sleep.

use std::sync::Arc;
use std::time::Duration;

use countersign_core::Command;
use countersign_protocol::time::Timestamp;
use countersign_store::StoreError;
use countersign_store::ops::sweep::{NextExpiry, OldestResolved, Overdue, Purge};
use futures_util::future::join_all;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::app::Hub;

/// Wakes the expiry timer when a message comes in that is due before what it sleeps for.
#[derive(Default)]
pub struct Alarm(Notify);

impl Alarm {
    pub fn ring(&self) {
        self.0.notify_one();
    }

    async fn rung(&self) {
        self.0.notified().await;
    }
}

const BATCH: i64 = 256;
/// A sleep is never longer than this: the wall clock may be set while we sleep.
const LONGEST_SLEEP: Duration = Duration::from_secs(30);
const AFTER_AN_ERROR: Duration = Duration::from_millis(500);
const PURGE_ROUND: Duration = Duration::from_secs(600);

/// Runs until it is dropped.
pub async fn expire(hub: Arc<Hub>) {
    loop {
        let pause = match expire_what_is_due(&hub).await {
            Ok(Some(next)) => next.since(hub.store.clock().now()).min(LONGEST_SLEEP),
            Ok(None) => LONGEST_SLEEP * 120,
            Err(error) => {
                tracing::error!(%error, "expiry could not run");
                AFTER_AN_ERROR
            }
        };
        // Strictly later than the instant itself, because until then an answer wins.
        drop(timeout(pause + Duration::from_millis(1), hub.expiry_alarm.rung()).await);
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
        if let Err(error) = purge_what_is_old(&hub, retention).await {
            tracing::error!(%error, "retention could not run");
        }
        tokio::time::sleep(PURGE_ROUND).await;
    }
}

pub async fn purge_what_is_old(hub: &Hub, retention: Duration) -> Result<(), StoreError> {
    loop {
        let resolved_before = hub.store.clock().now().minus(retention);
        let oldest = hub.store.run(OldestResolved).await?;
        if !oldest.is_some_and(|oldest| oldest < resolved_before) {
            return Ok(());
        }
        let emptied = hub.store.run(Purge { resolved_before, limit: BATCH }).await?;
        tracing::info!(emptied, "retention emptied messages");
    }
}
