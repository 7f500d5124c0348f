//! Long-polling for an answer: the hub holds each call until the cue is settled or the wait time is over.

use std::cell::Cell;
use std::time::{Duration, Instant};

use super::failure::Failure;
use super::session::{HubSession, OutageNotices, RetryDelay, RetryError};
use super::wire::{CueStatus, CueView};

/// The longest time for which the hub holds a call.
const MAX_HOLD: Duration = Duration::from_secs(55);
/// Extra time for the reply after the requested wait.
const REPLY_GRACE: Duration = Duration::from_secs(15);
/// The same for the last call before the deadline, which leaves less time.
const LAST_REPLY_GRACE: Duration = Duration::from_millis(500);
/// A hub that shuts down answers long-polls at once. Faster replies than this make the loop back off.
const MIN_CALL_INTERVAL: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub enum WaitOutcome {
    Settled(Box<CueView>),
    /// `--max-wait` is over.
    StillOpen {
        hub_is_unreachable: bool,
    },
}

pub fn wait(session: &mut HubSession, id: &str, deadline: Option<Instant>) -> Result<WaitOutcome, Failure> {
    let mut delay = RetryDelay::new();
    loop {
        let asked_at = Instant::now();
        let is_retry = Cell::new(false);
        let polled = session.call_with_retry(deadline, OutageNotices::Printed, |hub| {
            let (wait_seconds, reply_timeout) = call_limits(deadline, Instant::now());
            // After an outage the first call does not wait, so that the reconnect is reported at once.
            hub.poll_cue(id, if is_retry.replace(true) { 0 } else { wait_seconds }, reply_timeout)
        });
        match polled {
            Ok(CueView {
                status: CueStatus::Open,
                ..
            }) => {}
            Ok(settled) => return Ok(WaitOutcome::Settled(Box::new(settled))),
            Err(RetryError::TimedOut(_)) => {
                return Ok(WaitOutcome::StillOpen {
                    hub_is_unreachable: true,
                });
            }
            Err(RetryError::Permanent(error)) => return Err(error.into()),
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Ok(WaitOutcome::StillOpen {
                hub_is_unreachable: false,
            });
        }
        if asked_at.elapsed() < MIN_CALL_INTERVAL {
            delay.sleep(deadline);
        } else {
            delay = RetryDelay::new();
        }
    }
}

/// The `wait` seconds of the call and the timeout for its reply.
fn call_limits(deadline: Option<Instant>, now: Instant) -> (u64, Duration) {
    let left = deadline.map(|deadline| deadline.saturating_duration_since(now));
    match left {
        Some(left) if left < MAX_HOLD => (left.as_secs_f64().ceil() as u64, left + LAST_REPLY_GRACE),
        Some(_) | None => (MAX_HOLD.as_secs(), MAX_HOLD + REPLY_GRACE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_call_ends_at_the_deadline() {
        let now = Instant::now();
        assert_eq!(call_limits(None, now), (55, Duration::from_secs(70)));
        assert_eq!(
            call_limits(Some(now + Duration::from_secs(600)), now),
            (55, Duration::from_secs(70))
        );
        assert_eq!(
            call_limits(Some(now + Duration::from_millis(2500)), now),
            (3, Duration::from_secs(3))
        );
        assert_eq!(call_limits(Some(now), now), (0, Duration::from_millis(500)));
    }
}
