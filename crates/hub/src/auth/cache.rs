//! Who a token stands for, remembered.
//!
//! Every call is authenticated, and every commit makes the readers of the database start from cold pages; without this the
//! look-up would be the dearest part of a small request.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use countersign_core::access::Principal;
use countersign_protocol::time::Timestamp;
use countersign_store::ops::credential::{Authenticate, Credential, Kind};
use countersign_store::{Store, StoreError};
use tokio::sync::watch;

use super::hash_token;

/// Beyond this the cache starts anew; hubs with more callers than this pay a look-up now and then.
const MOST_ENTRIES: usize = 20_000;
/// Another hub may have ended a credential and not lived to say so.
const FRESH_AMONG_OTHERS: Duration = Duration::from_secs(5);

#[derive(Default)]
pub struct CredentialCache {
    known: RwLock<Known>,
    /// Tells those who stay connected to look again whether they may.
    ended: watch::Sender<()>,
}

#[derive(Default)]
struct Known {
    /// Counts the times the cache was cleared, so that a look-up that began before does not put back what it found.
    generation: u64,
    entries: HashMap<[u8; 32], Entry>,
}

struct Entry {
    credential: Credential,
    since: Timestamp,
}

impl Entry {
    fn is_good(&self, now: Timestamp, is_shared: bool) -> bool {
        let is_fresh = !is_shared || now.since(self.since) < FRESH_AMONG_OTHERS;
        is_fresh && self.credential.expires_at.is_none_or(|expires_at| now <= expires_at)
    }
}

impl CredentialCache {
    /// Whom a token stands for. What a browser's cookie holds is no token.
    pub async fn authenticate(&self, store: &Store, token: &str) -> Result<Option<Principal>, StoreError> {
        let credential = self.look_up(store, token).await?;
        Ok(credential
            .filter(|credential| credential.kind != Kind::Session)
            .map(|credential| credential.principal))
    }

    /// Whose session a cookie holds. A token in its place opens nothing.
    pub async fn session(&self, store: &Store, cookie: &str) -> Result<Option<Principal>, StoreError> {
        let credential = self.look_up(store, cookie).await?;
        Ok(credential
            .filter(|credential| credential.kind == Kind::Session)
            .map(|credential| credential.principal))
    }

    async fn look_up(&self, store: &Store, token: &str) -> Result<Option<Credential>, StoreError> {
        let hash = hash_token(token);
        let now = store.clock().now();
        let generation = {
            let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
            match known.entries.get(&hash) {
                Some(entry) if entry.is_good(now, store.is_shared()) => return Ok(Some(entry.credential.clone())),
                Some(_) | None => known.generation,
            }
        };
        let Some(credential) = store.run(Authenticate { hash }).await? else {
            return Ok(None);
        };
        self.remember(
            hash,
            Entry {
                credential: credential.clone(),
                since: now,
            },
            generation,
        );
        Ok(Some(credential))
    }

    fn remember(&self, hash: [u8; 32], entry: Entry, generation: u64) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.generation != generation {
            return;
        }
        if known.entries.len() >= MOST_ENTRIES {
            known.entries.clear();
        }
        known.entries.insert(hash, entry);
    }

    /// For this hub alone; `Hub::end_credentials` tells the others too.
    pub fn clear(&self) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.generation += 1;
        known.entries.clear();
        drop(known);
        self.ended.send_replace(());
    }

    /// Changes whenever a credential may have ended.
    pub fn endings(&self) -> watch::Receiver<()> {
        self.ended.subscribe()
    }
}
