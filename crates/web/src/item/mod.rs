//! The page of one message: the agent's text on one side, the panel with the decision on the other.

mod answer;
mod cue;
mod decide;
mod delivery_progress;
mod downloads;
mod head;
mod image;
mod neighbours;
mod outcome;
mod page;
mod panel;
mod part;
mod presence;
mod preview;
mod retry;
mod show;
mod trail;
mod undo;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use countersign_hub::Hub;

pub use answer::control::ControlShape;
pub use answer::form_errors::FormErrors;
pub use answer::parse::{ParsedAnswer, normalize_newlines, parse_answer, takes_own_words};
pub use answer::roles::{approval, choice_label, denial};
pub use answer::{AnswerForm, AnswerInput, RefusedAttempt};
pub use delivery_progress::failure_reason;
pub use neighbours::origin::item_query;
pub use outcome::{AnswerFile, AnswerView, FormAnswerCell, answer_files, answer_view};
pub use page::{PanelState, page};
pub use part::{ContextPart, PartContent, part};
pub use show::missing;
pub use undo::held::{HeldView, author_name};

pub fn router() -> Router<Arc<Hub>> {
    Router::new()
        .route("/inbox/items/{id}", get(show::show))
        .route("/inbox/items/{id}/decide", post(decide::submit_decision))
        .route("/inbox/items/{id}/files/{index}", get(downloads::file))
        .route("/inbox/items/{id}/preview", post(preview::preview))
        .route("/inbox/items/{id}/image", get(image::show).post(image::request))
        .route("/inbox/items/{id}/prompt", get(downloads::prompt))
        .route("/inbox/items/{id}/retry", post(retry::retry))
        .route("/inbox/items/{id}/undo", post(undo::undo))
}
