//! GET /inbox/terminals: agents in terminals, latest call first.

use std::cmp::Reverse;
use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use countersign_hub::Hub;
use countersign_hub::problem::Problem;
use countersign_store::ops::terminal::{ListTerminals, TerminalSummary};

use super::ahead::{AheadBox, RefusedText};
use super::presence_mark::PresenceMark;
use crate::layout::filters;
use crate::layout::formatting::{DisplayTime, display_time};
use crate::layout::page::{PageError, PageLayout, PageRequest, PageSection, render};
use crate::layout::signed_in_user::SignedInUser;
use crate::lists::row::encoded;

/// Agents on the page; those that called last are shown.
const MAX_SHOWN_AGENTS: i64 = 200;

#[derive(Template)]
#[template(path = "terminals.html")]
struct TerminalsPage {
    layout: PageLayout,
    agents: Vec<TerminalRow>,
    /// The error of a refused request.
    problem: String,
}

struct TerminalRow {
    id: String,
    runtime: String,
    project_dir: String,
    terminal: String,
    person: String,
    mark: PresenceMark,
    active: DisplayTime,
    open: i64,
    open_href: String,
    last_cue_id: String,
    /// Number of queued texts, for people who may not read them.
    ahead: i64,
    own: Option<AheadBox>,
}

pub async fn terminals(
    State(hub): State<Arc<Hub>>,
    user: SignedInUser,
    request: PageRequest,
) -> Result<Response, PageError> {
    show(&hub, &user, &request, None).await
}

/// Shows the page again, with the refused text in its form.
pub async fn refused(
    hub: &Hub,
    user: &SignedInUser,
    request: &PageRequest,
    refused: RefusedText,
) -> Result<Response, PageError> {
    if matches!(refused.problem, Problem::Unavailable { .. }) {
        return Err(refused.problem.into());
    }
    show(hub, user, request, Some(refused)).await
}

async fn show(
    hub: &Hub,
    user: &SignedInUser,
    request: &PageRequest,
    refused: Option<RefusedText>,
) -> Result<Response, PageError> {
    let mut found = hub
        .store
        .run(ListTerminals {
            limit: MAX_SHOWN_AGENTS,
        })
        .await?;
    for agent in &mut found {
        agent.seen_at = hub
            .background
            .agent_last_seen
            .get(&agent.terminal.agent_id)
            .or(agent.seen_at);
    }
    found.sort_by_key(|agent| Reverse(agent.seen_at.unwrap_or(agent.joined_at)));
    let mut agents = Vec::new();
    for (nth, summary) in found.into_iter().enumerate() {
        agents.push(shown(hub, user, nth, summary, refused.as_ref()).await?);
    }
    let (status, problem) = match &refused {
        Some(RefusedText { problem, .. }) => (problem.status(), problem_text(problem)),
        None => (StatusCode::OK, String::new()),
    };
    let layout = PageLayout::of(hub, user, request, PageSection::Terminals, "Terminals").await?;
    Ok(render(
        status,
        &TerminalsPage {
            layout,
            agents,
            problem,
        },
    ))
}

/// The message without its field name, because it is shown beside the field.
fn problem_text(problem: &Problem) -> String {
    match problem {
        Problem::InvalidField { message, .. } => message.clone(),
        other => other.message(),
    }
}

async fn shown(
    hub: &Hub,
    user: &SignedInUser,
    nth: usize,
    agent: TerminalSummary,
    refused: Option<&RefusedText>,
) -> Result<TerminalRow, PageError> {
    let id = agent.terminal.agent_id.clone();
    let mut own = AheadBox::of(hub, user, &id, &agent.person).await?;
    if let Some(own) = &mut own {
        own.nth = nth;
    }
    if let (Some(own), Some(refused)) = (&mut own, refused.filter(|refused| refused.agent_id == id)) {
        own.text.clone_from(&refused.text);
        own.error = problem_text(&refused.problem);
    }
    Ok(TerminalRow {
        mark: PresenceMark::of_agent(hub, &agent).await?,
        active: display_time(agent.seen_at.unwrap_or(agent.joined_at)),
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
