//! The page of agents in terminals, with type-ahead.

mod ahead;
mod page;
mod presence_mark;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use countersign_hub::Hub;

pub use ahead::AheadBox;
pub use presence_mark::PresenceMark;

pub fn router() -> Router<Arc<Hub>> {
    Router::new()
        .route("/inbox/terminals", get(page::terminals))
        .route("/inbox/terminals/ahead", post(ahead::put))
        .route("/inbox/terminals/ahead/drop", post(ahead::drop_text))
}
