//! Which pushes are believed, also while the hub changes its keys.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Result;
use countersign_agent::{Refusal, Verified, Verifier, verify};
use hyper::HeaderMap;

use super::super::{keys, now};
use crate::args::{Globals, KeyArgs};

/// Strangers must not be able to make this receiver call the hub all the time.
const KEY_REFRESH_INTERVAL: Duration = Duration::from_secs(10);

pub struct PushVerifier {
    url: String,
    keys: KeyArgs,
    globals: Globals,
    current: Mutex<CurrentKeys>,
}

struct CurrentKeys {
    verifier: Verifier,
    /// When the hub was last asked again.
    refreshed_at: Option<Instant>,
}

impl PushVerifier {
    pub async fn new(url: String, keys: KeyArgs, globals: Globals) -> Result<Self> {
        let verifier = keys::verifier(&url, &keys, &globals).await?;
        let current = Mutex::new(CurrentKeys {
            verifier,
            refreshed_at: None,
        });
        Ok(Self {
            url,
            keys,
            globals,
            current,
        })
    }

    /// A signature that does not match may be of a key that the hub has made since.
    pub async fn verify(&self, headers: &HeaderMap, body: &[u8]) -> Result<Verified, Refusal> {
        let verifier = self.current(|current| current.verifier.clone());
        match verify(&verifier, headers, body, now()) {
            Err(Refusal::WrongSignature) if self.may_refresh() => {}
            decided => return decided,
        }
        let Ok(fresh) = keys::verifier(&self.url, &self.keys, &self.globals).await else {
            return Err(Refusal::WrongSignature);
        };
        self.current(|current| current.verifier = fresh.clone());
        verify(&fresh, headers, body, now())
    }

    /// The hub's public keys can be asked for, and a kept key read again; a secret of the environment is what it was at
    /// the start.
    fn may_refresh(&self) -> bool {
        let may_change = self.keys.ed25519.as_deref() == Some("hub") || keys::are_stored(&self.keys);
        may_change
            && self.current(|current| {
                let due = current
                    .refreshed_at
                    .is_none_or(|at| at.elapsed() >= KEY_REFRESH_INTERVAL);
                if due {
                    current.refreshed_at = Some(Instant::now());
                }
                due
            })
    }

    fn current<T>(&self, work: impl FnOnce(&mut CurrentKeys) -> T) -> T {
        work(&mut self.current.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
