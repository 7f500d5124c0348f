//! GET /inbox/agents/{id}: one agent with its conversation, newest at the end.

use std::sync::Arc;

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use countersign_core::agent_name;
use countersign_core::asker::{run_agent, run_href};
use countersign_core::vocabulary::Action;
use countersign_hub::Hub;
use countersign_hub::http::extract::AgentPath;
use countersign_hub::problem::Problem;
use countersign_store::model::{ListEntry, entry_seq};
use countersign_store::ops::agent::{AgentOverview, AgentOverviewOf, Residence};
use countersign_store::ops::list::History;

use super::ahead::AheadBox;
use super::facts::AgentFacts;
use super::names::agent_label;
use super::presence_mark::PresenceMark;
use super::rename::may_rename;
use super::reply::ReplyBox;
use super::thread::{EntryState, ThreadEntry};
use super::{ADDRESS, agent_href};
use crate::item::{AnswerView, FormAnswerCell};
use crate::language::t;
use crate::layout::avatar::Avatar;
use crate::layout::filters;
use crate::layout::form::FormFields;
use crate::layout::formatting::{DisplayTime, display_time};
use crate::layout::page::{PageError, PageLayout, PageRequest, PageSection, render};
use crate::layout::signed_in_user::SignedInUser;
use crate::lists::row::encoded;

/// Messages on one page.
const PAGE_SIZE: i64 = 30;

#[derive(Template)]
#[template(path = "agent.html")]
struct AgentPage {
    layout: PageLayout,
    head: AgentHead,
    facts: AgentFacts,
    entries: Vec<ThreadEntry>,
    /// The page with earlier messages.
    earlier: Option<String>,
    /// The page with the latest messages, unless it is this one.
    latest: Option<String>,
    reply: Option<ReplyBox>,
    ahead: Option<AheadBox>,
    /// The name form's value and error.
    rename: Option<RenameForm>,
    /// The error of a refused request.
    problem: String,
}

struct AgentHead {
    id: String,
    name: String,
    avatar: Avatar,
    href: String,
    /// `None` for an agent that was removed, and for an agent of a run.
    overview: Option<AgentOverview>,
    run_href: Option<String>,
    mark: Option<PresenceMark>,
    seen: Option<DisplayTime>,
    open_href: String,
    history_href: String,
    /// The credentials, for owners. An agent in a terminal has none.
    settings_href: Option<String>,
}

struct RenameForm {
    value: String,
    error: String,
}

/// A request from this page that was refused.
pub enum Refusal {
    QueuedText { text: String, problem: Problem },
    Name { name: String, problem: Problem },
}

impl Refusal {
    fn problem(&self) -> &Problem {
        match self {
            Self::QueuedText { problem, .. } | Self::Name { problem, .. } => problem,
        }
    }

    /// The message without its field name, because it is shown beside the field.
    fn text(&self) -> String {
        match self.problem() {
            Problem::InvalidField { message, .. } => t(message).to_owned(),
            other => t(&other.message()).to_owned(),
        }
    }
}

pub fn no_such_agent() -> PageError {
    PageError::Problem(Problem::NotFound {
        message: "There is no such agent.".to_owned(),
    })
}

pub async fn agent(
    State(hub): State<Arc<Hub>>,
    AgentPath(agent_id): AgentPath,
    user: SignedInUser,
    request: PageRequest,
    RawQuery(query): RawQuery,
) -> Result<Response, PageError> {
    let query = FormFields::parse(query.unwrap_or_default().as_bytes());
    let before = match query.text("before") {
        "" => None,
        text => Some(text.parse().map_err(|_| invalid_cursor())?),
    };
    let page = AgentPage::load(&hub, &user, &request, &agent_id, before).await?;
    Ok(render(StatusCode::OK, &page))
}

fn invalid_cursor() -> Problem {
    Problem::validation("before", "before is not valid; start again at the latest messages")
}

/// Shows the page again, with the refused text in its form.
pub async fn refused(
    hub: &Hub,
    user: &SignedInUser,
    request: &PageRequest,
    agent_id: &str,
    refusal: Refusal,
) -> Result<Response, PageError> {
    if matches!(refusal.problem(), Problem::Unavailable { .. }) {
        let (Refusal::QueuedText { problem, .. } | Refusal::Name { problem, .. }) = refusal;
        return Err(problem.into());
    }
    let mut page = AgentPage::load(hub, user, request, agent_id, None).await?;
    let status = refusal.problem().status();
    page.problem = refusal.text();
    match (refusal, &mut page.ahead, &mut page.rename) {
        (Refusal::QueuedText { text, .. }, Some(ahead), _) => {
            ahead.text = text;
            ahead.error.clone_from(&page.problem);
        }
        (Refusal::Name { name, .. }, _, Some(rename)) => {
            rename.value = name;
            rename.error.clone_from(&page.problem);
        }
        _ => {}
    }
    Ok(render(status, &page))
}

impl AgentPage {
    async fn load(
        hub: &Hub,
        user: &SignedInUser,
        request: &PageRequest,
        agent_id: &str,
        before: Option<i64>,
    ) -> Result<Self, PageError> {
        let now = hub.store.clock().now();
        let (found, has_earlier) = messages(hub, agent_id, before).await?;
        let head = AgentHead::of(hub, user, agent_id, &found).await?;
        let mut entries = Vec::new();
        for entry in found.iter().rev() {
            entries.push(ThreadEntry::of(hub, user, entry, now).await?);
        }
        let earlier = found.last().filter(|_| has_earlier).map(entry_seq);
        let is_latest = before.is_none();
        Ok(Self {
            layout: PageLayout::of(hub, user, request, PageSection::Agent, head.name.clone()).await?,
            facts: AgentFacts::of(hub, agent_id, now).await?,
            entries,
            earlier: earlier.map(|seq| format!("{}?before={seq}", head.href)),
            latest: (!is_latest).then(|| head.href.clone()),
            reply: ReplyBox::of(&found, user).filter(|_| is_latest),
            ahead: match &head.overview {
                Some(agent) if is_latest => ahead(hub, user, agent).await?,
                Some(_) | None => None,
            },
            rename: head.overview.as_ref().and_then(|agent| rename_form(user, agent)),
            head,
            problem: String::new(),
        })
    }
}

/// A page of messages, newest first, and whether there are earlier ones.
async fn messages(hub: &Hub, agent_id: &str, before: Option<i64>) -> Result<(Vec<ListEntry>, bool), PageError> {
    let mut found = hub
        .store
        .run(History {
            agent_id: Some(agent_id.to_owned()),
            status: None,
            before,
            limit: PAGE_SIZE + 1,
        })
        .await?;
    let has_earlier = i64::try_from(found.len()).is_ok_and(|count| count > PAGE_SIZE);
    found.truncate(usize::try_from(PAGE_SIZE).unwrap_or(usize::MAX));
    Ok((found, has_earlier))
}

async fn ahead(hub: &Hub, user: &SignedInUser, agent: &AgentOverview) -> Result<Option<AheadBox>, PageError> {
    match &agent.residence {
        Some(Residence { person, .. }) => AheadBox::of(hub, user, &agent.agent_id, person).await,
        None => Ok(None),
    }
}

fn rename_form(user: &SignedInUser, agent: &AgentOverview) -> Option<RenameForm> {
    may_rename(user, agent).then(|| RenameForm {
        value: agent.given_name.clone().unwrap_or_default(),
        error: String::new(),
    })
}

impl AgentHead {
    async fn of(hub: &Hub, user: &SignedInUser, agent_id: &str, found: &[ListEntry]) -> Result<Self, PageError> {
        let id = agent_id.to_owned();
        let overview = hub.store.run(AgentOverviewOf { agent_id: id.clone() }).await?;
        let newest = found.iter().flatten().next();
        if overview.is_none() && found.is_empty() {
            return Err(no_such_agent());
        }
        let run_id = run_agent(agent_id).map(|(_, run_id)| run_id);
        let name = match (&overview, newest) {
            (Some(agent), _) => agent.name.clone(),
            (None, Some(item)) if run_id.is_none() => item.agent_name.clone(),
            (None, _) => agent_label(agent_id),
        };
        let seen_at = match &overview {
            Some(_) => hub.background.agent_last_seen.seen_at(agent_id).await?,
            None => None,
        };
        let has_credentials = overview.as_ref().is_some_and(|agent| agent.residence.is_none());
        Ok(Self {
            avatar: Avatar::of(agent_id, &name),
            name,
            href: agent_href(agent_id),
            run_href: run_id.map(run_href),
            mark: match &overview {
                Some(agent) => PresenceMark::of_agent(hub, agent).await?,
                None => None,
            },
            seen: seen_at.map(display_time),
            open_href: format!("/inbox?agent={}", encoded(agent_id)),
            history_href: format!("/inbox/history?agent={}", encoded(agent_id)),
            settings_href: (user.is_owner() && has_credentials)
                .then(|| format!("/inbox/settings/agents/one?id={}", encoded(agent_id))),
            overview,
            id,
        })
    }

    /// The agent has a name besides its id.
    fn has_name(&self) -> bool {
        self.name != self.id
    }
}
