//! Setting one item aside, and taking it back.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use countersign_hub::Hub;
use countersign_hub::extract::MessagePath;
use countersign_hub::inbox::shelf;
use countersign_hub::problem::Problem;

use super::until;
use crate::frame::form::Posted;
use crate::frame::page::{Failure, back, see_other};

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
