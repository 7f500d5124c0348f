//! GET /inbox/items/{id}/files/{index} and /inbox/items/{id}/prompt: downloads of texts and files that a page does not
//! show.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;

use crate::app::Hub;
use crate::extract::{FilePath, MessagePath};
use crate::inbox::api::{answer_file, full_prompt};
use crate::inbox::web::page::PageError;
use crate::inbox::web::visitor::SignedInUser;
use crate::problem::Problem;

pub async fn file(
    State(hub): State<Arc<Hub>>,
    user: SignedInUser,
    path: Result<FilePath, Problem>,
) -> Result<Response, PageError> {
    let FilePath { id, index } = path?;
    Ok(answer_file(&hub, &user.actor(), &id, index).await?)
}

pub async fn prompt(
    State(hub): State<Arc<Hub>>,
    user: SignedInUser,
    path: Result<MessagePath, Problem>,
) -> Result<Response, PageError> {
    let MessagePath(id) = path?;
    Ok(full_prompt(&hub, &user.actor(), id).await?)
}
