//! Runs in a browser: the list, and the page of each run with its steps and live updates.

mod ask;
mod feed;
mod label;
mod lines;
mod list;
mod page;
mod stop;
mod streamed;
mod texts;
mod to_come;

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
