//! Passwords as the pages use them.

use crate::app::Hub;
use crate::problem::Problem;

pub use crate::auth::check_password as check_new;

pub async fn hash(hub: &Hub, password: &str) -> Result<String, Problem> {
    hub.passwords.hash(password).await
}

pub async fn verify(hub: &Hub, hash: &str, typed: &str) -> Result<bool, Problem> {
    hub.passwords.matches(typed, Some(hash.to_owned())).await
}

/// Before every look at a password that somebody typed.
pub fn throttle(hub: &Hub, name: &str) -> Result<(), Problem> {
    hub.sign_in_attempts.by_name(&name.to_lowercase())
}
