//! Runs in a browser: which there are, and each with its steps, followed while it goes on.

mod ask;
mod feed;
mod list;
mod page;
mod shown;
mod state;
mod stop;
mod texts;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use countersign_hub::Hub;

pub fn router() -> Router<Arc<Hub>> {
    Router::new()
        .route("/runs", get(list::list))
        .route("/runs/{id}", get(page::page))
        .route("/runs/{id}/events", get(feed::events))
        .route("/runs/{id}/stop", post(stop::stop))
        .route("/runs/{id}/texts/{seq}", get(texts::text))
}
