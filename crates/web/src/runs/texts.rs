//! GET /runs/{id}/texts/{seq}: downloads a text that is too long for the page.

use std::sync::Arc;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::Response;
use countersign_hub::Hub;
use countersign_hub::http::attachments::download;
use countersign_hub::inbox::runs::event_text;
use countersign_hub::problem::Problem;

use crate::layout::page::PageError;
use crate::layout::signed_in_user::SignedInUser;

pub async fn text(
    State(hub): State<Arc<Hub>>,
    user: SignedInUser,
    path: Result<Path<(String, String)>, PathRejection>,
) -> Result<Response, PageError> {
    let read = path
        .ok()
        .and_then(|Path((run_id, seq))| Some((run_id, seq.parse().ok()?)));
    let (run_id, seq): (String, u64) = read.ok_or_else(Problem::no_run)?;
    let text = event_text(&hub, &run_id, seq).await?;
    let permit = hub.limits.memory.acquire(user.actor().as_str(), text.len()).await?;
    Ok(download(
        &format!("{run_id}-{seq}.txt"),
        "text/plain; charset=utf-8",
        text.into_bytes(),
        permit,
    ))
}
