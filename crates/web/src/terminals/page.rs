//! GET /inbox/terminals: agents in terminals, the latest to call first.

use std::cmp::Reverse;
use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use countersign_hub::Hub;
use countersign_hub::problem::Problem;
use countersign_store::ops::terminal::{TerminalSummary, Terminals};

use super::ahead::{AheadBox, Refused};
use super::state::Mark;
use crate::frame::filters;
use crate::frame::format::{Instant, instant};
use crate::frame::page::{Asked, Failure, Here, Shell, render};
use crate::frame::signed_in::Visitor;
use crate::lists::row::encoded;

/// The latest are shown.
const MOST_SHOWN: i64 = 200;

#[derive(Template)]
#[template(path = "terminals.html")]
struct TerminalsPage {
    shell: Shell,
    agents: Vec<Agent>,
    /// Of what was sent.
    problem: String,
}

struct Agent {
    id: String,
    runtime: String,
    project_dir: String,
    terminal: String,
    person: String,
    mark: Mark,
    active: Instant,
    open: i64,
    open_href: String,
    last_cue_id: String,
    /// How many texts wait, for those who may not read them.
    ahead: i64,
    own: Option<AheadBox>,
}

pub async fn terminals(State(hub): State<Arc<Hub>>, visitor: Visitor, asked: Asked) -> Result<Response, Failure> {
    show(&hub, &visitor, &asked, None).await
}

/// The page again, with what was not taken where it was typed.
pub async fn refused(hub: &Hub, visitor: &Visitor, asked: &Asked, refused: Refused) -> Result<Response, Failure> {
    if matches!(refused.problem, Problem::Unavailable { .. }) {
        return Err(refused.problem.into());
    }
    show(hub, visitor, asked, Some(refused)).await
}

async fn show(hub: &Hub, visitor: &Visitor, asked: &Asked, refused: Option<Refused>) -> Result<Response, Failure> {
    let mut found = hub.store.run(Terminals { limit: MOST_SHOWN }).await?;
    for agent in &mut found {
        agent.seen_at = hub.presence.seen(&agent.terminal.agent_id).or(agent.seen_at);
    }
    found.sort_by_key(|agent| Reverse(agent.seen_at.unwrap_or(agent.joined_at)));
    let mut agents = Vec::new();
    for (nth, summary) in found.into_iter().enumerate() {
        agents.push(shown(hub, visitor, nth, summary, refused.as_ref()).await?);
    }
    let (status, problem) = match &refused {
        Some(Refused { problem, .. }) => (problem.status(), words(problem)),
        None => (StatusCode::OK, String::new()),
    };
    let shell = Shell::of(hub, visitor, asked, Here::Terminals, "Terminals").await?;
    Ok(render(status, &TerminalsPage { shell, agents, problem }))
}

/// Beside the field it is about, its name says nothing.
fn words(problem: &Problem) -> String {
    match problem {
        Problem::InvalidField { message, .. } => message.clone(),
        other => other.message(),
    }
}

async fn shown(
    hub: &Hub,
    visitor: &Visitor,
    nth: usize,
    agent: TerminalSummary,
    refused: Option<&Refused>,
) -> Result<Agent, Failure> {
    let id = agent.terminal.agent_id.clone();
    let mut own = AheadBox::of(hub, visitor, &id, &agent.person).await?;
    if let Some(own) = &mut own {
        own.nth = nth;
    }
    if let (Some(own), Some(refused)) = (&mut own, refused.filter(|refused| refused.agent_id == id)) {
        own.text.clone_from(&refused.text);
        own.error = words(&refused.problem);
    }
    Ok(Agent {
        mark: Mark::of_agent(hub, &agent).await?,
        active: instant(agent.seen_at.unwrap_or(agent.joined_at)),
        open: agent.open,
        open_href: format!("/inbox?agent={}", encoded(&id)),
        last_cue_id: agent.last_cue_id.map(|id| id.to_string()).unwrap_or_default(),
        ahead: agent.ahead,
        runtime: agent.terminal.runtime,
        project_dir: agent.terminal.project_dir,
        terminal: agent.terminal.terminal,
        person: agent.person,
        own,
        id,
    })
}
