//! POST /inbox/items/{id}/undo: takes a decision back while it is on hold.

pub mod held;

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use countersign_hub::Hub;
use countersign_hub::http::extract::MessagePath;
use countersign_hub::inbox::find::find;
use countersign_hub::problem::Problem;

use crate::item::neighbours::origin::ListOrigin;
use crate::item::page::{PanelState, page};
use crate::layout::form::PostedForm;
use crate::layout::page::{PageError, PageRequest, back, see_other};

pub async fn undo(
    State(hub): State<Arc<Hub>>,
    path: Result<MessagePath, Problem>,
    request: PageRequest,
    posted: PostedForm,
) -> Result<Response, PageError> {
    let MessagePath(id) = path?;
    let PostedForm { user, fields } = posted;
    let item_page = format!("/inbox/items/{id}{}", ListOrigin::of(&request.query()).query());
    match hub.messages.take_back(&id, user.actor()).await {
        Ok(()) | Err(Problem::NotHeld { .. }) => {
            let next = fields.get("back").map_or(item_page.as_str(), back);
            Ok(see_other(next))
        }
        Err(Problem::AlreadyTerminal { .. } | Problem::Held { .. }) => {
            page(&hub, &user, &request, &find(&hub, &id).await?, PanelState::NotTakenBack).await
        }
        Err(problem) => Err(problem.into()),
    }
}
