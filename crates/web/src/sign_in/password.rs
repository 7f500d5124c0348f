//! Password helpers of the pages.

use countersign_hub::Hub;
use countersign_hub::problem::Problem;

use crate::frame::signed_in_user::SignedInUser;

pub use countersign_hub::auth::check_password as check_new;

pub async fn hash(hub: &Hub, password: &str) -> Result<String, Problem> {
    hub.auth.passwords.hash(password).await
}

pub async fn verify(hub: &Hub, hash: &str, typed: &str) -> Result<bool, Problem> {
    hub.auth.passwords.matches(typed, Some(hash.to_owned())).await
}

/// Rate limit before each check of the current password on the settings page. It counts per session, so sign-in
/// attempts by others under the same name do not count.
pub async fn throttle(hub: &Hub, user: &SignedInUser) -> Result<(), Problem> {
    hub.auth.sign_in_attempts.within_session(&user.session).await
}
