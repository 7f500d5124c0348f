//! GET /v1/hap/agents/{agent_id}/current

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use countersign_store::ops::terminal::CurrentCue;
use serde_json::Value;

use super::reply;
use super::wait::load_cue;
use crate::Hub;
use crate::http::callers::TerminalCaller;
use crate::http::extract::AgentPath;
use crate::problem::Problem;

/// The newest cue that is open or whose answer is not collected.
pub async fn current(
    State(hub): State<Arc<Hub>>,
    caller: TerminalCaller,
    AgentPath(agent_id): AgentPath,
) -> Result<Json<Value>, Problem> {
    let person = caller.person;
    let no_cue = || Problem::NotFound {
        message: "this agent has no open cue and no uncollected answer".to_owned(),
    };
    let id = hub
        .store
        .run(CurrentCue {
            agent_id,
            person: person.clone(),
        })
        .await?
        .ok_or_else(no_cue)?;
    Ok(Json(reply::to_json(&*load_cue(&hub, &person, &id).await?)))
}
