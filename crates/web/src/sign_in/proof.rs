//! The proof that a new way to sign in needs: it outlasts the session, so a borrowed browser must not be enough.

use std::time::Duration;

use countersign_hub::Hub;
use countersign_hub::problem::Problem;
use countersign_store::ops::account::credential::{CredentialKind, ListCredentials};
use countersign_store::ops::account::password::PasswordOf;

use super::password;
use crate::language::t;
use crate::layout::signed_in_user::SignedInUser;

/// A sign-in of this age is proof enough, by link, password or passkey.
const FRESH_SIGN_IN: Duration = Duration::from_secs(10 * 60);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdentityProof {
    /// The user has just signed in.
    FreshSignIn,
    CurrentPassword,
    /// The user has no password, so only a passkey or a link can prove anything.
    NewSignIn,
}

impl IdentityProof {
    pub async fn asked_of(hub: &Hub, user: &SignedInUser) -> Result<Self, Problem> {
        let person = user.name.clone();
        let kind = CredentialKind::Session;
        let sessions = hub.store.run(ListCredentials { person, kind }).await?;
        let now = hub.store.clock().now();
        let id = user.session_id();
        let is_fresh = sessions
            .iter()
            .any(|session| session.id == id && now.since(session.created_at) < FRESH_SIGN_IN);
        if is_fresh {
            return Ok(Self::FreshSignIn);
        }
        let person = user.name.clone();
        Ok(match hub.store.run(PasswordOf { person }).await? {
            Some(_) => Self::CurrentPassword,
            None => Self::NewSignIn,
        })
    }

    /// As `check`, for a change of the password: where there is one, it is asked for also after a fresh sign-in.
    pub async fn check_for_password(hub: &Hub, user: &SignedInUser, typed: &str) -> Result<(), Problem> {
        match Self::asked_of(hub, user).await? {
            Self::FreshSignIn | Self::CurrentPassword => password::check_current(hub, user, typed).await,
            Self::NewSignIn => Self::check(hub, user, typed).await,
        }
    }

    /// Checks the proof that is asked of the user. `typed` is the current password, empty if the page did not ask for it.
    pub async fn check(hub: &Hub, user: &SignedInUser, typed: &str) -> Result<(), Problem> {
        match Self::asked_of(hub, user).await? {
            Self::FreshSignIn => Ok(()),
            Self::CurrentPassword if typed.is_empty() => Err(missing(t(
                "you signed in more than 10 minutes ago; load this page again and type your present password",
            ))),
            Self::CurrentPassword => password::check_current(hub, user, typed).await,
            Self::NewSignIn => Err(missing(t(
                "you signed in more than 10 minutes ago; sign out, sign in again, and try this once more",
            ))),
        }
    }
}

fn missing(message: &str) -> Problem {
    Problem::NotAuthorized {
        message: message.to_owned(),
    }
}
