//! Credentials: how they are made, and who is calling.

mod cache;
mod caller;
mod rate;
mod token;

pub use cache::CredentialCache;
pub use caller::{AgentCaller, AnyCaller, OwnerCaller, PersonCaller};
pub use rate::RateLimit;
pub use token::{Token, hash_token, new_signing_key, random_key};
