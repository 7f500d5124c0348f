//! Snoozes an item until a given time, for one person only. This is not an answer.

mod actions;
mod page;
mod until;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};

pub use until::{SnoozeTime, snooze_times, until};

use countersign_hub::Hub;

pub fn router() -> Router<Arc<Hub>> {
    Router::new()
        .route("/inbox/aside", get(page::snoozed))
        .route("/inbox/items/{id}/aside", post(actions::snooze))
        .route("/inbox/items/{id}/return", post(actions::restore))
}
