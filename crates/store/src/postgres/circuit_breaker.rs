//! A circuit breaker: while the database is unreachable, callers fail at once and reconnects are spread by jittered
//! backoff.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use countersign_protocol::backoff::Backoff;

use crate::error::StoreError;

const INITIAL_BACKOFF: Duration = Duration::from_millis(50);
const MAX_BACKOFF: Duration = Duration::from_secs(1);

#[derive(Default)]
pub struct CircuitBreaker(Mutex<Option<OpenCircuit>>);

struct OpenCircuit {
    /// No connection is attempted before this time.
    until: Instant,
    backoff: Backoff,
    reason: String,
}

impl CircuitBreaker {
    /// Fails with the last error while the circuit is open.
    pub fn check(&self, now: Instant) -> Result<(), StoreError> {
        match &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(open) if now < open.until => Err(StoreError::Unavailable(open.reason.clone())),
            Some(_) | None => Ok(()),
        }
    }

    pub fn record_failure(&self, now: Instant, reason: &StoreError) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let reason = match reason {
            StoreError::Unavailable(reason) => reason.clone(),
            other => other.to_string(),
        };
        let open = open.get_or_insert_with(|| OpenCircuit {
            until: now,
            backoff: Backoff::new(INITIAL_BACKOFF, MAX_BACKOFF),
            reason: String::new(),
        });
        open.reason = reason;
        // Concurrent attempts count as one failure.
        if now >= open.until {
            open.until = now + open.backoff.pause();
        }
    }

    pub fn record_success(&self) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if open.is_some() {
            *open = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_opens_the_circuit_for_longer() {
        let breaker = CircuitBreaker::default();
        let now = Instant::now();
        let reason = StoreError::Unavailable("refused".to_owned());
        assert!(breaker.check(now).is_ok());
        breaker.record_failure(now, &reason);
        assert!(matches!(breaker.check(now), Err(StoreError::Unavailable(reason)) if reason == "refused"));
        assert!(breaker.check(now + INITIAL_BACKOFF).is_ok());
        let mut at = now;
        for _ in 0..10 {
            at += MAX_BACKOFF * 2;
            breaker.record_failure(at, &reason);
        }
        assert!(
            breaker.check(at + MAX_BACKOFF / 3).is_err(),
            "by now it waits for about a second"
        );
        assert!(breaker.check(at + MAX_BACKOFF).is_ok(), "and never for longer");
        breaker.record_success();
        assert!(breaker.check(at).is_ok());
    }

    #[test]
    fn concurrent_failures_count_once() {
        let breaker = CircuitBreaker::default();
        let now = Instant::now();
        let reason = StoreError::Unavailable("refused".to_owned());
        (0..20).for_each(|_| breaker.record_failure(now, &reason));
        assert!(breaker.check(now + INITIAL_BACKOFF).is_ok());
        let breaker = CircuitBreaker::default();
        breaker.record_failure(now, &reason);
        breaker.record_failure(now + INITIAL_BACKOFF / 4, &reason);
        assert!(
            breaker.check(now + INITIAL_BACKOFF).is_ok(),
            "the pause is not extended"
        );
    }
}
