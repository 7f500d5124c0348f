//! Counts live listeners, so that events are not rendered when there is no listener.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Grace period after the last listener leaves: browsers reconnect by themselves and resume where they were.
pub const LISTENER_GRACE: Duration = Duration::from_secs(60);

pub struct ListenerCount {
    active: AtomicUsize,
    began: Instant,
    /// End of the grace period in milliseconds since `began`; 0 until a listener has left.
    grace_until: AtomicU64,
}

impl ListenerCount {
    pub fn new() -> Self {
        Self {
            active: AtomicUsize::new(0),
            began: Instant::now(),
            grace_until: AtomicU64::new(0),
        }
    }

    pub fn is_active(&self) -> bool {
        self.active.load(Ordering::SeqCst) > 0 || self.is_in_grace(Instant::now)
    }

    fn is_in_grace(&self, now: impl FnOnce() -> Instant) -> bool {
        let until = self.grace_until.load(Ordering::SeqCst);
        until > 0 && self.millis(now()) < until
    }

    pub fn add(&self) {
        self.active.fetch_add(1, Ordering::SeqCst);
    }

    pub fn remove(&self) {
        self.remove_at(Instant::now());
    }

    fn remove_at(&self, now: Instant) {
        self.grace_until
            .store(self.millis(now + LISTENER_GRACE), Ordering::SeqCst);
        self.active.fetch_sub(1, Ordering::SeqCst);
    }

    fn millis(&self, instant: Instant) -> u64 {
        u64::try_from(instant.saturating_duration_since(self.began).as_millis()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listener_still_counts_during_the_grace_period() {
        let began = Instant::now();
        let count = ListenerCount {
            began,
            ..ListenerCount::new()
        };
        assert!(!count.is_active());
        count.add();
        assert!(count.is_active());
        count.remove_at(began);
        assert!(count.is_in_grace(|| began + LISTENER_GRACE - Duration::from_millis(1)));
        assert!(!count.is_in_grace(|| began + LISTENER_GRACE));
    }
}
