//! Credentials. Only hashes are stored: a token is 256 random bits, so a plain SHA-256 is enough.

mod held;
mod kept;
mod link;
mod session;

pub use held::{EndCredential, ListCredentials, id_of};
pub use kept::{Authenticate, Credential, CredentialKind, NewCredential, ReplaceCredential, insert};
pub use link::{AddLink, IsLinkValid, RedeemLink};
pub use session::{EndOtherSessions, NewSession, StartSession};
