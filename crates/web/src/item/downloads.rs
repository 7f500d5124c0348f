//! GET /inbox/items/{id}/files/{index} and /inbox/items/{id}/prompt: downloads of texts and files that a page does not
//! show.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use countersign_hub::Hub;
use countersign_hub::http::extract::{FilePath, MessagePath};
use countersign_hub::inbox::api::{answer_file, full_prompt};
use countersign_hub::problem::Problem;

use crate::layout::page::PageError;
use crate::layout::signed_in_user::SignedInUser;

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
