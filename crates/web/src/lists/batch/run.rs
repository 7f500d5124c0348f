//! POST /inbox/batch: runs a batch, one item after the other. Failed items stay as they are, and the page says why.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use countersign_core::limits::check_comment;
use countersign_core::{Command, Verdict};
use countersign_hub::Hub;
use countersign_hub::inbox::snooze;
use countersign_hub::messages::PersonDecision;
use countersign_hub::problem::Problem;
use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;

use super::action::{BatchAction, BatchRequest};
use super::done::BatchResult;
use super::plan::{BatchPlan, BatchStep, Planner};
use super::review::{BatchLine, show};
use crate::item::normalize_newlines;
use crate::language::problem_text;
use crate::layout::form::{FormFields, PostedForm};
use crate::layout::page::{PageError, PageRequest};
use crate::layout::signed_in_user::SignedInUser;
use crate::lists::snoozed::until;

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
        if action == BatchAction::Answer && fields.text("value").is_empty() {
            return Err(Problem::invalid("value", "pick one of the choices"));
        }
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
    let mut result = BatchResult {
        until: options.until,
        ..BatchResult::of(batch.action)
    };
    let planner = Planner::of(&hub, &user, &batch, fields.text("value")).await;
    for id in &batch.ids {
        let plan = planner.plan(id).await;
        match apply(&hub, &plan, &options, &user).await {
            Ok(applied) => {
                result.done.push(BatchLine::of(&plan, &applied.text));
                result.undoable.extend(applied.can_undo.then(|| id.clone()));
                result.held_until = applied.held_until.max(result.held_until);
            }
            Err(why) => result.failed.push(BatchLine::of(&plan, &why)),
        }
    }
    result.page(&hub, &user, &request).await
}

/// One item that was changed.
struct Applied {
    text: String,
    can_undo: bool,
    held_until: Option<Timestamp>,
}

async fn apply(hub: &Hub, plan: &BatchPlan, options: &BatchOptions, user: &SignedInUser) -> Result<Applied, String> {
    let (step, text) = plan.step.as_ref().map_err(String::clone)?;
    let held_until = match (step, options.until) {
        (BatchStep::Decide(verdict), _) => resolve(hub, &plan.id, verdict, options, user).await,
        (BatchStep::Snooze, Some(until)) => snooze::snooze(hub, &user.name, &plan.id, until).await.map(|()| None),
        (BatchStep::Snooze, None) => Err(Problem::invalid("until", "choose until when to snooze it")),
        (BatchStep::Archive, _) => snooze::archive(hub, &user.name, &plan.id).await.map(|()| None),
    };
    let held_until = held_until.map_err(|problem| problem_text(&problem))?;
    Ok(Applied {
        text: text.clone(),
        can_undo: held_until.is_some() || !options.action.decides(),
        held_until,
    })
}

/// Returns the end of the hold, if there is one.
async fn resolve(
    hub: &Hub,
    id: &MessageId,
    verdict: &Verdict,
    options: &BatchOptions,
    user: &SignedInUser,
) -> Result<Option<Timestamp>, Problem> {
    let actor = user.principal().resolver()?;
    let command = Command::Resolve {
        actor,
        verdict: verdict.clone(),
        comment: options.reason.clone(),
    };
    Ok(match hub.messages.hold_exactly(id, command, Vec::new()).await? {
        PersonDecision::Held(hold) => Some(hold.until),
        PersonDecision::Resolved(_) => None,
    })
}
