//! Password helpers of the pages.

use countersign_hub::Hub;
use countersign_hub::problem::Problem;
use countersign_store::ops::account::password::PasswordOf;

use crate::language::t;
use crate::layout::signed_in_user::SignedInUser;

pub use countersign_hub::auth::check_password as check_new;

pub async fn hash(hub: &Hub, password: &str) -> Result<String, Problem> {
    hub.auth.passwords.hash(password).await
}

/// Checks the password that a signed-in user typed as the current one. A user without a password passes.
pub async fn check_current(hub: &Hub, user: &SignedInUser, typed: &str) -> Result<(), Problem> {
    let Some(hash) = hub
        .store
        .run(PasswordOf {
            person: user.name.clone(),
        })
        .await?
    else {
        return Ok(());
    };
    // Counted per session, so that sign-in attempts by others under the same name do not count.
    hub.auth.sign_in_limiter.within_session(&user.session).await?;
    if hub.auth.passwords.matches(typed, Some(hash)).await? {
        return Ok(());
    }
    Err(Problem::invalid("current", t("this is not your current password")))
}
