//! GET /v1/hap/agents/{agent_id}/kept

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use countersign_store::ops::terminal::UncollectedCues;
use serde_json::{Value, json};

use super::reply;
use crate::Hub;
use crate::http::callers::TerminalCaller;
use crate::http::extract::AgentPath;
use crate::problem::Problem;

/// Uncollected answers of an agent, oldest first, without damaged ones; 404 for an agent of another person. An answer that
/// a process is printing right now is left to that process.
pub async fn uncollected(
    State(hub): State<Arc<Hub>>,
    caller: TerminalCaller,
    AgentPath(agent_id): AgentPath,
) -> Result<Json<Value>, Problem> {
    let found = hub
        .store
        .run(UncollectedCues {
            agent_id,
            person: caller.person,
        })
        .await?
        .ok_or_else(Problem::no_terminal)?;
    let left = found
        .iter()
        .flatten()
        .filter(|found| !hub.cue_waiters.is_handed_over(&found.view.id));
    let kept: Vec<Value> = left
        .map(|found| {
            let mut shown = reply::to_json(found);
            shown["title"] = found.content.title.as_str().into();
            shown
        })
        .collect();
    Ok(Json(json!({ "kept": kept })))
}
