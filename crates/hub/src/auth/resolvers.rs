//! Which accounts can resolve messages. Every submit asks, so a positive answer is cached; a negative one is always read
//! again, because the account may have been added since.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use countersign_core::{Actor, Content};
use countersign_protocol::time::Timestamp;
use countersign_store::ops::admin::agents::FindAgent;
use countersign_store::ops::admin::people::ListResolvers;
use countersign_store::{Store, StoreError};

/// Short, so that an ask for a removed account is refused soon.
const KNOWN_TTL: Duration = Duration::from_secs(5);
/// The cache is cleared at this size.
const MAX_KNOWN: usize = 10_000;

#[derive(Default)]
pub struct Resolvers {
    known: RwLock<HashMap<Actor, Timestamp>>,
}

impl Resolvers {
    pub async fn is_any_known(&self, store: &Store, named: &[Actor]) -> Result<bool, StoreError> {
        let now = store.clock().now();
        if self.is_cached(named, now) {
            return Ok(true);
        }
        let people = self.people(store).await?;
        let found = match named.iter().find(|actor| people.contains(actor)) {
            Some(person) => Some(person.clone()),
            None => {
                let ids = named.iter().filter_map(Actor::agent_id).map(str::to_owned).collect();
                store.run(FindAgent { ids }).await?.map(|id| Actor::agent(&id))
            }
        };
        let is_known = found.is_some();
        if let Some(actor) = found {
            self.insert(actor, now);
        }
        Ok(is_known)
    }

    /// Whether a message waits for no account of this hub: each one that it names is missing, or is its own agent.
    pub async fn is_stranded(&self, store: &Store, content: &Content) -> Result<bool, StoreError> {
        let own = Actor::agent(&content.agent.id);
        let others: Vec<Actor> = content
            .resolvers
            .iter()
            .filter(|actor| **actor != own)
            .cloned()
            .collect();
        Ok(!self.is_any_known(store, &others).await?)
    }

    /// The people who may decide.
    pub async fn people(&self, store: &Store) -> Result<Vec<Actor>, StoreError> {
        store.run(ListResolvers).await
    }

    fn is_cached(&self, named: &[Actor], now: Timestamp) -> bool {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let is_fresh = |actor: &Actor| known.get(actor).is_some_and(|at| now.since(*at) < KNOWN_TTL);
        named.iter().any(is_fresh)
    }

    fn insert(&self, actor: Actor, now: Timestamp) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_KNOWN {
            known.clear();
        }
        known.insert(actor, now);
    }
}
