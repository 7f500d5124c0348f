//! Setting one item aside, and taking it back.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;

use super::until;
use crate::app::Hub;
use crate::extract::MessagePath;
use crate::inbox::shelf;
use crate::inbox::web::form::Posted;
use crate::inbox::web::page::{Failure, back, see_other};
use crate::problem::Problem;

pub async fn aside(
    State(hub): State<Arc<Hub>>,
    path: Result<MessagePath, Problem>,
    posted: Posted,
) -> Result<Response, Failure> {
    let MessagePath(id) = path?;
    let until = until(&posted.fields, hub.store.clock().now())?;
    shelf::set_aside(&hub, &posted.visitor.name, &id, until).await?;
    Ok(see_other(back(posted.fields.text("back"))))
}

pub async fn take_back(
    State(hub): State<Arc<Hub>>,
    path: Result<MessagePath, Problem>,
    posted: Posted,
) -> Result<Response, Failure> {
    let MessagePath(id) = path?;
    shelf::take_back(&hub, &posted.visitor.name, &id).await?;
    Ok(see_other(back(posted.fields.text("back"))))
}
