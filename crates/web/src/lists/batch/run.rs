//! POST /inbox/batch: runs a batch, one item after the other. Failed items stay as they are, and the page says why.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use countersign_core::limits::check_comment;
use countersign_core::{Command, Verdict};
use countersign_hub::Hub;
use countersign_hub::inbox::snooze;
use countersign_hub::problem::Problem;
use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;
use countersign_store::ops::message::hold::UndoSeconds;

use super::action::{BatchAction, BatchRequest};
use super::plan::{BatchPlan, BatchStep};
use super::review::{BatchLine, show};
use crate::item::normalize_newlines;
use crate::layout::filters;
use crate::layout::form::{FormFields, PostedForm};
use crate::layout::formatting::{self, DisplayTime};
use crate::layout::page::{PageError, PageLayout, PageRequest, PageSection, render};
use crate::layout::signed_in_user::SignedInUser;
use crate::lists::snoozed::until;

#[derive(Template)]
#[template(path = "batch_done.html")]
struct DonePage {
    layout: PageLayout,
    action: BatchAction,
    until: Option<DisplayTime>,
    done: Vec<BatchLine>,
    failed: Vec<BatchLine>,
    /// The decisions can still be taken back, for this long.
    undo_seconds: u32,
}

/// The options that apply to every item of the batch.
struct BatchOptions {
    action: BatchAction,
    reason: Option<String>,
    until: Option<Timestamp>,
}

impl BatchOptions {
    fn of(action: BatchAction, fields: &FormFields, now: Timestamp) -> Result<Self, Problem> {
        let typed = ["preset", "reason"].map(|name| normalize_newlines(fields.text(name)).trim().to_owned());
        let given: Vec<String> = typed.into_iter().filter(|text| !text.is_empty()).collect();
        let reason = given.join("\n");
        check_comment(&reason)?;
        let reason = (action.decides() && !reason.is_empty()).then_some(reason);
        let until = if action == BatchAction::Snooze {
            Some(until(fields, now)?)
        } else {
            None
        };
        Ok(Self { action, reason, until })
    }
}

pub async fn run(State(hub): State<Arc<Hub>>, request: PageRequest, posted: PostedForm) -> Result<Response, PageError> {
    let PostedForm { user, fields } = posted;
    let batch = BatchRequest::of(&fields)?;
    let options = match BatchOptions::of(batch.action, &fields, hub.store.clock().now()) {
        Ok(options) => options,
        Err(problem) => return show(&hub, &user, &request, &fields, Some(problem)).await,
    };
    let mut done = Vec::new();
    let mut failed = Vec::new();
    for id in &batch.ids {
        let plan = BatchPlan::of(&hub, id, options.action, &user).await;
        match apply(&hub, &plan, &options, &user).await {
            Ok(text) => done.push(BatchLine::of(&plan, &text)),
            Err(why) => failed.push(BatchLine::of(&plan, &why)),
        }
    }
    let section = if options.action == BatchAction::Archive {
        PageSection::Notices
    } else {
        PageSection::List
    };
    let page = DonePage {
        layout: PageLayout::of(&hub, &user, &request, section, "Done").await?,
        action: options.action,
        until: options.until.map(formatting::display_time),
        done,
        failed,
        undo_seconds: undo_seconds(&hub, &user, options.action).await?,
    };
    Ok(render(StatusCode::OK, &page))
}

async fn undo_seconds(hub: &Hub, user: &SignedInUser, action: BatchAction) -> Result<u32, PageError> {
    if !action.decides() {
        return Ok(0);
    }
    let person = user.name.clone();
    let own = hub.store.run(UndoSeconds { person }).await?;
    Ok(own.unwrap_or(hub.config.undo_seconds))
}

async fn apply(hub: &Hub, plan: &BatchPlan, options: &BatchOptions, user: &SignedInUser) -> Result<String, String> {
    let (step, text) = plan.step.as_ref().map_err(String::clone)?;
    let applied = match (step, options.until) {
        (BatchStep::Decide(verdict), _) => resolve(hub, &plan.id, verdict, options, user).await,
        (BatchStep::Snooze, Some(until)) => snooze::snooze(hub, &user.name, &plan.id, until).await,
        (BatchStep::Snooze, None) => Err(Problem::invalid("until", "choose until when to snooze it")),
        (BatchStep::Archive, _) => snooze::archive(hub, &user.name, &plan.id).await,
    };
    applied.map(|()| text.clone()).map_err(|problem| problem.message())
}

async fn resolve(
    hub: &Hub,
    id: &MessageId,
    verdict: &Verdict,
    options: &BatchOptions,
    user: &SignedInUser,
) -> Result<(), Problem> {
    let actor = user.principal().resolver()?;
    let command = Command::Resolve {
        actor,
        verdict: verdict.clone(),
        comment: options.reason.clone(),
    };
    hub.messages.hold_exactly(id, command, Vec::new()).await.map(drop)
}
