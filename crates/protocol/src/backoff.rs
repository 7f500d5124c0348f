//! Jittered exponential backoff between attempts.

use std::time::Duration;

/// Pauses that double from `first` to `max`. Half of each pause is jitter, so that those who failed together do not
/// all retry at the same moment.
#[derive(Debug, Clone, Copy)]
pub struct Backoff {
    first: Duration,
    max: Duration,
    next: Duration,
}

impl Backoff {
    pub fn new(first: Duration, max: Duration) -> Self {
        let first = first.min(max);
        Self {
            first,
            max,
            next: first,
        }
    }

    /// Returns the pause before the next attempt.
    #[expect(clippy::disallowed_methods, reason = "jitter is no part of any result")]
    pub fn pause(&mut self) -> Duration {
        let pause = self.next;
        self.next = pause.saturating_mul(2).min(self.max);
        let chance = getrandom::u32().map_or(0.5, |random| f64::from(random) / f64::from(u32::MAX));
        pause.mul_f64(0.5 + chance / 2.0)
    }

    pub fn reset(&mut self) {
        self.next = self.first;
    }

    /// Whether the next pause is the first, shortest one.
    pub fn is_reset(&self) -> bool {
        self.next == self.first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_maximum_and_start_over_after_a_reset() {
        let mut backoff = Backoff::new(Duration::from_millis(200), Duration::from_secs(1));
        for limit in [200, 400, 800, 1000, 1000] {
            let pause = backoff.pause();
            assert!(
                pause <= Duration::from_millis(limit) && pause >= Duration::from_millis(limit / 2),
                "{pause:?}"
            );
        }
        assert!(!backoff.is_reset());
        backoff.reset();
        assert!(backoff.is_reset());
        assert!(backoff.pause() <= Duration::from_millis(200));
    }

    #[test]
    fn a_first_pause_above_the_maximum_is_bounded() {
        let mut backoff = Backoff::new(Duration::MAX, Duration::from_secs(30));
        assert!(backoff.pause() <= Duration::from_secs(30));
        assert!(backoff.pause() <= Duration::from_secs(30));
    }
}
