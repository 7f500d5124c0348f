//! One message on a page of its own: what the agent wrote on one side, the panel where it is decided on the other.

mod answer;
mod attached;
mod cue;
mod decide;
mod head;
mod neighbours;
mod outcome;
mod page;
mod panel;
mod part;
mod presence;
mod retry;
mod show;
mod track;
mod trail;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use countersign_hub::Hub;

pub use answer::control::Shape;
pub use answer::faults::Faults;
pub use answer::parse::{Reading, lines, read};
pub use answer::{Again, Answer, Wanted};
pub use page::{Occasion, page};
pub use part::{Part, Shown, part};
pub use show::missing;
pub use track::why;

pub fn router() -> Router<Arc<Hub>> {
    Router::new()
        .route("/inbox/items/{id}", get(show::show))
        .route("/inbox/items/{id}/decide", post(decide::decide))
        .route("/inbox/items/{id}/files/{index}", get(attached::file))
        .route("/inbox/items/{id}/prompt", get(attached::prompt))
        .route("/inbox/items/{id}/retry", post(retry::retry))
}
