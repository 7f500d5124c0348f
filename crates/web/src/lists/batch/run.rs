//! POST /inbox/batch: one after the other. What fails stays where it was, and the page says why.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use countersign_core::limits::check_comment;
use countersign_core::{Command, Verdict};
use countersign_hub::Hub;
use countersign_hub::inbox::shelf;
use countersign_hub::problem::Problem;
use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;

use super::act::{Act, Wish};
use super::plan::{Plan, Step};
use super::review::{Line, show};
use crate::frame::filters;
use crate::frame::form::{Fields, Posted};
use crate::frame::format::{self, Instant};
use crate::frame::page::{Asked, Failure, Here, Shell, render};
use crate::frame::signed_in::Visitor;
use crate::item::lines;
use crate::lists::snoozed::until;

#[derive(Template)]
#[template(path = "batch_done.html")]
struct DonePage {
    shell: Shell,
    act: Act,
    until: Option<Instant>,
    done: Vec<Line>,
    failed: Vec<Line>,
}

/// What goes with every item of the batch.
struct Order {
    act: Act,
    reason: Option<String>,
    until: Option<Timestamp>,
}

impl Order {
    fn of(act: Act, fields: &Fields, now: Timestamp) -> Result<Self, Problem> {
        let reason = lines(fields.text("reason"));
        let reason = reason.trim();
        check_comment(reason)?;
        let reason = (act.decides() && !reason.is_empty()).then(|| reason.to_owned());
        let until = if act == Act::Aside {
            Some(until(fields, now)?)
        } else {
            None
        };
        Ok(Self { act, reason, until })
    }
}

pub async fn run(State(hub): State<Arc<Hub>>, asked: Asked, posted: Posted) -> Result<Response, Failure> {
    let Posted { visitor, fields } = posted;
    let wish = Wish::of(&fields)?;
    let order = match Order::of(wish.act, &fields, hub.store.clock().now()) {
        Ok(order) => order,
        Err(problem) => return show(&hub, &visitor, &asked, &fields, Some(problem)).await,
    };
    let mut done = Vec::new();
    let mut failed = Vec::new();
    for id in &wish.ids {
        let plan = Plan::of(&hub, id, order.act, &visitor).await;
        match carry_out(&hub, &plan, &order, &visitor).await {
            Ok(words) => done.push(Line::of(&plan, &words)),
            Err(why) => failed.push(Line::of(&plan, &why)),
        }
    }
    let here = if order.act == Act::Archive {
        Here::Notices
    } else {
        Here::List
    };
    let page = DonePage {
        shell: Shell::of(&hub, &visitor, &asked, here, "Done").await?,
        act: order.act,
        until: order.until.map(format::instant),
        done,
        failed,
    };
    Ok(render(StatusCode::OK, &page))
}

async fn carry_out(hub: &Hub, plan: &Plan, order: &Order, visitor: &Visitor) -> Result<String, String> {
    let (step, words) = plan.step.as_ref().map_err(String::clone)?;
    let carried_out = match (step, order.until) {
        (Step::Decide(verdict), _) => decide(hub, &plan.id, verdict, order, visitor).await,
        (Step::SetAside, Some(until)) => shelf::set_aside(hub, &visitor.name, &plan.id, until).await,
        (Step::SetAside, None) => Err(Problem::invalid("until", "say until when")),
        (Step::Archive, _) => shelf::archive(hub, &visitor.name, &plan.id).await,
    };
    carried_out.map(|()| words.clone()).map_err(|problem| problem.message())
}

async fn decide(hub: &Hub, id: &MessageId, verdict: &Verdict, order: &Order, visitor: &Visitor) -> Result<(), Problem> {
    let actor = visitor.principal().resolver()?;
    let command = Command::Resolve {
        actor,
        verdict: verdict.clone(),
        comment: order.reason.clone(),
    };
    hub.bring_about(id, command).await.map(drop)
}
