//! Timers for expiry, for the end of holds and for retention. They sleep while there is nothing due.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use countersign_core::decide::is_overdue_at;
use countersign_core::retention::RetentionClock;
use countersign_protocol::id::ResolutionId;
use countersign_protocol::time::Timestamp;
use countersign_store::StoreError;
use countersign_store::ops::account::rate_limit::ForgetRates;
use countersign_store::ops::message::hold::{NextRelease, ReleaseDue};
use countersign_store::ops::message::retention_clock::CheckRetentionClock;
use countersign_store::ops::message::sweep::{ExpireDue, NextExpiry, OldestResolved, Purge, Swept};
use countersign_store::ops::run::{OldestEndedRun, PurgeRuns};
use tokio::sync::Notify;
use tokio::time::timeout;
use uuid::Uuid;

use super::Messages;

/// Wakes a timer when new work is due before its next wake-up.
#[derive(Default)]
pub struct Alarm {
    notify: Notify,
    sleeps_until: AtomicI64,
}

impl Alarm {
    /// Call after the work is committed.
    pub fn due(&self, at: Timestamp) {
        if at.as_millis() < self.sleeps_until.load(Ordering::SeqCst) {
            self.notify.notify_one();
        }
    }

    /// Until the timer sleeps again, all new work wakes it: it may have read the next due time already.
    fn awake(&self) {
        self.sleeps_until.store(i64::MAX, Ordering::SeqCst);
    }

    async fn sleep(&self, until: Option<Timestamp>, max: Duration) {
        self.sleeps_until
            .store(until.map_or(i64::MAX, Timestamp::as_millis), Ordering::SeqCst);
        drop(timeout(max, self.notify.notified()).await);
    }
}

const BATCH_ROWS: i64 = 256;
/// Smaller on a shared store, where the transaction locks the agents of the expiring messages.
const SHARED_STORE_BATCH_ROWS: i64 = 32;
const RATE_BATCH_ROWS: i64 = 10_000;
/// Another node may have accepted a message that is due sooner.
const SHARED_STORE_MAX_SLEEP: Duration = Duration::from_secs(1);
/// Bounded, because the wall clock may be set during the sleep.
const MAX_SLEEP: Duration = Duration::from_secs(60);
const ERROR_RETRY_DELAY: Duration = Duration::from_millis(500);
const MIN_HELD_PAUSE: Duration = Duration::from_millis(20);
const MAX_HELD_PAUSE: Duration = Duration::from_secs(1);
const PURGE_INTERVAL: Duration = Duration::from_secs(600);

/// Work that falls due at the time that a message row has.
#[derive(Clone, Copy)]
pub enum DueWork {
    Expiry,
    /// The end of a hold.
    Release,
}

impl DueWork {
    fn alarm(self, messages: &Messages) -> &Alarm {
        match self {
            Self::Expiry => &messages.expiry_alarm,
            Self::Release => &messages.release_alarm,
        }
    }

    async fn next(self, messages: &Messages, unreadable: &[String]) -> Result<Option<Timestamp>, StoreError> {
        let skipped = unreadable.to_vec();
        match self {
            Self::Expiry => messages.parts.store.run(NextExpiry { skipped }).await,
            Self::Release => messages.parts.store.run(NextRelease { skipped }).await,
        }
    }

    async fn sweep(self, messages: &Messages, batch_rows: i64, unreadable: &[String]) -> Result<Swept, StoreError> {
        let skipped = unreadable.to_vec();
        match self {
            Self::Expiry => {
                let resolution_ids = (0..batch_rows)
                    .map(|_| ResolutionId::from_uuid(Uuid::new_v4()))
                    .collect();
                let expire = ExpireDue {
                    resolution_ids,
                    skipped,
                };
                messages.parts.store.run(expire).await
            }
            Self::Release => {
                let limit = usize::try_from(batch_rows).unwrap_or_default();
                messages.parts.store.run(ReleaseDue { limit, skipped }).await
            }
        }
    }

    fn log_failure(self, error: &StoreError) {
        match self {
            Self::Expiry => tracing::error!(%error, "expiring messages failed; retrying"),
            Self::Release => tracing::error!(%error, "releasing decisions on hold failed; retrying"),
        }
    }
}

/// Runs until dropped.
pub async fn expire(messages: &Messages) {
    run_timer(messages, DueWork::Expiry).await;
}

/// Runs until dropped.
pub async fn release(messages: &Messages) {
    run_timer(messages, DueWork::Release).await;
}

async fn run_timer(messages: &Messages, work: DueWork) {
    let max_sleep = if messages.parts.store.is_shared() {
        SHARED_STORE_MAX_SLEEP
    } else {
        MAX_SLEEP
    };
    let mut unreadable = Vec::new();
    let mut backoff = HeldBackoff::default();
    loop {
        work.alarm(messages).awake();
        let (until, pause) = match sweep_due(messages, work, &mut unreadable).await {
            Ok(Some(next)) => {
                let now = messages.parts.store.clock().now();
                let pause = backoff.pause_until(next, now).min(max_sleep);
                (Some(now.plus(pause)), pause)
            }
            Ok(None) => (None, max_sleep),
            Err(error) => {
                work.log_failure(&error);
                (None, ERROR_RETRY_DELAY)
            }
        };
        work.alarm(messages).sleep(until, pause).await;
    }
}

/// Exponential backoff while an overdue message cannot be ended here, because another node has locked it.
#[derive(Default)]
struct HeldBackoff {
    last_pause: Duration,
}

impl HeldBackoff {
    /// How long to sleep until the message that is due next can be ended.
    fn pause_until(&mut self, next: Timestamp, now: Timestamp) -> Duration {
        if !is_overdue_at(Some(next), now) {
            self.last_pause = Duration::ZERO;
            // Strictly after the instant, because until then an answer wins.
            return next.since(now) + Duration::from_millis(1);
        }
        self.last_pause = (self.last_pause * 2).clamp(MIN_HELD_PAUSE, MAX_HELD_PAUSE);
        self.last_pause
    }
}

/// Ends all due messages and returns when the next one is due. Unreadable messages are skipped from then on.
pub async fn sweep_due(
    messages: &Messages,
    work: DueWork,
    unreadable: &mut Vec<String>,
) -> Result<Option<Timestamp>, StoreError> {
    let mut batch_rows = if messages.parts.store.is_shared() {
        SHARED_STORE_BATCH_ROWS
    } else {
        BATCH_ROWS
    };
    while is_overdue_at(
        work.next(messages, unreadable).await?,
        messages.parts.store.clock().now(),
    ) {
        let swept = with_shrinking_batch(&mut batch_rows, |batch_rows| {
            work.sweep(messages, batch_rows, unreadable)
        })
        .await;
        let Swept {
            applied,
            unreadable: found,
        } = swept.inspect_err(|error| messages.resync_if_unsure(error))?;
        messages.parts.indexer.note_activity();
        applied.iter().for_each(|applied| messages.announce(applied));
        if applied.is_empty() && found.is_empty() {
            // Another node is ending them.
            break;
        }
        unreadable.extend(found.into_iter().map(|message| message.id));
    }
    work.next(messages, unreadable).await
}

/// Halves the batch each time the store cannot finish it in time; the same batch would fail forever.
async fn with_shrinking_batch<T, F>(batch_rows: &mut i64, run: impl Fn(i64) -> F) -> Result<T, StoreError>
where
    F: Future<Output = Result<T, StoreError>>,
{
    loop {
        match run(*batch_rows).await {
            Err(StoreError::Unavailable(_)) if *batch_rows > 1 => *batch_rows /= 2,
            done => return done,
        }
    }
}

pub async fn purge(messages: &Messages, retention: Duration) {
    let mut has_warned = false;
    loop {
        match purge_once(messages, retention).await {
            Ok(doubted) => {
                if let Some(clock) = doubted
                    && !has_warned
                {
                    warn_of_leap(&clock, messages.parts.store.clock().now());
                }
                has_warned = doubted.is_some();
            }
            Err(error) => tracing::error!(%error, "purging old messages and runs failed; retrying"),
        }
        if messages.parts.store.is_shared()
            && let Err(error) = forget_rates(messages).await
        {
            tracing::error!(%error, "deleting unused rate-limit rows failed; retrying");
        }
        tokio::time::sleep(PURGE_INTERVAL).await;
    }
}

/// Purges messages and runs that are past their retention, unless the clock leaped ahead; then the doubted clock is
/// returned.
pub async fn purge_once(messages: &Messages, retention: Duration) -> Result<Option<RetentionClock>, StoreError> {
    let clock = messages.parts.store.run(CheckRetentionClock).await?;
    if clock.doubt.is_some() {
        return Ok(Some(clock));
    }
    let before = clock.trusted_at.minus(retention);
    let purged = purge_old_messages(messages, before).await;
    purged.and(purge_old_runs(messages, before).await)?;
    Ok(None)
}

fn warn_of_leap(clock: &RetentionClock, now: Timestamp) {
    tracing::warn!(
        last_check = %clock.trusted_at,
        %now,
        "retention paused: the clock is more than a day ahead of the last check; set the clock right, or leave it \
         running for 24 hours if it is right"
    );
}

/// Deletes unused rate-limit rows until none is left.
async fn forget_rates(messages: &Messages) -> Result<(), StoreError> {
    let mut batch_rows = RATE_BATCH_ROWS;
    loop {
        let forgotten =
            with_shrinking_batch(&mut batch_rows, |limit| messages.parts.store.run(ForgetRates { limit })).await?;
        if forgotten < batch_rows.unsigned_abs() {
            return Ok(());
        }
    }
}

async fn purge_old_messages(messages: &Messages, resolved_before: Timestamp) -> Result<(), StoreError> {
    let mut batch_rows = BATCH_ROWS;
    loop {
        let oldest = messages.parts.store.run(OldestResolved).await?;
        if oldest.is_none_or(|oldest| oldest >= resolved_before) {
            return Ok(());
        }
        let purge = |limit| messages.parts.store.run(Purge { resolved_before, limit });
        let emptied = with_shrinking_batch(&mut batch_rows, purge).await?;
        tracing::info!(emptied, "retention purged messages");
    }
}

async fn purge_old_runs(messages: &Messages, ended_before: Timestamp) -> Result<(), StoreError> {
    let mut batch_rows = BATCH_ROWS;
    loop {
        let oldest = messages.parts.store.run(OldestEndedRun).await?;
        if oldest.is_none_or(|oldest| oldest >= ended_before) {
            return Ok(());
        }
        let purge = |limit| messages.parts.store.run(PurgeRuns { ended_before, limit });
        let forgotten = with_shrinking_batch(&mut batch_rows, purge).await?;
        tracing::info!(forgotten, "retention deleted runs");
    }
}

#[cfg(test)]
mod tests {
    use std::future::ready;
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn sweep_backs_off_while_another_node_holds_an_overdue_message() {
        let now = Timestamp::from_millis(1_800_000_000_000);
        let mut backoff = HeldBackoff::default();
        let soon = now.plus(Duration::from_millis(300));
        assert_eq!(backoff.pause_until(soon, now), Duration::from_millis(301));
        let overdue = now.minus(Duration::from_millis(1));
        let pauses: Vec<_> = (0..8).map(|_| backoff.pause_until(overdue, now).as_millis()).collect();
        assert_eq!(pauses, [20, 40, 80, 160, 320, 640, 1000, 1000]);
        backoff.pause_until(soon, now);
        assert_eq!(backoff.pause_until(overdue, now), MIN_HELD_PAUSE, "it starts anew");
    }

    #[tokio::test]
    async fn slow_batch_shrinks_until_it_succeeds() {
        let tried = Mutex::new(Vec::new());
        let mut batch_rows = 256;
        let slow = |limit| {
            tried.lock().unwrap().push(limit);
            let late = || StoreError::Unavailable("the database did not respond in time".to_owned());
            ready(if limit > 32 { Err(late()) } else { Ok(limit) })
        };
        assert_eq!(with_shrinking_batch(&mut batch_rows, slow).await.unwrap(), 32);
        assert_eq!(
            with_shrinking_batch(&mut batch_rows, slow).await.unwrap(),
            32,
            "the next batch keeps the smaller size"
        );
        assert_eq!(*tried.lock().unwrap(), [256, 128, 64, 32, 32]);
    }

    #[tokio::test]
    async fn failing_store_ends_the_retries() {
        let mut batch_rows = 256;
        let away = |_| ready(Err::<(), _>(StoreError::Unavailable("away".to_owned())));
        assert!(with_shrinking_batch(&mut batch_rows, away).await.is_err());
        assert_eq!(batch_rows, 1);
        let mut batch_rows = 256;
        let corrupt = |_| ready(Err::<(), _>(StoreError::Corrupt("a row".to_owned())));
        assert!(with_shrinking_batch(&mut batch_rows, corrupt).await.is_err());
        assert_eq!(batch_rows, 256, "a smaller batch would not help");
    }
}
