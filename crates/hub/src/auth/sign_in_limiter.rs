//! Rate limits for sign-in attempts: in memory for a single node, in the store for nodes that share one.

use std::net::IpAddr;
use std::sync::Arc;

use countersign_core::Digest;
use countersign_store::Store;
use countersign_store::ops::account::rate_limit::{Admission, Admit};

use super::sign_in_limits::{
    ADDRESS_LIMIT, InMemoryLimits, NAME_FROM_ADDRESS_LIMIT, NAME_LIMIT, SESSION_LIMIT, SignInLimit, network, too_many,
};
use crate::problem::Problem;

pub enum SignInLimiter {
    InMemory(Box<InMemoryLimits>),
    InStore(Arc<Store>),
}

impl SignInLimiter {
    pub fn new(store: &Arc<Store>) -> Self {
        if store.is_shared() {
            Self::InStore(Arc::clone(store))
        } else {
            Self::InMemory(Box::default())
        }
    }

    /// Call before a password is checked. An attempt that one limit refuses does not count against the wider limits
    /// after it.
    pub async fn by_password(&self, name: &str, address: IpAddr) -> Result<(), Problem> {
        let store = match self {
            Self::InMemory(limits) => return limits.by_password(name, address),
            Self::InStore(store) => store,
        };
        let name = name.to_lowercase();
        let from = network(address).to_string();
        check(store, "address", &from, &ADDRESS_LIMIT).await?;
        check(
            store,
            "name from address",
            &format!("{from} {name}"),
            &NAME_FROM_ADDRESS_LIMIT,
        )
        .await?;
        check(store, "name", &name, &NAME_LIMIT).await
    }

    /// Call before the password of a signed-in person is checked.
    pub async fn within_session(&self, session: &[u8; 32]) -> Result<(), Problem> {
        match self {
            Self::InMemory(limits) => limits.within_session(session),
            Self::InStore(store) => check(store, "session", &Digest::of(session).to_string(), &SESSION_LIMIT).await,
        }
    }

    /// Call before a passkey challenge is issued.
    pub async fn by_passkey(&self, address: IpAddr) -> Result<(), Problem> {
        match self {
            Self::InMemory(limits) => limits.by_passkey(address),
            Self::InStore(store) => check(store, "passkey", &network(address).to_string(), &ADDRESS_LIMIT).await,
        }
    }

    /// Call after a link or challenge turned out to be unknown. Only misses count, so guessing does not block a valid
    /// link.
    pub async fn record_miss(&self, address: IpAddr) -> Result<(), Problem> {
        match self {
            Self::InMemory(limits) => limits.record_miss(address),
            Self::InStore(store) => check(store, "miss", &network(address).to_string(), &ADDRESS_LIMIT).await,
        }
    }
}

/// The key is a digest, because the subject is untrusted text of any length.
async fn check(store: &Store, kind: &str, subject: &str, limit: &SignInLimit) -> Result<(), Problem> {
    let key = format!("sign in by {kind} {}", Digest::of(subject.as_bytes()));
    match store
        .run(Admit {
            key,
            burst: limit.burst,
            interval: limit.refill_interval,
        })
        .await?
    {
        Admission::Granted => Ok(()),
        Admission::After(wait) => Err(too_many(wait)),
    }
}
