//! When the database is away: nobody waits for a connection that was just refused to somebody else, and tries are spread.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::error::StoreError;

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

#[derive(Default)]
pub struct Outage(Mutex<Option<Away>>);

struct Away {
    /// Nobody tries before then.
    until: Instant,
    pause: Duration,
    why: String,
}

impl Outage {
    /// Why not to try now.
    pub fn check(&self, now: Instant) -> Result<(), StoreError> {
        match &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(away) if now < away.until => Err(StoreError::Unavailable(away.why.clone())),
            Some(_) | None => Ok(()),
        }
    }

    pub fn failed(&self, now: Instant, why: &StoreError) {
        let mut away = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let pause = away.as_ref().map_or(FIRST_PAUSE, |away| match now < away.until {
            // Several tried at once; that is one failure.
            true => away.pause,
            false => (away.pause * 2).min(LONGEST_PAUSE),
        });
        let why = match why {
            StoreError::Unavailable(why) => why.clone(),
            other => other.to_string(),
        };
        *away = Some(Away {
            until: now + spread(pause),
            pause,
            why,
        });
    }

    pub fn is_over(&self) {
        let mut away = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if away.is_some() {
            *away = None;
        }
    }
}

/// Between half of it and all of it, so that hubs do not come back together.
fn spread(pause: Duration) -> Duration {
    let random = u32::try_from(getrandom::u64().unwrap_or(0) % 1000).unwrap_or(0);
    pause / 2 + pause * random / 2000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_a_failure_nobody_tries_for_a_while_and_longer_each_time() {
        let outage = Outage::default();
        let now = Instant::now();
        let why = StoreError::Unavailable("refused".to_owned());
        assert!(outage.check(now).is_ok());
        outage.failed(now, &why);
        assert!(matches!(outage.check(now), Err(StoreError::Unavailable(said)) if said == "refused"));
        assert!(outage.check(now + FIRST_PAUSE).is_ok());
        let mut at = now;
        for _ in 0..10 {
            at += LONGEST_PAUSE * 2;
            outage.failed(at, &why);
        }
        assert!(
            outage.check(at + LONGEST_PAUSE / 3).is_err(),
            "by now it waits for about a second"
        );
        assert!(outage.check(at + LONGEST_PAUSE).is_ok(), "and never for longer");
        outage.is_over();
        assert!(outage.check(at).is_ok());
    }

    #[test]
    fn those_who_fail_together_fail_once() {
        let outage = Outage::default();
        let now = Instant::now();
        let why = StoreError::Unavailable("refused".to_owned());
        (0..20).for_each(|_| outage.failed(now, &why));
        assert!(outage.check(now + FIRST_PAUSE).is_ok());
    }
}
