//! POST /v1/messages/{id}/cancel

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use countersign_core::{Command, Outcome};
use countersign_protocol::id::MessageId;
use countersign_store::model::Found;
use countersign_store::ops::pull::Pull;
use serde_json::{Value, json};

use crate::app::Hub;
use crate::auth::AgentCaller;
use crate::extract::MessagePath;
use crate::problem::Problem;

pub async fn cancel(
    State(hub): State<Arc<Hub>>,
    agent: AgentCaller,
    MessagePath(id): MessagePath,
) -> Result<Json<Value>, Problem> {
    hub.rate_limit.check(&agent.id).await?;
    match hub.store.run(Pull(id.clone())).await? {
        Some(Found::Live(pulled)) if pulled.agent_id == agent.id => {}
        Some(Found::Gone { agent_id }) if agent_id == agent.id => return Err(Problem::Gone),
        Some(Found::Live(_) | Found::Gone { .. }) | None => return Err(Problem::no_message()),
    }
    match hub.bring_about(&id, Command::Cancel).await {
        Ok(_)
        | Err(Problem::AlreadyTerminal {
            outcome: Outcome::Cancelled,
            ..
        }) => Ok(cancelled(&id)),
        Err(problem) => Err(problem),
    }
}

fn cancelled(id: &MessageId) -> Json<Value> {
    Json(json!({"id": id, "status": Outcome::Cancelled}))
}
