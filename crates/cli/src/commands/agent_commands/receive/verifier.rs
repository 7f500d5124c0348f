//! Verifies pushes, also across key rotations.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Result;
use countersign_agent::{Refusal, Verified, Verifier, verify};
use hyper::HeaderMap;

use crate::args::{Globals, KeyArgs};
use crate::commands::agent_commands::credentials::keys;
use crate::commands::agent_commands::now;

/// Limits key refreshes, so that forged pushes cannot make this receiver flood the hub.
const KEY_REFRESH_INTERVAL: Duration = Duration::from_secs(10);

pub struct PushVerifier {
    url: String,
    keys: KeyArgs,
    globals: Globals,
    current: Mutex<CurrentKeys>,
}

struct CurrentKeys {
    verifier: Verifier,
    /// The time of the last key refresh.
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

    /// A mismatching signature triggers a key refresh, because the hub may have rotated its key.
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

    /// The hub's public keys and a stored key can be read again; a secret from the environment never changes.
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
