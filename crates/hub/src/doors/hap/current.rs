//! GET /v1/hap/agents/{agent_id}/current

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use countersign_store::ops::terminal::Current;
use serde_json::Value;

use super::reply;
use super::wait::look;
use crate::app::Hub;
use crate::auth::TerminalCaller;
use crate::extract::AgentPath;
use crate::problem::Problem;

/// The newest cue that is open, or whose answer nobody has collected.
pub async fn current(
    State(hub): State<Arc<Hub>>,
    caller: TerminalCaller,
    AgentPath(agent_id): AgentPath,
) -> Result<Json<Value>, Problem> {
    let person = caller.person;
    let nothing = || Problem::NotFound {
        message: "nothing of this agent is open or waits to be collected".to_owned(),
    };
    let id = hub
        .store
        .run(Current {
            agent_id,
            person: person.clone(),
        })
        .await?
        .ok_or_else(nothing)?;
    Ok(Json(reply::shown(&*look(&hub, &person, &id).await?)))
}
