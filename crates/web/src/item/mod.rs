//! The page of one message: the agent's text on one side, the panel with the decision on the other.

mod answer;
mod cue;
mod decide;
mod delivery_progress;
mod downloads;
mod head;
mod neighbours;
mod outcome;
mod page;
mod panel;
mod part;
mod presence;
mod retry;
mod show;
mod trail;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use countersign_hub::Hub;

pub use answer::control::ControlShape;
pub use answer::form_errors::FormErrors;
pub use answer::parse::{ParsedAnswer, normalize_newlines, parse_answer};
pub use answer::{AnswerForm, AnswerInput, RefusedAttempt};
pub use delivery_progress::failure_reason;
pub use page::{PanelState, page};
pub use part::{ContextPart, PartContent, part};
pub use show::missing;

pub fn router() -> Router<Arc<Hub>> {
    Router::new()
        .route("/inbox/items/{id}", get(show::show))
        .route("/inbox/items/{id}/decide", post(decide::submit_decision))
        .route("/inbox/items/{id}/files/{index}", get(downloads::file))
        .route("/inbox/items/{id}/prompt", get(downloads::prompt))
        .route("/inbox/items/{id}/retry", post(retry::retry))
}
