//! POST /inbox/batch/undo: takes a batch back, item by item. An answer that was sent stays, and the page says so.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use countersign_hub::Hub;
use countersign_hub::inbox::snooze;
use countersign_hub::problem::Problem;
use countersign_protocol::id::MessageId;

use super::action::{BatchAction, BatchRequest};
use super::done::BatchResult;
use super::plan::Planner;
use super::review::BatchLine;
use crate::language::{problem_text, t};
use crate::layout::form::PostedForm;
use crate::layout::page::{PageError, PageRequest};
use crate::layout::signed_in_user::SignedInUser;

pub async fn undo(
    State(hub): State<Arc<Hub>>,
    request: PageRequest,
    posted: PostedForm,
) -> Result<Response, PageError> {
    let PostedForm { user, fields } = posted;
    let batch = BatchRequest::of(&fields)?;
    let mut result = BatchResult {
        past: "Taken back",
        ..BatchResult::of(batch.action)
    };
    let planner = Planner::of(&hub, &user, &batch, "").await;
    for id in &batch.ids {
        let taken_back = take_back(&hub, &user, batch.action, id).await;
        let plan = planner.plan(id).await;
        match taken_back {
            Ok(()) => result.done.push(BatchLine::of(&plan, t("taken back"))),
            Err(why) => result.failed.push(BatchLine::of(&plan, &why)),
        }
    }
    result.page(&hub, &user, &request).await
}

async fn take_back(hub: &Hub, user: &SignedInUser, action: BatchAction, id: &MessageId) -> Result<(), String> {
    let taken_back = if action.decides() {
        hub.messages.take_back(id, user.actor()).await
    } else {
        snooze::restore(hub, &user.name, id).await
    };
    match taken_back {
        Ok(()) | Err(Problem::NotHeld { .. }) => Ok(()),
        Err(Problem::AlreadyTerminal { .. }) => Err(t("too late: the answer was sent").to_owned()),
        Err(problem) => Err(problem_text(&problem)),
    }
}
