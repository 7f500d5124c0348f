//! Batches: a review page shows what will happen to each item, then the items are decided one by one, through the same
//! guarded path as any answer.

mod action;
mod done;
mod plan;
mod review;
mod run;
mod undo;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use countersign_hub::Hub;

pub use action::BatchAction;
pub use done::BatchResult;

pub fn router() -> Router<Arc<Hub>> {
    Router::new()
        .route("/inbox/batch", get(review::review).post(run::run))
        .route("/inbox/batch/undo", post(undo::undo))
}
