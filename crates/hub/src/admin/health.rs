//! Liveness, readiness and metrics endpoints.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use countersign_store::ops::list::Counts;
use serde_json::{Value, json};

use crate::Hub;
use crate::http::callers::OwnerCaller;
use crate::metrics::Snapshot;
use crate::problem::Problem;
use crate::process::DROPPED_LOG_LINES;

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

/// Open on loopback, where the hub belongs to its user; otherwise it needs an owner's token.
pub async fn metrics(State(hub): State<Arc<Hub>>, headers: HeaderMap) -> Result<Response, Problem> {
    let is_exposed = !hub.config.listen.ip().is_loopback() || hub.config.public_url.is_some();
    if is_exposed {
        OwnerCaller::from_headers(&headers, &hub).await?;
    }
    let snapshot = Snapshot {
        waiters: i64::try_from(hub.messages.waiters.message_count()).unwrap_or(i64::MAX),
        open: hub
            .store
            .run(Counts {
                person: NO_PERSON.to_owned(),
            })
            .await?
            .open,
        deliveries: hub.outbox.counts(),
        faults: hub.store.faults().all(),
        dropped_log_lines: DROPPED_LOG_LINES.load(Ordering::Relaxed),
    };
    let text = hub.metrics.render(&snapshot).unwrap_or_default();
    let content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, content_type)], text).into_response())
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
