//! POST /inbox/items/{id}/retry: retries a delivery that was given up.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use countersign_hub::Hub;
use countersign_hub::http::extract::MessagePath;
use countersign_hub::problem::Problem;
use countersign_store::ops::deliver::RetryDelivery;

use crate::layout::form::OwnerForm;
use crate::layout::page::{PageError, see_other};

/// Does nothing if there is nothing to deliver; the page then shows the current state.
pub async fn retry(
    State(hub): State<Arc<Hub>>,
    path: Result<MessagePath, Problem>,
    posted: OwnerForm,
) -> Result<Response, PageError> {
    let MessagePath(message_id) = path?;
    let page = format!("/inbox/items/{message_id}");
    let actor = posted.user.actor().to_string();
    if let Some(host) = hub.store.run(RetryDelivery { message_id, actor }).await? {
        hub.outbox.wake(&host);
    }
    Ok(see_other(&page))
}
