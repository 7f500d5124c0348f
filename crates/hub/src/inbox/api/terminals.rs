//! GET /v1/terminals, and texts typed ahead: GET and POST /v1/terminals/{agent_id}/ahead, POST …/ahead/{id}/drop

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;
use countersign_core::access::Principal;
use countersign_core::{Actor, Question, question};
use countersign_protocol::api::terminals::{ListedTerminal, QueuedTextRef, QueuedTexts, TerminalsList};
use countersign_protocol::hap::CueKind;
use countersign_store::ops::terminal::{
    Ahead, DropAhead, ListAhead, ListTerminals, MAX_AHEAD, TerminalOf, TerminalSummary, TypeAhead, TypeAheadOutcome,
};
use serde::Deserialize;
use serde_json::Value;

use crate::Hub;
use crate::cluster::LiveChange;
use crate::http::body::read_json;
use crate::http::callers::PersonCaller;
use crate::http::extract::{AgentPath, AheadPath};
use crate::inbox::item::shown_presence;
use crate::messages::cue_waiters::CuePresence;
use crate::problem::Problem;

const MAX_LISTED: i64 = 200;
const RETRY_AFTER_SECONDS: u64 = 30;

/// Lists agents in terminals, latest call first.
pub async fn terminals(State(hub): State<Arc<Hub>>, _person: PersonCaller) -> Result<Json<TerminalsList>, Problem> {
    let terminals = hub.store.run(ListTerminals { limit: MAX_LISTED }).await?;
    Ok(Json(TerminalsList {
        terminals: terminals.into_iter().map(|terminal| shown(&hub, terminal)).collect(),
    }))
}

fn shown(hub: &Hub, terminal: TerminalSummary) -> ListedTerminal {
    let last_seen = hub.background.agent_last_seen.get(&terminal.terminal.agent_id);
    let last = terminal.last_cue_id.as_ref().filter(|_| terminal.open > 0);
    let presence = last.map_or_else(CuePresence::default, |id| hub.cue_waiters.presence(id, CueKind::Cue));
    ListedTerminal {
        agent_id: terminal.terminal.agent_id,
        name: terminal.name,
        runtime: terminal.terminal.runtime,
        project_dir: terminal.terminal.project_dir,
        terminal: terminal.terminal.terminal,
        person: terminal.person,
        joined_at: terminal.joined_at.into(),
        seen_at: last_seen.or(terminal.seen_at).map(Into::into),
        open: terminal.open,
        last_cue_id: terminal.last_cue_id.map(|id| id.to_string()),
        ahead: terminal.ahead,
        presence: shown_presence(presence),
    }
}

/// Lists the texts queued for the agent's next cues, in order of use. Only the person the agent asks may read them; the
/// list of terminals shows their number to all people.
pub async fn list_ahead(
    State(hub): State<Arc<Hub>>,
    person: PersonCaller,
    AgentPath(agent_id): AgentPath,
) -> Result<Json<QueuedTexts<Ahead>>, Problem> {
    check_is_asked(&find(&hub, &agent_id).await?, person.into())?;
    Ok(Json(QueuedTexts {
        ahead: hub.store.run(ListAhead { agent_id }).await?,
    }))
}

async fn find(hub: &Hub, agent_id: &str) -> Result<TerminalSummary, Problem> {
    hub.store
        .run(TerminalOf {
            agent_id: agent_id.to_owned(),
        })
        .await?
        .ok_or_else(Problem::no_terminal)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewAhead {
    text: String,
}

/// Queues a text with which the caller answers the agent's next cue.
pub async fn type_ahead(
    State(hub): State<Arc<Hub>>,
    person: PersonCaller,
    AgentPath(agent_id): AgentPath,
    body: Body,
) -> Result<(StatusCode, Json<QueuedTextRef>), Problem> {
    let NewAhead { text } = read_json(body).await?;
    let id = queue_ahead(&hub, person.into(), agent_id, text).await?;
    Ok((StatusCode::CREATED, Json(QueuedTextRef { id })))
}

/// Queues a text and returns its id.
pub async fn queue_ahead(hub: &Hub, typist: Principal, agent_id: String, text: String) -> Result<i64, Problem> {
    if text.trim().is_empty() {
        return Err(Problem::invalid("text", "the text must not be blank"));
    }
    // The limits of any text answer apply.
    question::check(&Question::Text, &Value::from(text.as_str())).map_err(|rejection| match rejection.into() {
        Problem::InvalidField { message, .. } => Problem::invalid("text", message),
        problem => problem,
    })?;
    let terminal = find(hub, &agent_id).await?;
    check_is_asked(&terminal, typist)?;
    let op = TypeAhead {
        agent_id,
        person: terminal.person.clone(),
        text,
    };
    match hub.store.run(op).await? {
        TypeAheadOutcome::Waiting(id) => {
            refresh_pages(hub, terminal);
            Ok(id)
        }
        TypeAheadOutcome::NoSuchAgent => Err(Problem::no_terminal()),
        TypeAheadOutcome::TooManyTexts => Err(Problem::RateLimited {
            retry_after_seconds: RETRY_AFTER_SECONDS,
            message: format!("{MAX_AHEAD} texts are already queued for this agent; drop one, or wait for its next cue"),
        }),
    }
}

/// Only the person whom the agent asks may answer its cues.
fn check_is_asked(terminal: &TerminalSummary, principal: Principal) -> Result<(), Problem> {
    if principal.resolver()? == Actor::human(&terminal.person) {
        return Ok(());
    }
    let message = format!(
        "{} asks only {}",
        terminal.terminal.agent_id,
        Actor::human(&terminal.person)
    );
    Err(Problem::NotAuthorized { message })
}

pub async fn drop_ahead(
    State(hub): State<Arc<Hub>>,
    person: PersonCaller,
    AheadPath { agent_id, id }: AheadPath,
) -> Result<StatusCode, Problem> {
    remove_ahead(&hub, Actor::human(&person.name), agent_id, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Removes a queued text. Only the person who typed it may do so.
pub async fn remove_ahead(hub: &Hub, typist: Actor, agent_id: String, id: i64) -> Result<(), Problem> {
    let terminal = find(hub, &agent_id).await?;
    let actor = typist.to_string();
    if !hub.store.run(DropAhead { agent_id, id, actor }).await? {
        let message = "none of your queued texts has this id; it may have been used already".to_owned();
        return Err(Problem::NotFound { message });
    }
    refresh_pages(hub, terminal);
    Ok(())
}

/// Updates open pages, which show the queued texts beside the agent's newest cue.
fn refresh_pages(hub: &Hub, terminal: TerminalSummary) {
    if let Some(id) = terminal.last_cue_id {
        hub.live.publish(LiveChange::Tracked(id));
    }
}
