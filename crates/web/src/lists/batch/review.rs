//! GET /inbox/batch: what will happen to each, before anything does.

use std::sync::Arc;

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use countersign_hub::Hub;
use countersign_hub::problem::Problem;

use super::act::{Act, Wish};
use super::plan::Plan;
use crate::frame::filters;
use crate::frame::form::Fields;
use crate::frame::page::{Asked, Failure, Here, Shell, render};
use crate::frame::signed_in::Visitor;

#[derive(Template)]
#[template(path = "batch_review.html")]
struct ReviewPage {
    shell: Shell,
    act: Act,
    /// With what will be done.
    going: Vec<Line>,
    /// With why it is left.
    left: Vec<Line>,
    reason: String,
    at: String,
    error: Option<Problem>,
}

pub struct Line {
    pub id: String,
    pub title: String,
    pub agent: String,
    pub words: String,
}

impl Line {
    pub fn of(plan: &Plan, words: &str) -> Self {
        Self {
            id: plan.id.to_string(),
            title: plan.title.clone(),
            agent: plan.agent.clone(),
            words: words.to_owned(),
        }
    }
}

pub async fn review(
    State(hub): State<Arc<Hub>>,
    visitor: Visitor,
    asked: Asked,
    RawQuery(query): RawQuery,
) -> Result<Response, Failure> {
    let fields = Fields::parse(query.unwrap_or_default().as_bytes());
    show(&hub, &visitor, &asked, &fields, None).await
}

/// Also what a refused batch leads back to, with everything that was typed.
pub async fn show(
    hub: &Hub,
    visitor: &Visitor,
    asked: &Asked,
    fields: &Fields,
    error: Option<Problem>,
) -> Result<Response, Failure> {
    let wish = Wish::of(fields)?;
    let mut going = Vec::new();
    let mut left = Vec::new();
    for id in &wish.ids {
        let plan = Plan::of(hub, id, wish.act, visitor).await;
        match &plan.step {
            Ok((_, words)) => going.push(Line::of(&plan, words)),
            Err(why) => left.push(Line::of(&plan, why)),
        }
    }
    let here = if wish.act == Act::Archive {
        Here::Notices
    } else {
        Here::List
    };
    let status = error.as_ref().map_or(StatusCode::OK, Problem::status);
    let page = ReviewPage {
        shell: Shell::of(hub, visitor, asked, here, format!("{} selected", wish.act.verb())).await?,
        act: wish.act,
        going,
        left,
        reason: fields.text("reason").to_owned(),
        at: fields.text("at").to_owned(),
        error,
    };
    Ok(render(status, &page))
}
