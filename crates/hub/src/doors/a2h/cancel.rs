//! POST /v1/messages/{id}/cancel

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use countersign_core::{Command, Outcome};
use countersign_protocol::id::MessageId;
use countersign_store::model::Lookup;
use countersign_store::ops::message::pull::Pull;
use serde_json::{Value, json};

use crate::Hub;
use crate::http::callers::AgentCaller;
use crate::http::extract::MessagePath;
use crate::problem::Problem;

pub async fn cancel(
    State(hub): State<Arc<Hub>>,
    agent: AgentCaller,
    MessagePath(id): MessagePath,
) -> Result<Json<Value>, Problem> {
    hub.auth.request_limiter.check(&agent.id).await?;
    match hub.store.run(Pull(id.clone())).await? {
        Some(Lookup::Present(view)) if view.agent_id == agent.id => {}
        Some(Lookup::Purged { agent_id }) if agent_id == agent.id => return Err(Problem::Gone),
        Some(Lookup::Present(_) | Lookup::Purged { .. }) | None => return Err(Problem::no_message()),
    }
    match hub.messages.decide_exactly(&id, Command::Cancel).await {
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
