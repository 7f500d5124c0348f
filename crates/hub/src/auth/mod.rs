//! Credentials, sign-in limits and the authenticated caller of a request.

mod attempts;
mod cache;
mod caller;
mod client_addr;
mod link;
mod password;
mod request_limiter;
mod revocation;
mod sign_in;
mod token;

pub use cache::CredentialCache;
pub use caller::{
    AgentCaller, AnyCaller, OwnerCaller, PersonCaller, TerminalCaller, not_for_terminals, token_from_headers,
};
pub use client_addr::ClientAddr;
pub use link::{link_to, new_link};
pub use password::{Passwords, check_password};
pub use request_limiter::RequestLimiter;
pub use sign_in::SignInAttempts;
pub use token::{Token, hash_token, is_random_text, looks_like, new_signing_key, random_key, random_text};
