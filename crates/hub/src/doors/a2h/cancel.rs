//! POST /v1/messages/{id}/cancel

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use countersign_core::{Command, Outcome, Rejection};
use countersign_protocol::id::MessageId;
use countersign_store::model::{Application, Found};
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
    hub.rate_limit.check(&agent.id)?;
    match hub.store.run(Pull(id.clone())).await? {
        Some(Found::Live(pulled)) if pulled.agent_id == agent.id => {}
        Some(Found::Gone { agent_id }) if agent_id == agent.id => return Err(Problem::Gone),
        Some(Found::Live(_) | Found::Gone { .. }) | None => return Err(Problem::no_message()),
    }
    match hub.decide(&id, Command::Cancel).await? {
        Application::Resolved(applied) if applied.resolution.outcome == Outcome::Cancelled => Ok(cancelled(&id)),
        // Too late: the cancel made the expiry happen.
        Application::Resolved(applied) => Err(Rejection::already(&id, &applied.resolution).into()),
        Application::Rejected(Rejection::AlreadyTerminal { outcome: Outcome::Cancelled, .. }) => Ok(cancelled(&id)),
        Application::Rejected(rejection) => Err(rejection.into()),
        Application::Gone => Err(Problem::Gone),
        Application::NotFound => Err(Problem::no_message()),
    }
}

fn cancelled(id: &MessageId) -> Json<Value> {
    Json(json!({"id": id, "status": Outcome::Cancelled}))
}
