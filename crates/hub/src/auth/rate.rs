//! How often one agent, or the terminals of one person, may write.

use std::num::NonZeroU32;

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use super::caller::TerminalCaller;
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
        self.check_key(agent_id.to_owned(), "this agent")
    }

    /// All of them together: each agent in a terminal takes a name by itself.
    pub fn check_terminals(&self, caller: &TerminalCaller) -> Result<(), Problem> {
        self.check_key(caller.key(), "your terminals")
    }

    fn check_key(&self, key: String, whom: &str) -> Result<(), Problem> {
        let Some(limiter) = &self.limiter else { return Ok(()) };
        limiter.check_key(&key).map_err(|until| {
            let wait = until.wait_time_from(self.clock.now());
            Problem::RateLimited {
                retry_after_seconds: wait.as_secs() + 1,
                message: format!("too many requests from {whom}; wait as long as Retry-After says"),
            }
        })
    }
}
