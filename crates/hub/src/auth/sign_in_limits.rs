//! Rate limits for sign-in. Only the guesser is slowed down: the tight limits apply to one address, and each way to
//! sign in has its own limits.

use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};

use crate::problem::Problem;

/// One account from one address.
pub const NAME_FROM_ADDRESS_LIMIT: SignInLimit = SignInLimit {
    burst: 10,
    refill_interval: Duration::from_secs(30),
};
/// One account from all addresses. A single address cannot use it up, or it could lock the person out.
pub const NAME_LIMIT: SignInLimit = SignInLimit {
    burst: 100,
    refill_interval: Duration::from_secs(2),
};
/// All accounts from one address. Clients behind an untrusted proxy share one address.
pub const ADDRESS_LIMIT: SignInLimit = SignInLimit {
    burst: 30,
    refill_interval: Duration::from_secs(3),
};
/// Checks of the current password within a session.
pub const SESSION_LIMIT: SignInLimit = SignInLimit {
    burst: 10,
    refill_interval: Duration::from_secs(30),
};

pub struct SignInLimit {
    pub burst: u32,
    pub refill_interval: Duration,
}

/// Keyed by a 16-bit hash with a secret seed, because untrusted names and addresses must not grow the map without
/// bound. Two subjects in one bucket share its limit, which is rare and does little harm.
type Limiter<C> = RateLimiter<u16, HashMapStateStore<u16>, C, NoOpMiddleware<<C as Clock>::Instant>>;

pub struct InMemoryLimits<C: Clock = DefaultClock> {
    names_from_addresses: Limiter<C>,
    names: Limiter<C>,
    addresses: Limiter<C>,
    sessions: Limiter<C>,
    passkeys: Limiter<C>,
    misses: Limiter<C>,
    hasher: RandomState,
    clock: C,
}

impl Default for InMemoryLimits {
    fn default() -> Self {
        Self::with_clock(DefaultClock::default())
    }
}

impl<C: Clock + Clone> InMemoryLimits<C> {
    pub fn with_clock(clock: C) -> Self {
        Self {
            names_from_addresses: limiter(&NAME_FROM_ADDRESS_LIMIT, &clock),
            names: limiter(&NAME_LIMIT, &clock),
            addresses: limiter(&ADDRESS_LIMIT, &clock),
            sessions: limiter(&SESSION_LIMIT, &clock),
            passkeys: limiter(&ADDRESS_LIMIT, &clock),
            misses: limiter(&ADDRESS_LIMIT, &clock),
            hasher: RandomState::new(),
            clock,
        }
    }

    /// See `SignInLimiter::by_password`.
    pub fn by_password(&self, name: &str, address: IpAddr) -> Result<(), Problem> {
        let name = name.to_lowercase();
        let network = network(address);
        self.check(&self.addresses, network)?;
        self.check(&self.names_from_addresses, (&name, network))?;
        self.check(&self.names, &name)
    }

    /// See `SignInLimiter::within_session`.
    pub fn within_session(&self, session: &[u8; 32]) -> Result<(), Problem> {
        self.check(&self.sessions, session)
    }

    /// See `SignInLimiter::by_passkey`.
    pub fn by_passkey(&self, address: IpAddr) -> Result<(), Problem> {
        self.check(&self.passkeys, network(address))
    }

    /// See `SignInLimiter::record_miss`.
    pub fn record_miss(&self, address: IpAddr) -> Result<(), Problem> {
        self.check(&self.misses, network(address))
    }

    fn check(&self, limiter: &Limiter<C>, subject: impl std::hash::Hash) -> Result<(), Problem> {
        let [.., high, low] = self.hasher.hash_one(subject).to_be_bytes();
        let admitted = limiter.check_key(&u16::from_be_bytes([high, low]));
        admitted.map_err(|until| too_many(until.wait_time_from(self.clock.now())))
    }
}

pub fn too_many(wait: Duration) -> Problem {
    Problem::RateLimited {
        retry_after_seconds: wait.as_secs() + 1,
        message: "too many sign-in attempts; wait a moment, or use a passkey or a one-time link".to_owned(),
    }
}

fn limiter<C: Clock + Clone>(limit: &SignInLimit, clock: &C) -> Limiter<C> {
    let burst = NonZeroU32::new(limit.burst).unwrap_or(NonZeroU32::MIN);
    let quota = Quota::with_period(limit.refill_interval).unwrap_or(Quota::per_second(NonZeroU32::MIN));
    RateLimiter::new(quota.allow_burst(burst), HashMapStateStore::default(), clock.clone())
}

/// An IPv6 address counts as its /64, because its holder usually has the whole network.
pub fn network(address: IpAddr) -> IpAddr {
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

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn guessing_one_name_is_slowed_down() {
        let clock = FakeRelativeClock::default();
        let limits = InMemoryLimits::with_clock(clock.clone());
        let guess = || limits.by_password("owner", address("192.0.2.7"));
        assert_eq!(tries(guess), 10);
        let Err(Problem::RateLimited {
            retry_after_seconds, ..
        }) = guess()
        else {
            panic!("the next is refused")
        };
        assert!((1..=31).contains(&retry_after_seconds), "{retry_after_seconds}");
        clock.advance(Duration::from_secs(90));
        assert_eq!(tries(guess), 3, "then one per half minute");
        clock.advance(Duration::from_secs(3600));
        assert_eq!(tries(guess), 10, "and the full burst after an hour");
        assert!(
            limits.by_password("OWNER", address("192.0.2.7")).is_err(),
            "names are case-insensitive"
        );
    }

    #[test]
    fn guessing_from_one_address_does_not_lock_the_person_out() {
        let clock = FakeRelativeClock::default();
        let limits = InMemoryLimits::with_clock(clock.clone());
        for _ in 0..3600 {
            let _ = limits.by_password("owner", address("192.0.2.7"));
            clock.advance(Duration::from_secs(1));
        }
        assert!(
            limits.by_password("owner", address("192.0.2.8")).is_ok(),
            "from another address"
        );
        assert!(limits.within_session(&[7; 32]).is_ok(), "within a session");
        assert!(
            limits.by_passkey(address("192.0.2.7")).is_ok(),
            "by passkey, even from the same address"
        );
    }

    #[test]
    fn guessing_one_name_from_many_addresses_is_slowed_down() {
        let clock = FakeRelativeClock::default();
        let limits = InMemoryLimits::with_clock(clock.clone());
        let addresses_tried = || (0..=255).map(|last| address(&format!("198.51.100.{last}")));
        let admitted_count = || {
            addresses_tried()
                .filter(|from| limits.by_password("owner", *from).is_ok())
                .count()
        };
        assert!(
            (95..=100).contains(&admitted_count()),
            "two addresses may share a bucket"
        );
        clock.advance(Duration::from_secs(20));
        assert_eq!(admitted_count(), 10);
    }

    #[test]
    fn passkey_limits_do_not_affect_passwords() {
        let limits = InMemoryLimits::with_clock(FakeRelativeClock::default());
        let here = address("192.0.2.7");
        assert_eq!(tries(|| limits.by_passkey(here)), 30);
        assert_eq!(tries(|| limits.record_miss(here)), 30);
        assert!(limits.by_password("owner", here).is_ok());
    }

    #[test]
    fn guessing_within_a_session_limits_only_that_session() {
        let limits = InMemoryLimits::with_clock(FakeRelativeClock::default());
        assert_eq!(tries(|| limits.within_session(&[1; 32])), 10);
        assert!(limits.within_session(&[2; 32]).is_ok());
    }

    /// How many names one address may try, each once.
    fn names_from(limits: &InMemoryLimits<FakeRelativeClock>, from: IpAddr) -> usize {
        (0..100)
            .filter(|number| limits.by_password(&format!("name{number}"), from).is_ok())
            .count()
    }

    #[test]
    fn one_address_cannot_try_all_names() {
        let limits = InMemoryLimits::with_clock(FakeRelativeClock::default());
        assert_eq!(names_from(&limits, address("192.0.2.7")), 30);
        assert_eq!(
            names_from(&limits, address("::ffff:192.0.2.7")),
            0,
            "the same address in another notation"
        );
    }

    #[test]
    fn another_address_in_the_same_network_gives_no_more_attempts() {
        let limits = InMemoryLimits::with_clock(FakeRelativeClock::default());
        assert_eq!(names_from(&limits, address("2001:db8::1")), 30);
        assert_eq!(names_from(&limits, address("2001:db8::ffff:2")), 0);
    }
}
