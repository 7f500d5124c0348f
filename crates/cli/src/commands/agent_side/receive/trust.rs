//! Which pushes are believed, also while the hub changes its keys.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Result;
use countersign_agent::{Refusal, Verified, Verifier, verify};
use hyper::HeaderMap;

use super::super::{keys, now};
use crate::args::{Globals, KeyArgs};

/// Strangers must not be able to make this receiver call the hub all the time.
const BETWEEN_QUESTIONS: Duration = Duration::from_secs(10);

pub struct Trust {
    url: String,
    keys: KeyArgs,
    globals: Globals,
    current: Mutex<Current>,
}

struct Current {
    verifier: Verifier,
    /// When the hub was last asked again.
    asked_at: Option<Instant>,
}

impl Trust {
    pub async fn new(url: String, keys: KeyArgs, globals: Globals) -> Result<Self> {
        let verifier = keys::verifier(&url, &keys, &globals).await?;
        let current = Mutex::new(Current {
            verifier,
            asked_at: None,
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
            Err(Refusal::WrongSignature) if self.may_ask_again() => {}
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
    fn may_ask_again(&self) -> bool {
        let may_change = self.keys.ed25519.as_deref() == Some("hub") || keys::are_kept(&self.keys);
        may_change
            && self.current(|current| {
                let due = current.asked_at.is_none_or(|at| at.elapsed() >= BETWEEN_QUESTIONS);
                if due {
                    current.asked_at = Some(Instant::now());
                }
                due
            })
    }

    fn current<T>(&self, work: impl FnOnce(&mut Current) -> T) -> T {
        work(&mut self.current.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
