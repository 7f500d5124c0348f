//! Signing in with a one-time link, a password or a passkey. Each starts a session, which a cookie holds.

mod anonymous;
mod by_password;
pub mod device_label;
mod link;
mod loopback;
mod passkey;
pub mod password;
pub mod proof;
mod session;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use countersign_hub::Hub;

pub fn router() -> Router<Arc<Hub>> {
    Router::new()
        .route("/signin", get(by_password::page).post(by_password::sign_in))
        .route("/signin/{token}", get(link::page).post(link::redeem))
        .route("/signin/passkey/begin", post(passkey::sign_in::begin))
        .route("/signin/passkey/finish", post(passkey::sign_in::finish))
        .route("/inbox/settings/passkeys/begin", post(passkey::register::begin))
        .route("/inbox/settings/passkeys/finish", post(passkey::register::finish))
        .route("/signout", post(session::sign_out))
}
