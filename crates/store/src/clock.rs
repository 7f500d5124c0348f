//! The hub's clock: the source of every timestamp and expiry check. Tests set it by hand.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use countersign_protocol::time::Timestamp;

pub trait Clock: Send + Sync + 'static {
    fn now(&self) -> Timestamp;

    /// Whether a store on a shared database reads that database's clock inside each transaction instead of this one.
    fn follows_database(&self) -> bool {
        false
    }

    /// Takes a reading of the database's clock. `asked_at` is the machine's own time when the reading was requested.
    fn observe(&self, _asked_at: Timestamp, _database_now: Timestamp) {}
}

/// Readings with a longer round trip are too inaccurate to use.
const MAX_ROUND_TRIP: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    fn now(&self) -> Timestamp {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_millis(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
    }
}

/// Follows the clock of the database. Transactions read the database's clock directly; everywhere else this gives the
/// machine's time plus the last observed offset, so that the hub's timestamps agree with the database's decisions.
#[derive(Debug, Default)]
pub struct DatabaseClock {
    offset_millis: AtomicI64,
}

impl Clock for DatabaseClock {
    fn now(&self) -> Timestamp {
        let ahead = self.offset_millis.load(Ordering::Relaxed);
        Timestamp::from_millis(SystemClock.now().as_millis().saturating_add(ahead))
    }

    fn follows_database(&self) -> bool {
        true
    }

    fn observe(&self, asked_at: Timestamp, database_now: Timestamp) {
        let now = SystemClock.now();
        // A stale reading would set the clock back by its own age.
        if now.since(asked_at) > MAX_ROUND_TRIP {
            return;
        }
        let ahead = database_now.as_millis().saturating_sub(now.as_millis());
        self.offset_millis.store(ahead, Ordering::Relaxed);
    }
}

/// Stands still until a test sets it.
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    pub fn at(now: Timestamp) -> Self {
        Self(AtomicI64::new(now.as_millis()))
    }

    pub fn set(&self, now: Timestamp) {
        self.0.store(now.as_millis(), Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    /// Whether the clock runs an hour ahead of the machine's clock.
    fn is_an_hour_ahead(clock: &DatabaseClock) -> bool {
        let before = SystemClock.now();
        let now = clock.now();
        let after = SystemClock.now();
        // `observe` read the machine's clock once more.
        let slack = Duration::from_secs(60);
        before.plus(HOUR).minus(slack) <= now && now <= after.plus(HOUR)
    }

    #[test]
    fn clock_follows_the_database() {
        let clock = DatabaseClock::default();
        assert!(!is_an_hour_ahead(&clock));
        clock.observe(SystemClock.now(), SystemClock.now().plus(HOUR));
        assert!(is_an_hour_ahead(&clock));
    }

    #[test]
    fn slow_reading_is_ignored() {
        let clock = DatabaseClock::default();
        clock.observe(SystemClock.now(), SystemClock.now().plus(HOUR));
        let long_ago = SystemClock.now().minus(Duration::from_secs(10));
        clock.observe(long_ago, long_ago);
        assert!(is_an_hour_ahead(&clock));
    }
}
