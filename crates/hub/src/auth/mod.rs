//! Credentials, passwords, and the limits on trying them.

mod cache;
mod password;
mod request_limiter;
mod revocation;
mod sign_in_limiter;
mod sign_in_limits;
mod start_credentials;
mod token;

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};

use countersign_store::Store;
use countersign_store::ops::account::credential::NewCredential;

use crate::cluster::Cluster;

pub use cache::{CredentialCache, Resolvers};
pub use password::{Passwords, check_password};
pub use request_limiter::RequestLimiter;
pub use sign_in_limiter::SignInLimiter;
pub use start_credentials::{OWNER, is_start_label, local_owner_of, node_of_label};
pub use token::{
    Token, hash_session, hash_token, is_random_text, looks_like, new_signing_key, random_key, random_text,
};

/// Who may call, and how often.
pub struct Auth {
    store: Arc<Store>,
    cluster: Arc<Cluster>,
    pub credentials: CredentialCache,
    pub passwords: Passwords,
    pub sign_in_limiter: SignInLimiter,
    pub request_limiter: RequestLimiter,
    pub resolvers: Resolvers,
    /// Credentials that this start created for programs on this machine.
    pub start_credentials: Mutex<Vec<NewCredential>>,
}

impl Auth {
    pub fn new(store: &Arc<Store>, cluster: Arc<Cluster>, requests_per_minute: Option<NonZeroU32>) -> Arc<Self> {
        Arc::new(Self {
            store: Arc::clone(store),
            cluster,
            credentials: CredentialCache::default(),
            passwords: Passwords::default(),
            sign_in_limiter: SignInLimiter::new(store),
            request_limiter: RequestLimiter::per_minute(requests_per_minute, store),
            resolvers: Resolvers::default(),
            start_credentials: Mutex::default(),
        })
    }
}
