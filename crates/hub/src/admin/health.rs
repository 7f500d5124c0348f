//! Liveness and readiness endpoints.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::Hub;
use crate::problem::Problem;

/// Stands for no person in counts, so that no snoozed message is left out.
pub const NO_PERSON: &str = "";

/// Liveness, with the counts that run clients read.
pub async fn health(State(hub): State<Arc<Hub>>) -> Json<Value> {
    let uptime = hub.store.clock().now().since(hub.process.started_at).as_millis();
    Json(json!({
        "status": "ok",
        "uptime": u64::try_from(uptime).unwrap_or(u64::MAX),
        "activeRuns": hub.runs.registry.live(),
        "connectedClients": hub.runs.registry.connected(),
    }))
}

/// Ready means that every background task runs and that the store accepts a write; a test write goes through the writer.
pub async fn ready(State(hub): State<Arc<Hub>>) -> Result<Response, Problem> {
    if hub.process.is_stopping() {
        return Ok((StatusCode::SERVICE_UNAVAILABLE, Json(json!({"status": "stopping"}))).into_response());
    }
    let down = hub.process.tasks.down();
    if !down.is_empty() {
        let body = json!({"status": "failing", "tasks": down});
        return Ok((StatusCode::SERVICE_UNAVAILABLE, Json(body)).into_response());
    }
    hub.process.readiness.check(&hub.store).await?;
    Ok(Json(json!({"status": "ready"})).into_response())
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;

    use super::*;
    use crate::testing;

    #[tokio::test]
    async fn hub_with_a_task_that_is_down_is_not_ready_and_names_it() {
        let hub = testing::hub();
        let reply = async || ready(State(Arc::clone(&hub))).await.unwrap();
        assert_eq!(reply().await.status(), StatusCode::OK);
        hub.process.tasks.set_down("expiry");
        let failing = reply().await;
        assert_eq!(failing.status(), StatusCode::SERVICE_UNAVAILABLE);
        let body = to_bytes(failing.into_body(), 1024).await.unwrap();
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(body, json!({"status": "failing", "tasks": ["expiry"]}));
        hub.process.tasks.set_up("expiry");
        assert_eq!(reply().await.status(), StatusCode::OK);
    }
}
