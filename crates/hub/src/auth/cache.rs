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
use countersign_store::ops::admin::agents::ExistingAgents;
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

/// The resolvers of a message that cannot answer at this hub: without an account, or with one that only reads. The
/// message's own agent is left out.
pub struct UnknownResolvers<'c> {
    pub names: Vec<&'c Actor>,
    /// No other account can answer.
    pub is_stranded: bool,
}

impl Resolvers {
    /// Which of the resolvers that a message names cannot answer here.
    pub async fn unknown<'c>(&self, store: &Store, content: &'c Content) -> Result<UnknownResolvers<'c>, StoreError> {
        let now = store.clock().now();
        let own = Actor::agent(&content.agent.id);
        let others = content.resolvers.iter().filter(|actor| **actor != own);
        let mut names: Vec<&Actor> = others.clone().filter(|actor| !self.is_cached(actor, now)).collect();
        if !names.is_empty() {
            self.retain_unknown(store, &mut names, now).await?;
        }
        Ok(UnknownResolvers {
            is_stranded: names.len() == others.count(),
            names,
        })
    }

    async fn retain_unknown(&self, store: &Store, names: &mut Vec<&Actor>, now: Timestamp) -> Result<(), StoreError> {
        let people = self.people(store).await?;
        let ids = names.iter().filter_map(|actor| actor.agent_id()).map(str::to_owned);
        let agents = store.run(ExistingAgents { ids: ids.collect() }).await?;
        names.retain(|actor| {
            let is_agent = |id: &str| agents.iter().any(|agent| agent == id);
            let is_known = people.contains(actor) || actor.agent_id().is_some_and(is_agent);
            if is_known {
                self.insert((*actor).clone(), now);
            }
            !is_known
        });
        Ok(())
    }

    /// The people who may decide.
    pub async fn people(&self, store: &Store) -> Result<Vec<Actor>, StoreError> {
        store.run(ListResolvers).await
    }

    fn is_cached(&self, actor: &Actor, now: Timestamp) -> bool {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.get(actor).is_some_and(|at| now.since(*at) < KNOWN_TTL)
    }

    fn insert(&self, actor: Actor, now: Timestamp) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_KNOWN {
            known.clear();
        }
        known.insert(actor, now);
    }
}
