//! GET /inbox/items/{id}/files/{index} and /inbox/items/{id}/prompt: what is kept and not shown on a page.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use countersign_hub::Hub;
use countersign_hub::extract::{FilePath, MessagePath};
use countersign_hub::inbox::api::{file_of, whole_prompt};
use countersign_hub::problem::Problem;

use crate::frame::page::Failure;
use crate::frame::signed_in::Visitor;

pub async fn file(
    State(hub): State<Arc<Hub>>,
    visitor: Visitor,
    path: Result<FilePath, Problem>,
) -> Result<Response, Failure> {
    let FilePath { id, index } = path?;
    Ok(file_of(&hub, &visitor.actor(), &id, index).await?)
}

pub async fn prompt(
    State(hub): State<Arc<Hub>>,
    visitor: Visitor,
    path: Result<MessagePath, Problem>,
) -> Result<Response, Failure> {
    let MessagePath(id) = path?;
    Ok(whole_prompt(&hub, &visitor.actor(), id).await?)
}
