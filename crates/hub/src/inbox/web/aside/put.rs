//! Snoozes and restores one item.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;

use super::until;
use crate::app::Hub;
use crate::extract::MessagePath;
use crate::inbox::shelf;
use crate::inbox::web::form::PostedForm;
use crate::inbox::web::page::{PageError, back, see_other};
use crate::problem::Problem;

pub async fn snooze(
    State(hub): State<Arc<Hub>>,
    path: Result<MessagePath, Problem>,
    posted: PostedForm,
) -> Result<Response, PageError> {
    let MessagePath(id) = path?;
    let until = until(&posted.fields, hub.store.clock().now())?;
    shelf::snooze(&hub, &posted.user.name, &id, until).await?;
    Ok(see_other(back(posted.fields.text("back"))))
}

pub async fn restore(
    State(hub): State<Arc<Hub>>,
    path: Result<MessagePath, Problem>,
    posted: PostedForm,
) -> Result<Response, PageError> {
    let MessagePath(id) = path?;
    shelf::restore(&hub, &posted.user.name, &id).await?;
    Ok(see_other(back(posted.fields.text("back"))))
}
