//! One clock for a hub: it stamps, it expires, and tests turn its hands.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use countersign_protocol::time::Timestamp;

pub trait Clock: Send + Sync + 'static {
    fn now(&self) -> Timestamp;

    /// Whether a store on a database that several hubs share asks that database instead, inside each transaction.
    fn follows_database(&self) -> bool {
        false
    }

    /// What the database's clock showed a moment ago.
    fn observe(&self, _database_now: Timestamp) {}
}

#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_millis(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
    }
}

/// Follows the clock of the database. Inside a transaction the store asks it; everywhere else this gives the machine's
/// time, moved by the difference that was last seen, so that what a hub stamps fits what the database decides.
#[derive(Debug, Default)]
pub struct DatabaseClock {
    ahead_millis: AtomicI64,
}

impl Clock for DatabaseClock {
    fn now(&self) -> Timestamp {
        let ahead = self.ahead_millis.load(Ordering::Relaxed);
        Timestamp::from_millis(SystemClock.now().as_millis().saturating_add(ahead))
    }

    fn follows_database(&self) -> bool {
        true
    }

    fn observe(&self, database_now: Timestamp) {
        let ahead = database_now.as_millis().saturating_sub(SystemClock.now().as_millis());
        self.ahead_millis.store(ahead, Ordering::Relaxed);
    }
}

/// Stands still until told.
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
