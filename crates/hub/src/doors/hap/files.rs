//! GET /v1/hap/cues/{id}/files/{index}

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use countersign_core::State as MessageState;

use super::wait::load_cue;
use crate::Hub;
use crate::http::attachments::attachment_response;
use crate::http::callers::TerminalCaller;
use crate::http::extract::FilePath;
use crate::problem::Problem;

pub async fn file(
    State(hub): State<Arc<Hub>>,
    caller: TerminalCaller,
    FilePath { id, index }: FilePath,
) -> Result<Response, Problem> {
    let found = load_cue(&hub, &caller.person, &id).await?;
    match &found.view.state {
        MessageState::Resolved(resolution) => attachment_response(&hub, &caller.key(), &id, resolution, index).await,
        MessageState::Open | MessageState::Delivered => Err(Problem::no_file()),
    }
}
