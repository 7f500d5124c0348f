//! Attempts to sign in, counted where they have to be: in memory by a hub of its own, in the store by hubs that share one.

use std::net::IpAddr;
use std::sync::Arc;

use countersign_core::Digest;
use countersign_store::Store;
use countersign_store::ops::rate::{Admission, Admit};

use super::attempts::{
    Attempts, Limit, OF_A_NAME, OF_A_NAME_FROM_AN_ADDRESS, OF_A_SESSION, OF_AN_ADDRESS, network, too_many,
};
use crate::problem::Problem;

pub enum SignInAttempts {
    Here(Box<Attempts>),
    InStore(Arc<Store>),
}

impl SignInAttempts {
    pub fn of(store: &Arc<Store>) -> Self {
        if store.is_shared() {
            Self::InStore(Arc::clone(store))
        } else {
            Self::Here(Box::default())
        }
    }

    /// Before a password is looked at. What one limit refuses does not count against the wider ones after it.
    pub async fn by_password(&self, name: &str, address: IpAddr) -> Result<(), Problem> {
        let store = match self {
            Self::Here(attempts) => return attempts.by_password(name, address),
            Self::InStore(store) => store,
        };
        let name = name.to_lowercase();
        let from = network(address).to_string();
        check(store, "address", &from, &OF_AN_ADDRESS).await?;
        check(
            store,
            "name from address",
            &format!("{from} {name}"),
            &OF_A_NAME_FROM_AN_ADDRESS,
        )
        .await?;
        check(store, "name", &name, &OF_A_NAME).await
    }

    /// Before the password of somebody who is signed in is looked at.
    pub async fn within_session(&self, session: &[u8; 32]) -> Result<(), Problem> {
        match self {
            Self::Here(attempts) => attempts.within_session(session),
            Self::InStore(store) => check(store, "session", &Digest::of(session).to_string(), &OF_A_SESSION).await,
        }
    }

    /// Before somebody is given a challenge for a passkey.
    pub async fn by_passkey(&self, address: IpAddr) -> Result<(), Problem> {
        match self {
            Self::Here(attempts) => attempts.by_passkey(address),
            Self::InStore(store) => check(store, "passkey", &network(address).to_string(), &OF_AN_ADDRESS).await,
        }
    }

    /// After a link or a challenge turned out to be none of ours. Whoever has one is not held up by those who guess.
    pub async fn missed(&self, address: IpAddr) -> Result<(), Problem> {
        match self {
            Self::Here(attempts) => attempts.missed(address),
            Self::InStore(store) => check(store, "miss", &network(address).to_string(), &OF_AN_ADDRESS).await,
        }
    }
}

/// Under a digest: strangers choose these texts, and they may be long.
async fn check(store: &Store, what: &str, whom: &str, limit: &Limit) -> Result<(), Problem> {
    let key = format!("sign in by {what} {}", Digest::of(whom.as_bytes()));
    match store
        .run(Admit {
            key,
            at_once: limit.at_once,
            then_every: limit.then_every,
        })
        .await?
    {
        Admission::Granted => Ok(()),
        Admission::After(wait) => Err(too_many(wait)),
    }
}
