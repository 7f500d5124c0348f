//! The rate limit for writes of one agent, or of all terminals of one person. A single node counts in memory; nodes on
//! a shared store count in the store, so that the limit does not depend on their number.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use countersign_store::Store;
use countersign_store::ops::account::rate_limit::{Admission, Admit};
use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use crate::problem::Problem;

pub enum RequestLimiter {
    Unlimited,
    InMemory {
        limiter: DefaultKeyedRateLimiter<String>,
        clock: DefaultClock,
    },
    InStore {
        store: Arc<Store>,
        per_minute: NonZeroU32,
    },
}

impl RequestLimiter {
    pub fn per_minute(requests: Option<NonZeroU32>, store: &Arc<Store>) -> Self {
        match requests {
            None => Self::Unlimited,
            Some(per_minute) if store.is_shared() => Self::InStore {
                store: Arc::clone(store),
                per_minute,
            },
            Some(requests) => Self::InMemory {
                limiter: RateLimiter::keyed(Quota::per_minute(requests)),
                clock: DefaultClock::default(),
            },
        }
    }

    pub async fn check(&self, agent_id: &str) -> Result<(), Problem> {
        self.check_key(agent_id.to_owned(), "this agent").await
    }

    /// One limit for all terminals of a person, because agents in terminals choose their own names.
    pub async fn check_terminals(&self, key: String) -> Result<(), Problem> {
        self.check_key(key, "your terminals").await
    }

    /// Images that one person asks the hub to fetch.
    pub async fn check_images(&self, person: &str) -> Result<(), Problem> {
        self.check_key(format!("images {person}"), "you for images").await
    }

    async fn check_key(&self, key: String, subject: &str) -> Result<(), Problem> {
        let wait = match self {
            Self::Unlimited => None,
            Self::InMemory { limiter, clock } => limiter
                .check_key(&key)
                .err()
                .map(|until| until.wait_time_from(clock.now())),
            Self::InStore { store, per_minute } => {
                let interval = Duration::from_secs(60) / per_minute.get();
                let admit = Admit {
                    key: format!("write {key}"),
                    burst: per_minute.get(),
                    interval,
                };
                match store.run(admit).await? {
                    Admission::Granted => None,
                    Admission::After(wait) => Some(wait),
                }
            }
        };
        wait.map_or(Ok(()), |wait| {
            Err(Problem::RateLimited {
                retry_after_seconds: wait.as_secs() + 1,
                message: format!("too many requests from {subject}; wait as long as Retry-After says"),
            })
        })
    }
}
