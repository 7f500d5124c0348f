//! Retention deletes for good, so it stops while the clock may be wrong.

use std::time::Duration;

use countersign_protocol::time::Timestamp;
use serde::{Deserialize, Serialize};

/// A clock that moves further ahead than this between two checks may be wrong.
const MAX_STEP: Duration = Duration::from_secs(24 * 3600);
/// How long a clock that leaped ahead has to run evenly before retention believes it.
const PROBATION: Duration = Duration::from_secs(24 * 3600);

/// The times at which retention looked at the clock, stored from one check to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetentionClock {
    pub trusted_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<ClockDoubt>,
}

/// A clock that leaped ahead of `trusted_at`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockDoubt {
    pub since: Timestamp,
    pub checked_at: Timestamp,
}

impl RetentionClock {
    pub fn trusting(now: Timestamp) -> Self {
        Self {
            trusted_at: now,
            doubt: None,
        }
    }

    /// The state after another look at the clock. Retention may delete only without a doubt.
    pub fn check(self, now: Timestamp) -> Self {
        if now <= self.trusted_at.plus(MAX_STEP) {
            return Self::trusting(now);
        }
        // Another leap, or a step back that leaves the clock ahead, begins the probation again.
        let is_even = |doubt: &ClockDoubt| (doubt.since..=doubt.checked_at.plus(MAX_STEP)).contains(&now);
        let since = self.doubt.filter(is_even).map_or(now, |doubt| doubt.since);
        if now >= since.plus(PROBATION) {
            return Self::trusting(now);
        }
        Self {
            doubt: Some(ClockDoubt { since, checked_at: now }),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);
    const START: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    fn is_trusted_at(clock: &mut RetentionClock, now: Timestamp) -> bool {
        *clock = clock.check(now);
        clock.doubt.is_none()
    }

    #[test]
    fn clock_that_runs_evenly_is_trusted() {
        let mut clock = RetentionClock::trusting(START);
        for hours in [0, 1, 25, 26, 3] {
            assert!(is_trusted_at(&mut clock, START.plus(HOUR * hours)), "after {hours} h");
        }
    }

    #[test]
    fn leap_is_believed_after_a_day_of_even_running() {
        let mut clock = RetentionClock::trusting(START);
        let leap = START.plus(HOUR * 24 * 40);
        for hours in 0..24 {
            assert!(!is_trusted_at(&mut clock, leap.plus(HOUR * hours)), "after {hours} h");
        }
        assert!(is_trusted_at(&mut clock, leap.plus(HOUR * 24)));
    }

    #[test]
    fn clock_that_is_set_right_is_trusted_at_once() {
        let mut clock = RetentionClock::trusting(START);
        assert!(!is_trusted_at(&mut clock, START.plus(HOUR * 24 * 40)));
        assert!(is_trusted_at(&mut clock, START.plus(HOUR)));
    }

    #[test]
    fn another_leap_begins_the_probation_again() {
        let mut clock = RetentionClock::trusting(START);
        for days in [40, 80, 60] {
            assert!(!is_trusted_at(&mut clock, START.plus(HOUR * 24 * days)), "{days} days");
        }
        assert!(is_trusted_at(&mut clock, START.plus(HOUR * 24 * 61)));
    }
}
