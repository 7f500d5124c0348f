//! The retry schedule for delivering a resolution to its agent.

use std::time::Duration;

use countersign_protocol::time::Timestamp;
use serde::{Deserialize, Serialize};

/// The wire promises at least five attempts.
pub const MIN_ATTEMPTS: u32 = 5;
const MAX_DELAY: Duration = Duration::from_secs(3600);
/// The longest delay with its jitter. A retry further ahead was planned by a clock that has been set back since.
pub const MAX_DELAY_WITH_JITTER: Duration = Duration::from_secs(4320);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    pub max_attempts: u32,
    pub max_duration: Duration,
    pub first_retry: Duration,
}

impl Schedule {
    /// The time of the next attempt after `attempts` failed ones; `None` when the schedule is exhausted. `jitter` is a
    /// number in 0..1 that spreads the delay over ±20 %, so that a recovering receiver is not flooded.
    pub fn next_attempt(&self, attempts: u32, created_at: Timestamp, now: Timestamp, jitter: f64) -> Option<Timestamp> {
        if attempts >= self.max_attempts {
            return None;
        }
        let doublings = attempts.saturating_sub(1).min(30);
        let delay = self.first_retry.saturating_mul(1 << doublings).min(MAX_DELAY);
        let next = now.plus(delay.mul_f64(0.8 + 0.4 * jitter.clamp(0.0, 1.0)));
        (next <= created_at.plus(self.max_duration)).then_some(next)
    }
}

/// The result of one attempt. 3xx and 4xx are final; all other failures are retried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attempt {
    Delivered { status: u16 },
    Refused { reason: String },
    Failed { reason: String },
}

impl Attempt {
    pub fn from_status(status: u16) -> Self {
        match status {
            200..=299 => Self::Delivered { status },
            300..=399 => Self::Refused {
                reason: format!("answered {status}: redirects are not followed"),
            },
            400..=499 => Self::Refused {
                reason: format!("answered {status}"),
            },
            _ => Self::Failed {
                reason: format!("answered {status}"),
            },
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryState {
    Pending,
    Delivered,
    Failed,
}

impl DeliveryState {
    pub const ALL: [Self; 3] = [Self::Pending, Self::Delivered, Self::Failed];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Delivered => "delivered",
            Self::Failed => "failed",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEDULE: Schedule = Schedule {
        max_attempts: 6,
        max_duration: Duration::from_secs(3600),
        first_retry: Duration::from_secs(1),
    };

    #[test]
    fn delays_double_and_have_jitter() {
        let start = Timestamp::from_millis(0);
        let after = |attempts, jitter| {
            SCHEDULE
                .next_attempt(attempts, start, start, jitter)
                .map(Timestamp::as_millis)
        };
        assert_eq!(after(1, 0.5), Some(1000));
        assert_eq!(after(2, 0.5), Some(2000));
        assert_eq!(after(5, 0.5), Some(16_000));
        assert_eq!(after(1, 0.0), Some(800));
        assert_eq!(after(1, 1.0), Some(1200));
        let patient = Schedule {
            max_attempts: 100,
            max_duration: Duration::MAX,
            ..SCHEDULE
        };
        let longest = patient.next_attempt(99, start, start, 1.0);
        assert_eq!(longest, Some(start.plus(MAX_DELAY_WITH_JITTER)));
    }

    #[test]
    fn retries_end_after_the_maximum_of_attempts_or_time() {
        let start = Timestamp::from_millis(0);
        assert_eq!(SCHEDULE.next_attempt(6, start, start, 0.5), None);
        assert_eq!(
            SCHEDULE.next_attempt(1, start, Timestamp::from_millis(3_600_000), 0.5),
            None
        );
    }

    #[test]
    fn only_server_errors_are_retried() {
        assert!(matches!(Attempt::from_status(204), Attempt::Delivered { .. }));
        assert!(matches!(Attempt::from_status(302), Attempt::Refused { .. }));
        assert!(matches!(Attempt::from_status(429), Attempt::Refused { .. }));
        assert!(matches!(Attempt::from_status(503), Attempt::Failed { .. }));
    }
}
