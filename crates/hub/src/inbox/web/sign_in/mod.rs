//! Signing in with a one-time link, a password or a passkey. Each starts a session, which a cookie holds.

mod address;
mod device;
mod link;
mod name;
mod passkey;
pub mod password;
mod session;
mod stranger;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};

use crate::app::Hub;

pub use link::{link_to, new_link};

pub fn router() -> Router<Arc<Hub>> {
    Router::new()
        .route("/signin", get(name::page).post(name::sign_in))
        .route("/signin/{token}", get(link::page).post(link::redeem))
        .route("/signin/passkey/begin", post(passkey::enter::begin))
        .route("/signin/passkey/finish", post(passkey::enter::finish))
        .route("/inbox/settings/passkeys/begin", post(passkey::add::begin))
        .route("/inbox/settings/passkeys/finish", post(passkey::add::finish))
        .route("/signout", post(session::sign_out))
}
