//! How often one agent may write.

use std::num::NonZeroU32;

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use crate::problem::Problem;

pub struct RateLimit {
    limiter: Option<DefaultKeyedRateLimiter<String>>,
    clock: DefaultClock,
}

impl RateLimit {
    pub fn per_minute(requests: Option<NonZeroU32>) -> Self {
        let limiter = requests.map(|requests| RateLimiter::keyed(Quota::per_minute(requests)));
        Self { limiter, clock: DefaultClock::default() }
    }

    pub fn check(&self, agent_id: &str) -> Result<(), Problem> {
        let Some(limiter) = &self.limiter else { return Ok(()) };
        limiter.check_key(&agent_id.to_owned()).map_err(|until| {
            let wait = until.wait_time_from(self.clock.now());
            Problem::RateLimited {
                retry_after_seconds: wait.as_secs() + 1,
                message: "too many requests from this agent; wait as long as Retry-After says".to_owned(),
            }
        })
    }
}
