//! GET /inbox/items/{id}/files/{index} and /inbox/items/{id}/prompt: what is kept and not shown on a page.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;

use crate::app::Hub;
use crate::extract::{FilePath, MessagePath};
use crate::inbox::api::{file_of, whole_prompt};
use crate::inbox::web::page::Failure;
use crate::inbox::web::visitor::Visitor;
use crate::problem::Problem;

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
