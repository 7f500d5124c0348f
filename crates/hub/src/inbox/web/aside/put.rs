//! Setting one item aside, and taking it back.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use countersign_core::{Rejection, State as MessageState};
use countersign_protocol::id::MessageId;
use countersign_store::model::{Found, Item};
use countersign_store::ops::pull::View;
use countersign_store::ops::shelf::{PutAway, TakeBack};

use super::until;
use crate::app::Hub;
use crate::extract::MessagePath;
use crate::inbox::web::form::Posted;
use crate::inbox::web::page::{Failure, back, see_other};
use crate::problem::Problem;

pub async fn load(hub: &Hub, id: &MessageId) -> Result<Item, Problem> {
    match hub.store.run(View(id.clone())).await? {
        Some(Found::Live(item)) => Ok(item),
        Some(Found::Gone { .. }) => Err(Problem::Gone),
        None => Err(Problem::no_message()),
    }
}

pub async fn aside(
    State(hub): State<Arc<Hub>>,
    path: Result<MessagePath, Problem>,
    posted: Posted,
) -> Result<Response, Failure> {
    let MessagePath(id) = path?;
    let until = until(&posted.fields, hub.store.clock().now())?;
    let put = PutAway { person: posted.visitor.name, id: id.clone(), until: Some(until) };
    if hub.store.run(put).await? {
        return Ok(see_other(back(posted.fields.text("back"))));
    }
    Err(why_not(&hub, &id).await.into())
}

/// Only what is open is set aside.
async fn why_not(hub: &Hub, id: &MessageId) -> Problem {
    match load(hub, id).await.map(|item| item.message.state) {
        Ok(MessageState::Delivered) => {
            let message = "a notice waits for nothing; archive it instead".to_owned();
            Problem::Validation { field: None, message }
        }
        Ok(MessageState::Resolved(resolution)) => Rejection::already(id, &resolution).into(),
        Ok(MessageState::Open) => Problem::no_message(),
        Err(problem) => problem,
    }
}

/// Taking back what is there already changes nothing.
pub async fn take_back(
    State(hub): State<Arc<Hub>>,
    path: Result<MessagePath, Problem>,
    posted: Posted,
) -> Result<Response, Failure> {
    let MessagePath(id) = path?;
    hub.store.run(TakeBack { person: posted.visitor.name, id }).await?;
    Ok(see_other(back(posted.fields.text("back"))))
}
