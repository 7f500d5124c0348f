//! Batches: a review page shows what will happen to each item, then the items are decided one by one, through the same
//! guarded path as any answer.

mod action;
mod plan;
mod review;
mod run;

use std::sync::Arc;

use axum::Router;
use axum::routing::get;
use countersign_hub::Hub;

pub fn router() -> Router<Arc<Hub>> {
    Router::new().route("/inbox/batch", get(review::review).post(run::run))
}
