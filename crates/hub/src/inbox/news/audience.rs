//! Is anybody there to tell?

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Whoever leaves is still told for so long: browsers come back by themselves and want to go on where they were.
pub const LINGER: Duration = Duration::from_secs(60);

pub struct Audience {
    listening: AtomicUsize,
    began: Instant,
    /// In milliseconds since the beginning; nought while nobody has left yet.
    lingers_until: AtomicU64,
}

impl Audience {
    pub fn new() -> Self {
        Self {
            listening: AtomicUsize::new(0),
            began: Instant::now(),
            lingers_until: AtomicU64::new(0),
        }
    }

    pub fn is_there(&self) -> bool {
        self.listening.load(Ordering::SeqCst) > 0 || self.lingers(Instant::now)
    }

    fn lingers(&self, now: impl FnOnce() -> Instant) -> bool {
        let until = self.lingers_until.load(Ordering::SeqCst);
        until > 0 && self.millis(now()) < until
    }

    pub fn enter(&self) {
        self.listening.fetch_add(1, Ordering::SeqCst);
    }

    pub fn leave(&self) {
        self.leave_at(Instant::now());
    }

    fn leave_at(&self, now: Instant) {
        self.lingers_until.store(self.millis(now + LINGER), Ordering::SeqCst);
        self.listening.fetch_sub(1, Ordering::SeqCst);
    }

    fn millis(&self, instant: Instant) -> u64 {
        u64::try_from(instant.saturating_duration_since(self.began).as_millis()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_has_left_is_told_for_a_while_more() {
        let began = Instant::now();
        let audience = Audience {
            began,
            ..Audience::new()
        };
        assert!(!audience.is_there());
        audience.enter();
        assert!(audience.is_there());
        audience.leave_at(began);
        assert!(audience.lingers(|| began + LINGER - Duration::from_millis(1)));
        assert!(!audience.lingers(|| began + LINGER));
    }
}
