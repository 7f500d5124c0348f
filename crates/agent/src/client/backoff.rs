//! Jittered exponential backoff.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use countersign_protocol::retry_after;
use countersign_protocol::time::Timestamp;
use http::{HeaderMap, header};

/// Pauses that double from `first` to `max`. Half of each pause is jitter, so that agents do not all retry at the same
/// moment after a hub outage.
#[derive(Debug, Clone, Copy)]
pub(super) struct Backoff {
    first: Duration,
    max: Duration,
    next: Duration,
}

impl Backoff {
    pub fn new(first: Duration, max: Duration) -> Self {
        Self {
            first,
            max,
            next: first,
        }
    }

    /// Returns the next pause, at least as long as `retry_after`. The caller decides whether that is too long.
    pub fn pause(&mut self, retry_after: Option<Duration>) -> Duration {
        let pause = jittered(self.next);
        self.next = (self.next * 2).min(self.max);
        pause.max(retry_after.unwrap_or_default())
    }

    pub fn reset(&mut self) {
        self.next = self.first;
    }
}

fn jittered(pause: Duration) -> Duration {
    let chance = getrandom::u32().map_or(0.5, |random| f64::from(random) / f64::from(u32::MAX));
    pause.mul_f64(0.5 + chance / 2.0)
}

pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    retry_after::read(headers.get(header::RETRY_AFTER)?.to_str().ok()?, now())
}

fn now() -> Timestamp {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(0).plus(elapsed)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn pauses_double_up_to_the_maximum_and_start_over_after_a_reset() {
        let mut backoff = Backoff::new(Duration::from_millis(200), Duration::from_secs(1));
        for limit in [200, 400, 800, 1000, 1000] {
            let pause = backoff.pause(None);
            assert!(
                pause <= Duration::from_millis(limit) && pause >= Duration::from_millis(limit / 2),
                "{pause:?}"
            );
        }
        backoff.reset();
        assert!(backoff.pause(None) <= Duration::from_millis(200));
    }

    #[test]
    fn retry_after_lengthens_the_pause() {
        let mut backoff = Backoff::new(Duration::from_millis(1), Duration::from_millis(1));
        assert_eq!(backoff.pause(Some(Duration::from_secs(7))), Duration::from_secs(7));
        assert_eq!(
            backoff.pause(Some(Duration::from_secs(3600))),
            Duration::from_secs(3600)
        );
    }

    #[test]
    fn a_retry_after_date_counts_from_now() {
        let after = |text: &str| {
            let value = HeaderValue::from_str(text).unwrap();
            retry_after(&HeaderMap::from_iter([(header::RETRY_AFTER, value)]))
        };
        assert_eq!(after("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::ZERO));
        assert!(after("Fri, 31 Dec 9998 23:59:59 GMT").unwrap() > Duration::from_secs(3600));
        assert_eq!(retry_after(&HeaderMap::new()), None);
    }
}
