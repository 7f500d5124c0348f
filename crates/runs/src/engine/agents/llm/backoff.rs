//! Jittered exponential backoff between requests to an endpoint.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use countersign_protocol::retry_after;
use countersign_protocol::time::Timestamp;
use reqwest::header::{self, HeaderMap};

const MAX_PAUSE: Duration = Duration::from_secs(30);
/// A server that asks for a longer pause is not retried: an early retry would only make it worse.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(60);

/// The pause before retry number `retry`, counted from 0. Returns `None` if the server asks for too long a pause.
pub fn pause(first: Duration, retry: u32, requested: Option<Duration>) -> Option<Duration> {
    let doubled = first.saturating_mul(2u32.saturating_pow(retry)).min(MAX_PAUSE);
    let requested = requested.unwrap_or_default();
    (requested <= MAX_RETRY_AFTER).then(|| jittered(doubled).max(requested))
}

/// Jitter of 50 %, so that a thousand runs do not retry at the same moment.
fn jittered(pause: Duration) -> Duration {
    let chance = getrandom::u32().map_or(0.5, |random| f64::from(random) / f64::from(u32::MAX));
    pause.mul_f64(0.5 + chance / 2.0)
}

pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    retry_after::read(headers.get(header::RETRY_AFTER)?.to_str().ok()?, now())
}

fn now() -> Timestamp {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(0).plus(elapsed)
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    #[test]
    fn pauses_double_and_stay_bounded() {
        let first = Duration::from_millis(500);
        for (retry, most) in [(0, 500), (1, 1000), (2, 2000), (9, 30_000), (u32::MAX, 30_000)] {
            let pause = pause(first, retry, None).unwrap();
            assert!(
                pause <= Duration::from_millis(most) && pause >= Duration::from_millis(most / 2),
                "{pause:?}"
            );
        }
    }

    #[test]
    fn the_server_may_ask_for_more_within_reason() {
        let first = Duration::from_millis(1);
        assert_eq!(
            pause(first, 0, Some(Duration::from_secs(7))),
            Some(Duration::from_secs(7))
        );
        assert_eq!(pause(first, 0, Some(Duration::from_secs(61))), None);
    }

    #[test]
    fn retry_after_counts_from_now() {
        let after = |text: &str| {
            let value = HeaderValue::from_str(text).unwrap();
            retry_after(&HeaderMap::from_iter([(header::RETRY_AFTER, value)]))
        };
        assert_eq!(after("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::ZERO));
        assert!(after("Fri, 31 Dec 9998 23:59:59 GMT").unwrap() > Duration::from_secs(3600));
        assert_eq!(retry_after(&HeaderMap::new()), None);
    }
}
