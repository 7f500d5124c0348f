//! How often somebody may try to sign in. Whoever guesses is slowed down, and nobody else: the tight limits hold for one
//! place only, and each way in has limits of its own.

use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};

use crate::problem::Problem;

/// One account from one place.
pub const OF_A_NAME_FROM_AN_ADDRESS: Limit = Limit {
    at_once: 10,
    then_every: Duration::from_secs(30),
};
/// One account from many places. One place alone never uses this up, or it could keep the account's person out.
pub const OF_A_NAME: Limit = Limit {
    at_once: 100,
    then_every: Duration::from_secs(2),
};
/// Many accounts from one place. Everybody behind a proxy that is not trusted comes from one address.
pub const OF_AN_ADDRESS: Limit = Limit {
    at_once: 30,
    then_every: Duration::from_secs(3),
};
/// The present password, asked for within a session.
pub const OF_A_SESSION: Limit = Limit {
    at_once: 10,
    then_every: Duration::from_secs(30),
};

pub struct Limit {
    pub at_once: u32,
    pub then_every: Duration,
}

/// Strangers choose names and addresses, so these go into a fixed number of boxes by a hash that only this process
/// knows. Whoever shares a box with somebody waits with them, which is rare and does little harm.
type Limiter<C> = RateLimiter<u16, HashMapStateStore<u16>, C, NoOpMiddleware<<C as Clock>::Instant>>;

pub struct Attempts<C: Clock = DefaultClock> {
    names_from_addresses: Limiter<C>,
    names: Limiter<C>,
    addresses: Limiter<C>,
    sessions: Limiter<C>,
    passkeys: Limiter<C>,
    misses: Limiter<C>,
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
            names_from_addresses: limiter(&OF_A_NAME_FROM_AN_ADDRESS, &clock),
            names: limiter(&OF_A_NAME, &clock),
            addresses: limiter(&OF_AN_ADDRESS, &clock),
            sessions: limiter(&OF_A_SESSION, &clock),
            passkeys: limiter(&OF_AN_ADDRESS, &clock),
            misses: limiter(&OF_AN_ADDRESS, &clock),
            boxes: RandomState::new(),
            clock,
        }
    }

    /// Before a password is looked at. What one limit refuses does not count against the wider ones after it.
    pub fn by_password(&self, name: &str, address: IpAddr) -> Result<(), Problem> {
        let name = name.to_lowercase();
        let network = network(address);
        self.check(&self.addresses, network)?;
        self.check(&self.names_from_addresses, (&name, network))?;
        self.check(&self.names, &name)
    }

    /// Before the password of somebody who is signed in is looked at.
    pub fn within_session(&self, session: &[u8; 32]) -> Result<(), Problem> {
        self.check(&self.sessions, session)
    }

    /// Before somebody is given a challenge for a passkey.
    pub fn by_passkey(&self, address: IpAddr) -> Result<(), Problem> {
        self.check(&self.passkeys, network(address))
    }

    /// After a link or a challenge turned out to be none of ours. Whoever has one is not held up by those who guess.
    pub fn missed(&self, address: IpAddr) -> Result<(), Problem> {
        self.check(&self.misses, network(address))
    }

    fn check(&self, limiter: &Limiter<C>, whom: impl std::hash::Hash) -> Result<(), Problem> {
        let [.., high, low] = self.boxes.hash_one(whom).to_be_bytes();
        let admitted = limiter.check_key(&u16::from_be_bytes([high, low]));
        admitted.map_err(|until| too_many(until.wait_time_from(self.clock.now())))
    }
}

pub fn too_many(wait: Duration) -> Problem {
    Problem::RateLimited {
        retry_after_seconds: wait.as_secs() + 1,
        message: "too many attempts to sign in; wait a moment, or use a passkey or a one-time link".to_owned(),
    }
}

fn limiter<C: Clock + Clone>(limit: &Limit, clock: &C) -> Limiter<C> {
    let at_once = NonZeroU32::new(limit.at_once).unwrap_or(NonZeroU32::MIN);
    let quota = Quota::with_period(limit.then_every).unwrap_or(Quota::per_second(NonZeroU32::MIN));
    RateLimiter::new(quota.allow_burst(at_once), HashMapStateStore::default(), clock.clone())
}

/// Whoever has one IPv6 address has the whole network around it.
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
    fn guessing_at_one_name_soon_becomes_slow() {
        let clock = FakeRelativeClock::default();
        let attempts = Attempts::on(clock.clone());
        let guess = || attempts.by_password("owner", address("192.0.2.7"));
        assert_eq!(tries(guess), 10);
        let Err(Problem::RateLimited {
            retry_after_seconds, ..
        }) = guess()
        else {
            panic!("the next is refused")
        };
        assert!((1..=31).contains(&retry_after_seconds), "{retry_after_seconds}");
        clock.advance(Duration::from_secs(90));
        assert_eq!(tries(guess), 3, "then one in half a minute");
        clock.advance(Duration::from_secs(3600));
        assert_eq!(tries(guess), 10, "and all of them after a rest");
        assert!(
            attempts.by_password("OWNER", address("192.0.2.7")).is_err(),
            "a name in capitals is the same one"
        );
    }

    #[test]
    fn whoever_guesses_from_one_place_never_keeps_the_person_out() {
        let clock = FakeRelativeClock::default();
        let attempts = Attempts::on(clock.clone());
        for _ in 0..3600 {
            let _ = attempts.by_password("owner", address("192.0.2.7"));
            clock.advance(Duration::from_secs(1));
        }
        assert!(
            attempts.by_password("owner", address("192.0.2.8")).is_ok(),
            "their password is looked at elsewhere"
        );
        assert!(
            attempts.within_session(&[7; 32]).is_ok(),
            "and where they are signed in"
        );
        assert!(
            attempts.by_passkey(address("192.0.2.7")).is_ok(),
            "and their passkey even there"
        );
    }

    #[test]
    fn guessing_at_one_name_from_many_places_becomes_slow_too() {
        let clock = FakeRelativeClock::default();
        let attempts = Attempts::on(clock.clone());
        let places = || (0..=255).map(|last| address(&format!("198.51.100.{last}")));
        let looked_at = || {
            places()
                .filter(|from| attempts.by_password("owner", *from).is_ok())
                .count()
        };
        assert!((95..=100).contains(&looked_at()), "two places may share a box");
        clock.advance(Duration::from_secs(20));
        assert_eq!(looked_at(), 10);
    }

    #[test]
    fn asking_for_passkeys_leaves_passwords_alone() {
        let attempts = Attempts::on(FakeRelativeClock::default());
        let here = address("192.0.2.7");
        assert_eq!(tries(|| attempts.by_passkey(here)), 30);
        assert_eq!(tries(|| attempts.missed(here)), 30);
        assert!(attempts.by_password("owner", here).is_ok());
    }

    #[test]
    fn a_session_that_guesses_holds_up_itself_alone() {
        let attempts = Attempts::on(FakeRelativeClock::default());
        assert_eq!(tries(|| attempts.within_session(&[1; 32])), 10);
        assert!(attempts.within_session(&[2; 32]).is_ok());
    }

    /// How many names one place gets through, each tried once.
    fn names_from(attempts: &Attempts<FakeRelativeClock>, from: IpAddr) -> usize {
        (0..100)
            .filter(|number| attempts.by_password(&format!("name{number}"), from).is_ok())
            .count()
    }

    #[test]
    fn one_address_cannot_go_through_all_names() {
        let attempts = Attempts::on(FakeRelativeClock::default());
        assert_eq!(names_from(&attempts, address("192.0.2.7")), 30);
        assert_eq!(
            names_from(&attempts, address("::ffff:192.0.2.7")),
            0,
            "the same one in another spelling"
        );
    }

    #[test]
    fn an_address_more_in_the_same_network_gives_no_attempt_more() {
        let attempts = Attempts::on(FakeRelativeClock::default());
        assert_eq!(names_from(&attempts, address("2001:db8::1")), 30);
        assert_eq!(names_from(&attempts, address("2001:db8::ffff:2")), 0);
    }
}
