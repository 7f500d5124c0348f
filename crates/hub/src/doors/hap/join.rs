//! POST /v1/hap/join

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;
use countersign_core::hap::Terminal;
use countersign_protocol::hap::name;
use countersign_store::ops::terminal::{ExceededQuota, JoinOutcome, JoinTerminal, TerminalOf};
use countersign_telemetry::request::error_id;

use super::message::{not_your_name, quota_exceeded, terminal_quota};
use super::request::TerminalRequest;
use crate::Hub;
use crate::http::body;
use crate::http::callers::TerminalCaller;
use crate::problem::Problem;
use crate::problem::no_randomness;

const MAX_BODY_BYTES: usize = 64 * 1024;
/// There are far more names than agents, so more collisions in a row mean that something else is wrong.
const MAX_NAME_TRIES: usize = 100;

/// Joins under a new unique name, or under the `agent_id` that the agent brings from another hub.
pub async fn join(
    State(hub): State<Arc<Hub>>,
    caller: TerminalCaller,
    body: Body,
) -> Result<(StatusCode, Json<Terminal>), Problem> {
    hub.auth.request_limiter.check_terminals(caller.key()).await?;
    let mut request = TerminalRequest::parse(&body::read(body, MAX_BODY_BYTES).await?)?;
    let info = request.terminal_info()?;
    if request.has("agent_id") {
        let terminal = info.into_terminal(request.agent_id()?, None);
        return join_under_name(&hub, caller.person, terminal).await;
    }
    let terminal = join_under_new_name(&hub, &caller.person, info.into_terminal(String::new(), None)).await?;
    Ok((StatusCode::CREATED, Json(terminal)))
}

async fn join_under_name(
    hub: &Hub,
    person: String,
    terminal: Terminal,
) -> Result<(StatusCode, Json<Terminal>), Problem> {
    match reserve_name(hub, &person, &terminal).await? {
        JoinOutcome::New => return Ok((StatusCode::CREATED, Json(terminal))),
        JoinOutcome::TooManyJoined => return Err(quota_exceeded(ExceededQuota::Joined)),
        JoinOutcome::Taken => {}
    }
    match hub
        .store
        .run(TerminalOf {
            agent_id: terminal.agent_id,
        })
        .await?
    {
        Some(joined) if joined.person == person => Ok((StatusCode::OK, Json(joined.terminal))),
        Some(_) | None => Err(not_your_name()),
    }
}

async fn reserve_name(hub: &Hub, person: &str, terminal: &Terminal) -> Result<JoinOutcome, Problem> {
    let max_joined = terminal_quota(hub).joined;
    Ok(hub
        .store
        .run(JoinTerminal {
            terminal: terminal.clone(),
            person: person.to_owned(),
            max_joined,
        })
        .await?)
}

async fn join_under_new_name(hub: &Hub, person: &str, mut terminal: Terminal) -> Result<Terminal, Problem> {
    for _ in 0..MAX_NAME_TRIES {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(no_randomness)?;
        let Some(agent_id) = name::agent_id(u128::from_le_bytes(random)) else {
            continue;
        };
        terminal.agent_id = agent_id;
        match reserve_name(hub, person, &terminal).await? {
            JoinOutcome::New => return Ok(terminal),
            JoinOutcome::TooManyJoined => return Err(quota_exceeded(ExceededQuota::Joined)),
            JoinOutcome::Taken => {}
        }
    }
    let id = error_id();
    tracing::error!(error_id = %id, "no free agent name found after the maximum number of tries");
    Err(Problem::Unavailable { id })
}
