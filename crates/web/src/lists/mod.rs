//! Lists of messages: open, notices, snoozed, history, search, and decisions on several at once.

pub mod batch;
mod export;
pub mod history;
pub mod notices;
pub mod onboarding;
pub mod open;
mod palette;
mod query;
pub mod row;
pub mod search;
pub mod snoozed;

use std::sync::Arc;

use axum::Router;
use countersign_hub::Hub;

pub fn router() -> Router<Arc<Hub>> {
    Router::new()
        .merge(onboarding::router())
        .merge(open::router())
        .merge(notices::router())
        .merge(snoozed::router())
        .merge(history::router())
        .merge(export::router())
        .merge(search::router())
        .merge(batch::router())
        .merge(palette::router())
}
