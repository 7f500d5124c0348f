//! How often somebody may try to sign in: by name, so that one account cannot be guessed at from many places, and by
//! address, so that one place cannot go through many accounts.

use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};

use crate::problem::Problem;

const OF_A_NAME: Limit = Limit { at_once: 10, then_every: Duration::from_secs(30) };
/// Everybody behind a proxy comes from one address.
const OF_AN_ADDRESS: Limit = Limit { at_once: 30, then_every: Duration::from_secs(3) };

struct Limit {
    at_once: u32,
    then_every: Duration,
}

/// Strangers choose names and addresses, so these go into a fixed number of boxes by a hash that only this process
/// knows. Whoever shares a box with somebody waits with them, which is rare and does little harm.
type Limiter<C> = RateLimiter<u16, HashMapStateStore<u16>, C, NoOpMiddleware<<C as Clock>::Instant>>;

pub struct Attempts<C: Clock = DefaultClock> {
    names: Limiter<C>,
    addresses: Limiter<C>,
    boxes: RandomState,
    clock: C,
}

impl Default for Attempts {
    fn default() -> Self {
        Self::on(DefaultClock::default())
    }
}

impl<C: Clock + Clone> Attempts<C> {
    pub fn on(clock: C) -> Self {
        Self {
            names: limiter(&OF_A_NAME, &clock),
            addresses: limiter(&OF_AN_ADDRESS, &clock),
            boxes: RandomState::new(),
            clock,
        }
    }

    pub fn by_address(&self, address: IpAddr) -> Result<(), Problem> {
        self.check(&self.addresses, network(address))
    }

    pub fn by_name(&self, name: &str) -> Result<(), Problem> {
        self.check(&self.names, name)
    }

    fn check(&self, limiter: &Limiter<C>, whom: impl std::hash::Hash) -> Result<(), Problem> {
        let [.., high, low] = self.boxes.hash_one(whom).to_be_bytes();
        limiter.check_key(&u16::from_be_bytes([high, low])).map_err(|until| Problem::RateLimited {
            retry_after_seconds: until.wait_time_from(self.clock.now()).as_secs() + 1,
            message: "too many attempts to sign in; wait a moment, or use a passkey or a one-time link".to_owned(),
        })
    }
}

fn limiter<C: Clock + Clone>(limit: &Limit, clock: &C) -> Limiter<C> {
    let at_once = NonZeroU32::new(limit.at_once).unwrap_or(NonZeroU32::MIN);
    let quota = Quota::with_period(limit.then_every).unwrap_or(Quota::per_second(NonZeroU32::MIN));
    RateLimiter::new(quota.allow_burst(at_once), HashMapStateStore::default(), clock.clone())
}

/// Whoever has one IPv6 address has the whole network around it.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(_) => address.to_canonical(),
        IpAddr::V6(v6) => IpAddr::V6((v6.to_bits() & !u128::from(u64::MAX)).into()),
    }
}

#[cfg(test)]
mod tests {
    use governor::clock::FakeRelativeClock;

    use super::*;

    fn tries(attempt: impl Fn() -> Result<(), Problem>) -> usize {
        (0..100).take_while(|_| attempt().is_ok()).count()
    }

    #[test]
    fn guessing_at_one_name_soon_becomes_slow() {
        let clock = FakeRelativeClock::default();
        let attempts = Attempts::on(clock.clone());
        assert_eq!(tries(|| attempts.by_name("owner")), 10);
        let Err(Problem::RateLimited { retry_after_seconds, .. }) = attempts.by_name("owner") else {
            panic!("the eleventh is refused")
        };
        assert!((1..=31).contains(&retry_after_seconds), "{retry_after_seconds}");
        clock.advance(Duration::from_secs(30));
        assert_eq!(tries(|| attempts.by_name("owner")), 1, "then one in half a minute");
        clock.advance(Duration::from_secs(3600));
        assert_eq!(tries(|| attempts.by_name("owner")), 10, "and all of them after a rest");
    }

    #[test]
    fn one_address_cannot_go_through_all_names() {
        let attempts = Attempts::on(FakeRelativeClock::default());
        let address: IpAddr = "192.0.2.7".parse().unwrap();
        assert_eq!(tries(|| attempts.by_address(address)), 30);
        assert!(attempts.by_address("::ffff:192.0.2.7".parse().unwrap()).is_err(), "the same one in another spelling");
    }

    #[test]
    fn an_address_more_in_the_same_network_gives_no_attempt_more() {
        let attempts = Attempts::on(FakeRelativeClock::default());
        let address: IpAddr = "2001:db8::1".parse().unwrap();
        assert_eq!(tries(|| attempts.by_address(address)), 30);
        assert!(attempts.by_address("2001:db8::ffff:2".parse().unwrap()).is_err());
    }
}
