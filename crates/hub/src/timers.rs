//! What happens because time passes: messages expire, and retention empties what is old. Idle, both sleep.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use countersign_core::decide::is_overdue_at;
use countersign_protocol::id::{MessageId, ResolutionId};
use countersign_protocol::time::Timestamp;
use countersign_store::StoreError;
use countersign_store::ops::rate::ForgetRates;
use countersign_store::ops::run::{OldestEndedRun, PurgeRuns};
use countersign_store::ops::sweep::{ExpireDue, Expired, NextExpiry, OldestResolved, Purge};
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
        self.sleeps_until
            .store(until.map_or(i64::MAX, Timestamp::as_millis), Ordering::SeqCst);
        drop(timeout(at_most, self.notify.notified()).await);
    }
}

const BATCH: i64 = 256;
/// Of messages that expire, where everybody who acts for their agents waits for the end of the transaction.
const BATCH_AMONG_OTHERS: i64 = 32;
const MOST_RATES: i64 = 10_000;
/// Among other hubs, who may have been told of a message that is due sooner.
const LONGEST_SLEEP_AMONG_OTHERS: Duration = Duration::from_secs(1);
/// A sleep is never longer than this: the wall clock may be set while we sleep.
const LONGEST_SLEEP: Duration = Duration::from_secs(60);
const AFTER_AN_ERROR: Duration = Duration::from_millis(500);
const PURGE_ROUND: Duration = Duration::from_secs(600);

/// Runs until it is dropped.
pub async fn expire(hub: Arc<Hub>) {
    let longest = if hub.store.is_shared() {
        LONGEST_SLEEP_AMONG_OTHERS
    } else {
        LONGEST_SLEEP
    };
    let mut unreadable = Vec::new();
    loop {
        hub.expiry_alarm.awake();
        let (next, pause) = match expire_what_is_due(&hub, &mut unreadable).await {
            // Strictly later than the instant itself, because until then an answer wins.
            Ok(Some(next)) => (
                Some(next),
                next.since(hub.store.clock().now()) + Duration::from_millis(1),
            ),
            Ok(None) => (None, longest),
            Err(error) => {
                tracing::error!(%error, "expiry could not run");
                (None, AFTER_AN_ERROR)
            }
        };
        hub.expiry_alarm.sleep(next, pause.min(longest)).await;
    }
}

/// Says when the next message is due. Those that turn out to be unreadable are passed over from then on.
async fn expire_what_is_due(hub: &Hub, unreadable: &mut Vec<MessageId>) -> Result<Option<Timestamp>, StoreError> {
    let mut most = if hub.store.is_shared() {
        BATCH_AMONG_OTHERS
    } else {
        BATCH
    };
    while is_overdue_at(next_expiry(hub, unreadable).await?, hub.store.clock().now()) {
        let expired = in_smaller_portions(&mut most, |most| hub.store.run(portion(most, unreadable))).await;
        let Expired {
            applied,
            unreadable: found,
        } = expired.inspect_err(|error| hub.may_be_done(error))?;
        hub.indexer.active();
        applied.iter().for_each(|applied| hub.announce(applied));
        if applied.is_empty() && found.is_empty() {
            // Others are at it.
            break;
        }
        unreadable.extend(found);
    }
    next_expiry(hub, unreadable).await
}

fn portion(most: i64, unreadable: &[MessageId]) -> ExpireDue {
    let resolution_ids = (0..most).map(|_| ResolutionId::from_uuid(Uuid::new_v4())).collect();
    ExpireDue {
        resolution_ids,
        passing_over: unreadable.to_vec(),
    }
}

async fn next_expiry(hub: &Hub, unreadable: &[MessageId]) -> Result<Option<Timestamp>, StoreError> {
    hub.store
        .run(NextExpiry {
            passing_over: unreadable.to_vec(),
        })
        .await
}

/// With half as many each time the store cannot do so many in time: the same again would fail again, for ever.
async fn in_smaller_portions<T, F>(most: &mut i64, run: impl Fn(i64) -> F) -> Result<T, StoreError>
where
    F: Future<Output = Result<T, StoreError>>,
{
    loop {
        match run(*most).await {
            Err(StoreError::Unavailable(_)) if *most > 1 => *most /= 2,
            done => return done,
        }
    }
}

pub async fn purge(hub: Arc<Hub>) {
    let retention = Duration::from_secs(u64::from(hub.config.retention_days) * 24 * 3600);
    loop {
        let purged = purge_what_is_old(&hub, retention).await;
        if let Err(error) = purged.and(purge_old_runs(&hub, retention).await) {
            tracing::error!(%error, "retention could not run");
        }
        if hub.store.is_shared()
            && let Err(error) = forget_rates(&hub).await
        {
            tracing::error!(%error, "limits that nobody uses could not be forgotten");
        }
        tokio::time::sleep(PURGE_ROUND).await;
    }
}

/// Until none is left.
async fn forget_rates(hub: &Hub) -> Result<(), StoreError> {
    let mut most = MOST_RATES;
    loop {
        let forgotten = in_smaller_portions(&mut most, |limit| hub.store.run(ForgetRates { limit })).await?;
        if forgotten < most.unsigned_abs() {
            return Ok(());
        }
    }
}

pub async fn purge_what_is_old(hub: &Hub, retention: Duration) -> Result<(), StoreError> {
    let mut most = BATCH;
    loop {
        let resolved_before = hub.store.clock().now().minus(retention);
        let oldest = hub.store.run(OldestResolved).await?;
        if oldest.is_none_or(|oldest| oldest >= resolved_before) {
            return Ok(());
        }
        let purge = |limit| hub.store.run(Purge { resolved_before, limit });
        let emptied = in_smaller_portions(&mut most, purge).await?;
        tracing::info!(emptied, "retention emptied messages");
    }
}

async fn purge_old_runs(hub: &Hub, retention: Duration) -> Result<(), StoreError> {
    let mut most = BATCH;
    loop {
        let ended_before = hub.store.clock().now().minus(retention);
        let oldest = hub.store.run(OldestEndedRun).await?;
        if oldest.is_none_or(|oldest| oldest >= ended_before) {
            return Ok(());
        }
        let purge = |limit| hub.store.run(PurgeRuns { ended_before, limit });
        let forgotten = in_smaller_portions(&mut most, purge).await?;
        tracing::info!(forgotten, "retention forgot runs");
    }
}

#[cfg(test)]
mod tests {
    use std::future::ready;
    use std::sync::Mutex;

    use super::*;

    #[tokio::test]
    async fn what_takes_too_long_is_tried_with_fewer_until_it_is_done() {
        let tried = Mutex::new(Vec::new());
        let mut most = 256;
        let slow = |limit| {
            tried.lock().unwrap().push(limit);
            let late = || StoreError::Unavailable("it did not answer in time".to_owned());
            ready(if limit > 32 { Err(late()) } else { Ok(limit) })
        };
        assert_eq!(in_smaller_portions(&mut most, slow).await.unwrap(), 32);
        assert_eq!(
            in_smaller_portions(&mut most, slow).await.unwrap(),
            32,
            "and the next one begins there"
        );
        assert_eq!(*tried.lock().unwrap(), [256, 128, 64, 32, 32]);
    }

    #[tokio::test]
    async fn a_store_that_does_nothing_at_all_is_not_tried_for_ever() {
        let mut most = 256;
        let away = |_| ready(Err::<(), _>(StoreError::Unavailable("away".to_owned())));
        assert!(in_smaller_portions(&mut most, away).await.is_err());
        assert_eq!(most, 1);
        let mut most = 256;
        let corrupt = |_| ready(Err::<(), _>(StoreError::Corrupt("a row".to_owned())));
        assert!(in_smaller_portions(&mut most, corrupt).await.is_err());
        assert_eq!(most, 256, "fewer would not help");
    }
}
