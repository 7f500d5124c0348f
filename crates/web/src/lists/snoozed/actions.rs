//! Snoozes and restores one item.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use countersign_hub::Hub;
use countersign_hub::http::extract::MessagePath;
use countersign_hub::inbox::snooze;
use countersign_hub::problem::Problem;

use super::until;
use crate::layout::form::PostedForm;
use crate::layout::page::{PageError, PageRequest, back, see_other};
use crate::lists::batch::{BatchAction, BatchResult};

pub async fn snooze(
    State(hub): State<Arc<Hub>>,
    path: Result<MessagePath, Problem>,
    request: PageRequest,
    posted: PostedForm,
) -> Result<Response, PageError> {
    let MessagePath(id) = path?;
    let until = until(&posted.fields, hub.store.clock().now())?;
    snooze::snooze(&hub, &posted.user.name, &id, until).await?;
    // A script shows the result in a toast, with its undo.
    if request.fragment {
        let result = BatchResult::put_away(&hub, BatchAction::Snooze, id, Some(until)).await?;
        return result.page(&hub, &posted.user, &request).await;
    }
    Ok(see_other(back(posted.fields.text("back"))))
}

pub async fn restore(
    State(hub): State<Arc<Hub>>,
    path: Result<MessagePath, Problem>,
    posted: PostedForm,
) -> Result<Response, PageError> {
    let MessagePath(id) = path?;
    snooze::restore(&hub, &posted.user.name, &id).await?;
    Ok(see_other(back(posted.fields.text("back"))))
}
