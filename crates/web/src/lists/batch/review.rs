//! GET /inbox/batch: reviews a batch before it runs.

use std::sync::Arc;

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use countersign_core::asker::asker_name;
use countersign_hub::Hub;
use countersign_hub::problem::Problem;
use countersign_protocol::a2h::Choice;
use countersign_store::model::PersonView;

use super::action::{BatchAction, BatchRequest};
use super::plan::{BatchPlan, Planner};
use crate::language::t;
use crate::layout::filters;
use crate::layout::form::FormFields;
use crate::layout::page::{PageError, PageLayout, PageRequest, PageSection, render};
use crate::layout::signed_in_user::SignedInUser;
use crate::settings::reasons;

#[derive(Template)]
#[template(path = "batch_review.html")]
struct ReviewPage {
    layout: PageLayout,
    action: BatchAction,
    /// The items that will change.
    included: Vec<BatchLine>,
    /// The items that are skipped, with the reason.
    skipped: Vec<BatchLine>,
    reason: String,
    /// Preset reasons, and the one that was picked.
    presets: Vec<String>,
    preset: String,
    at: String,
    /// The choices of equal selects, and the one that was picked.
    choices: Vec<Choice>,
    value: String,
    error: Option<Problem>,
}

pub struct BatchLine {
    pub id: String,
    pub title: String,
    pub agent: String,
    pub text: String,
}

impl BatchLine {
    pub fn of(plan: &BatchPlan, text: &str) -> Self {
        Self {
            id: plan.id.to_string(),
            title: plan.title.clone(),
            agent: plan.agent.clone(),
            text: text.to_owned(),
        }
    }

    pub fn of_item(item: &PersonView, text: &str) -> Self {
        Self {
            id: item.message.id.to_string(),
            title: item.message.content.title.clone(),
            agent: asker_name(&item.message, &item.agent_name).to_owned(),
            text: text.to_owned(),
        }
    }
}

pub async fn review(
    State(hub): State<Arc<Hub>>,
    user: SignedInUser,
    request: PageRequest,
    RawQuery(query): RawQuery,
) -> Result<Response, PageError> {
    let fields = FormFields::parse(query.unwrap_or_default().as_bytes());
    show(&hub, &user, &request, &fields, None).await
}

/// Also shown after a refused batch, with the typed input.
pub async fn show(
    hub: &Hub,
    user: &SignedInUser,
    request: &PageRequest,
    fields: &FormFields,
    error: Option<Problem>,
) -> Result<Response, PageError> {
    let batch = BatchRequest::of(fields)?;
    let mut included = Vec::new();
    let mut skipped = Vec::new();
    let planner = Planner::of(hub, user, &batch, fields.text("value")).await;
    for id in &batch.ids {
        let plan = planner.plan(id).await;
        match &plan.step {
            Ok((_, text)) => included.push(BatchLine::of(&plan, text)),
            Err(why) => skipped.push(BatchLine::of(&plan, why)),
        }
    }
    let status = error.as_ref().map_or(StatusCode::OK, Problem::status);
    let page = ReviewPage {
        layout: PageLayout::of(hub, user, request, batch.action.section(), t(batch.action.verb())).await?,
        action: batch.action,
        included,
        skipped,
        reason: fields.text("reason").to_owned(),
        presets: match batch.action {
            BatchAction::Deny | BatchAction::Decline => reasons(hub).await?,
            _ => Vec::new(),
        },
        preset: fields.text("preset").to_owned(),
        at: fields.text("at").to_owned(),
        choices: planner.choices(),
        value: fields.text("value").to_owned(),
        error,
    };
    Ok(render(status, &page))
}
