//! Caches of accounts: authenticated credentials, and who can resolve messages.
//!
//! Every call is authenticated, and every commit leaves the database readers with cold pages; without the cache the
//! look-up would be the most expensive part of a small request.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use countersign_core::access::Principal;
use countersign_core::{Actor, Content};
use countersign_protocol::time::Timestamp;
use countersign_store::ops::account::credential::{Authenticate, Credential, CredentialKind};
use countersign_store::ops::admin::agents::FindAgent;
use countersign_store::ops::admin::keys::ConfirmRotation;
use countersign_store::ops::admin::people::ListResolvers;
use countersign_store::{Store, StoreError};
use tokio::sync::watch;

use super::hash_token;

/// The cache is cleared at this size; a hub with more callers pays a look-up now and then.
const MAX_ENTRIES: usize = 20_000;
/// Short, because another node may have revoked a credential and crashed before publishing that.
const SHARED_STORE_TTL: Duration = Duration::from_secs(5);

/// Short, so that an ask for a removed account is refused soon.
const KNOWN_TTL: Duration = Duration::from_secs(5);
/// The cache is cleared at this size.
const MAX_KNOWN: usize = 10_000;

#[derive(Default)]
pub struct CredentialCache {
    cached: RwLock<CacheEntries>,
    /// Makes long-lived connections check their credential again.
    revoked: watch::Sender<()>,
}

#[derive(Default)]
struct CacheEntries {
    /// Incremented by every clear, so that a look-up from before it does not insert a stale result.
    generation: u64,
    entries: HashMap<[u8; 32], CachedCredential>,
}

struct CachedCredential {
    credential: Credential,
    cached_at: Timestamp,
}

impl CachedCredential {
    fn is_valid(&self, now: Timestamp, is_shared: bool) -> bool {
        let is_fresh = !is_shared || now.since(self.cached_at) < SHARED_STORE_TTL;
        is_fresh && self.credential.expires_at.is_none_or(|expires_at| now <= expires_at)
    }
}

impl CredentialCache {
    /// The principal of a token. The value of a session cookie is not accepted as a token.
    pub async fn authenticate(&self, store: &Store, token: &str) -> Result<Option<Principal>, StoreError> {
        let credential = self.look_up(store, hash_token(token)).await?;
        Ok(credential
            .filter(|credential| credential.kind != CredentialKind::Session)
            .map(|credential| credential.principal))
    }

    /// The principal of a session, by the hash of its cookie. A token is not accepted as a cookie.
    pub async fn session(&self, store: &Store, hash: [u8; 32]) -> Result<Option<Principal>, StoreError> {
        let credential = self.look_up(store, hash).await?;
        Ok(credential
            .filter(|credential| credential.kind == CredentialKind::Session)
            .map(|credential| credential.principal))
    }

    async fn look_up(&self, store: &Store, hash: [u8; 32]) -> Result<Option<Credential>, StoreError> {
        let now = store.clock().now();
        let generation = {
            let cached = self.cached.read().unwrap_or_else(PoisonError::into_inner);
            match cached.entries.get(&hash) {
                Some(entry) if entry.is_valid(now, store.is_shared()) => return Ok(Some(entry.credential.clone())),
                Some(_) | None => cached.generation,
            }
        };
        let Some(credential) = store.run(Authenticate { hash }).await? else {
            return Ok(None);
        };
        if !confirm_rotation(store, hash, &credential).await {
            return Ok(Some(credential));
        }
        self.insert_if_current(
            hash,
            CachedCredential {
                credential: credential.clone(),
                cached_at: now,
            },
            generation,
        );
        Ok(Some(credential))
    }

    fn insert_if_current(&self, hash: [u8; 32], entry: CachedCredential, generation: u64) {
        let mut cached = self.cached.write().unwrap_or_else(PoisonError::into_inner);
        if cached.generation != generation {
            return;
        }
        if cached.entries.len() >= MAX_ENTRIES {
            cached.entries.clear();
        }
        cached.entries.insert(hash, entry);
    }

    /// Clears the cache of this node; `Auth::revoke` also notifies the others.
    pub fn clear(&self) {
        let mut cached = self.cached.write().unwrap_or_else(PoisonError::into_inner);
        cached.generation += 1;
        cached.entries.clear();
        drop(cached);
        self.revoked.send_replace(());
    }

    /// Notifies whenever a credential may have been revoked.
    pub fn revocations(&self) -> watch::Receiver<()> {
        self.revoked.subscribe()
    }
}

/// Retires the signing keys that a rotation replaced, at the first call with its new token. That call is always a cache
/// miss. Returns false if the store failed: the caller does not cache the credential, so that the next call retries.
async fn confirm_rotation(store: &Store, token_hash: [u8; 32], credential: &Credential) -> bool {
    let Principal::Agent { id } = &credential.principal else {
        return true;
    };
    if !credential.confirms_rotation {
        return true;
    }
    let agent_id = id.clone();
    let confirmed = store.run(ConfirmRotation { agent_id, token_hash }).await;
    if let Err(error) = &confirmed {
        tracing::warn!(%error, agent = id, "retiring the old signing key failed; retrying at the agent's next call");
    }
    confirmed.is_ok()
}

/// Which accounts can resolve messages. Every submit asks, so a positive answer is cached; a negative one is always read
/// again, because the account may have been added since.
#[derive(Default)]
pub struct Resolvers {
    known: RwLock<HashMap<Actor, Timestamp>>,
}

impl Resolvers {
    /// Whether a message waits for no account of this hub: each one that it names is missing, or is its own agent.
    pub async fn is_stranded(&self, store: &Store, content: &Content) -> Result<bool, StoreError> {
        let own = Actor::agent(&content.agent.id);
        let others: Vec<&Actor> = content.resolvers.iter().filter(|actor| **actor != own).collect();
        let now = store.clock().now();
        if self.is_any_cached(&others, now) {
            return Ok(false);
        }
        let people = self.people(store).await?;
        let known = match others.iter().find(|actor| people.contains(actor)) {
            Some(person) => Some((*person).clone()),
            None => {
                let ids = others.iter().filter_map(|actor| actor.agent_id()).map(str::to_owned);
                let found = store.run(FindAgent { ids: ids.collect() }).await?;
                found.map(|id| Actor::agent(&id))
            }
        };
        let Some(known) = known else { return Ok(true) };
        self.insert(known, now);
        Ok(false)
    }

    /// The people who may decide.
    pub async fn people(&self, store: &Store) -> Result<Vec<Actor>, StoreError> {
        store.run(ListResolvers).await
    }

    fn is_any_cached(&self, named: &[&Actor], now: Timestamp) -> bool {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let is_fresh = |actor: &&Actor| known.get(*actor).is_some_and(|at| now.since(*at) < KNOWN_TTL);
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
