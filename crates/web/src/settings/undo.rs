//! POST /inbox/settings/undo: how long the person can take a decision back.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use countersign_core::hold::MAX_UNDO_SECONDS;
use countersign_hub::Hub;
use countersign_hub::problem::Problem;
use countersign_store::ops::message::hold::SetUndoSeconds;

use super::personal;
use crate::language::say;
use crate::layout::form::PostedForm;
use crate::layout::page::{PageError, PageRequest, see_other};

pub async fn save(
    State(hub): State<Arc<Hub>>,
    request: PageRequest,
    posted: PostedForm,
) -> Result<Response, PageError> {
    let PostedForm { user, fields } = posted;
    let seconds: Option<u32> = fields.text("undo_seconds").trim().parse().ok();
    let Some(seconds) = seconds.filter(|seconds| *seconds <= MAX_UNDO_SECONDS) else {
        let message = say!("give whole seconds from 0 (no undo) to {most}", most = MAX_UNDO_SECONDS);
        return personal::show(&hub, &user, &request, Problem::invalid("undo_seconds", message).into()).await;
    };
    let person = user.name.clone();
    hub.store.run(SetUndoSeconds { person, seconds }).await?;
    Ok(see_other("/inbox/settings?done=undo"))
}
