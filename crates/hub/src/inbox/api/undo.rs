//! POST /v1/inbox/{id}/undo

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use countersign_core::Actor;
use countersign_protocol::api::inbox::MessageRef;

use crate::Hub;
use crate::http::callers::PersonCaller;
use crate::http::extract::MessagePath;
use crate::problem::Problem;

/// Takes the caller's decision back while it is on hold.
pub async fn undo(
    State(hub): State<Arc<Hub>>,
    person: PersonCaller,
    MessagePath(id): MessagePath,
) -> Result<Json<MessageRef>, Problem> {
    hub.messages.take_back(&id, Actor::human(&person.name)).await?;
    Ok(Json(MessageRef { id: id.to_string() }))
}
