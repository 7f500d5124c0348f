//! GET /inbox/agents: all agents, latest call first.

use std::cmp::Reverse;
use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use countersign_core::Digest;
use countersign_hub::Hub;
use countersign_store::ops::agent::{AgentOverview, ListAgentOverviews};

use super::agent_href;
use super::presence_mark::PresenceMark;
use crate::language::t;
use crate::layout::avatar::Avatar;
use crate::layout::filters;
use crate::layout::formatting::{DisplayTime, display_time};
use crate::layout::page::{PageError, PageLayout, PageRequest, PageSection, render};
use crate::layout::signed_in_user::SignedInUser;
use crate::lists::row::encoded;

/// Agents on the page; those that called last are shown.
const MAX_SHOWN_AGENTS: i64 = 200;

#[derive(Template)]
#[template(path = "agents.html")]
struct AgentsPage {
    layout: PageLayout,
    rows: Vec<AgentRow>,
    /// There may be more agents than the page shows.
    is_cut: bool,
}

struct AgentRow {
    id: String,
    name: String,
    avatar: Avatar,
    href: String,
    /// The project directory and the person of an agent in a terminal.
    place: Option<(String, String)>,
    mark: Option<PresenceMark>,
    /// When it last called.
    seen: Option<DisplayTime>,
    open: i64,
    open_href: String,
    ahead: i64,
    /// Changes with everything that the row shows.
    rev: String,
}

pub async fn agents(
    State(hub): State<Arc<Hub>>,
    user: SignedInUser,
    request: PageRequest,
) -> Result<Response, PageError> {
    let mut found = hub
        .store
        .run(ListAgentOverviews {
            limit: MAX_SHOWN_AGENTS,
        })
        .await?;
    for agent in &mut found {
        agent.seen_at = hub.background.agent_last_seen.get(&agent.agent_id).max(agent.seen_at);
    }
    found.sort_by_key(|agent| Reverse(agent.seen_at.unwrap_or(agent.created_at)));
    let is_cut = i64::try_from(found.len()).is_ok_and(|count| count >= MAX_SHOWN_AGENTS);
    let mut rows = Vec::new();
    for agent in found {
        rows.push(row(&hub, agent).await?);
    }
    let layout = PageLayout::of(&hub, &user, &request, PageSection::Agents, t("Agents")).await?;
    Ok(render(StatusCode::OK, &AgentsPage { layout, rows, is_cut }))
}

async fn row(hub: &Hub, agent: AgentOverview) -> Result<AgentRow, PageError> {
    let mark = PresenceMark::of_agent(hub, &agent).await?;
    let seen_ms = agent.seen_at.map(|at| at.as_millis());
    let shown = format!("{}|{:?}|{seen_ms:?}|{}|{}", agent.name, mark, agent.open, agent.ahead);
    Ok(AgentRow {
        avatar: Avatar::of(&agent.agent_id, &agent.name),
        href: agent_href(&agent.agent_id),
        mark,
        seen: agent.seen_at.map(display_time),
        open: agent.open,
        open_href: format!("/inbox?agent={}", encoded(&agent.agent_id)),
        ahead: agent.ahead,
        place: agent
            .residence
            .map(|residence| (residence.project_dir, residence.person)),
        name: agent.name,
        id: agent.agent_id,
        rev: Digest::of(shown.as_bytes()).to_string(),
    })
}
