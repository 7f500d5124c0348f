//! GET /runs/{id}/texts/{seq}: a text that is too long to stand on a page, as a file.

use std::sync::Arc;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::Response;
use countersign_hub::Hub;
use countersign_hub::attachments::to_keep;
use countersign_hub::inbox::runs::text_of;
use countersign_hub::problem::Problem;

use crate::frame::page::Failure;
use crate::frame::signed_in::Visitor;

pub async fn text(
    State(hub): State<Arc<Hub>>,
    visitor: Visitor,
    path: Result<Path<(String, String)>, PathRejection>,
) -> Result<Response, Failure> {
    let read = path
        .ok()
        .and_then(|Path((run_id, seq))| Some((run_id, seq.parse().ok()?)));
    let (run_id, seq): (String, u64) = read.ok_or_else(Problem::no_run)?;
    let text = text_of(&hub, &run_id, seq).await?;
    let hold = hub.room.take(visitor.actor().as_str(), text.len()).await?;
    Ok(to_keep(
        &format!("{run_id}-{seq}.txt"),
        "text/plain; charset=utf-8",
        text.into_bytes(),
        hold,
    ))
}
