//! Waiting for a person: the hub holds each call until there is an answer or its time is over.

use std::cell::Cell;
use std::time::{Duration, Instant};

use super::failure::Failure;
use super::session::{GaveUp, Pause, Remarks, Seat};
use super::wire::{Cued, Status};

/// As long as the hub holds a call at most.
const LONGEST_WAIT: Duration = Duration::from_secs(55);
/// What a reply may take beyond the time it was asked to wait.
const LATENESS: Duration = Duration::from_secs(15);
/// With the caller's own limit near there is less to give away.
const LATENESS_AT_THE_END: Duration = Duration::from_millis(500);
/// A hub that is told to stop answers at once; it must not be asked again and again meanwhile.
const TOO_SOON: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub enum Waited {
    Settled(Box<Cued>),
    /// `--max-wait` is over.
    StillOpen {
        hub_is_away: bool,
    },
}

pub fn wait(seat: &mut Seat, id: &str, deadline: Option<Instant>) -> Result<Waited, Failure> {
    let mut pause = Pause::new();
    loop {
        let asked_at = Instant::now();
        let is_again = Cell::new(false);
        let looked = seat.insist(deadline, Remarks::Told, |hub| {
            let (wait_seconds, patience) = spans(deadline, Instant::now());
            // A hub that comes back says so at once, not with its answer.
            hub.look(id, if is_again.replace(true) { 0 } else { wait_seconds }, patience)
        });
        match looked {
            Ok(Cued {
                status: Status::Open, ..
            }) => {}
            Ok(settled) => return Ok(Waited::Settled(Box::new(settled))),
            Err(GaveUp::InTime(_)) => return Ok(Waited::StillOpen { hub_is_away: true }),
            Err(GaveUp::ForGood(error)) => return Err(error.into()),
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Ok(Waited::StillOpen { hub_is_away: false });
        }
        if asked_at.elapsed() < TOO_SOON {
            pause.take(deadline);
        } else {
            pause = Pause::new();
        }
    }
}

/// How many seconds the hub is asked to wait, and how long its reply is waited for.
fn spans(deadline: Option<Instant>, now: Instant) -> (u64, Duration) {
    let left = deadline.map(|deadline| deadline.saturating_duration_since(now));
    match left {
        Some(left) if left < LONGEST_WAIT => (left.as_secs_f64().ceil() as u64, left + LATENESS_AT_THE_END),
        Some(_) | None => (LONGEST_WAIT.as_secs(), LONGEST_WAIT + LATENESS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_call_ends_with_the_callers_own_limit() {
        let now = Instant::now();
        assert_eq!(spans(None, now), (55, Duration::from_secs(70)));
        assert_eq!(
            spans(Some(now + Duration::from_secs(600)), now),
            (55, Duration::from_secs(70))
        );
        assert_eq!(
            spans(Some(now + Duration::from_millis(2500)), now),
            (3, Duration::from_secs(3))
        );
        assert_eq!(spans(Some(now), now), (0, Duration::from_millis(500)));
    }
}
