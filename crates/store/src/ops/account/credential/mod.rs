//! Credentials. Only hashes are stored: a token is 256 random bits, so a plain SHA-256 is enough.

mod authenticate;
mod link;
mod list;
mod session;

pub use authenticate::{Authenticate, Credential, CredentialKind, NewCredential, ReplaceCredential, insert};
pub use link::{AddLink, PersonOfLink, RedeemLink};
pub use list::{EndCredential, ListCredentials, id_of};
pub use session::{EndOtherSessions, EndSessionsOfOtherPlace, NewSession, StartSession};
