//! Is it up, is it ready, what does it count.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use countersign_store::ops::admin::agents::ListAgents;
use countersign_store::ops::credential::Authenticate;
use countersign_store::ops::sweep::ProveWritable;
use serde_json::{Value, json};

use crate::app::Hub;
use crate::auth::hash_token;
use crate::metrics::Snapshot;
use crate::problem::Problem;

pub async fn health() -> Json<Value> {
    Json(json!({"status": "ok"}))
}

/// Ready means that a write would be kept: it goes through the writer and back.
pub async fn ready(State(hub): State<Arc<Hub>>) -> Result<Response, Problem> {
    if *hub.stopping.borrow() {
        return Ok((StatusCode::SERVICE_UNAVAILABLE, Json(json!({"status": "stopping"}))).into_response());
    }
    hub.store.run(ProveWritable).await?;
    Ok(Json(json!({"status": "ready"})).into_response())
}

/// Open on loopback, where the hub is its user's own; elsewhere an owner's token is needed.
pub async fn metrics(State(hub): State<Arc<Hub>>, headers: HeaderMap) -> Result<Response, Problem> {
    let is_exposed = !hub.config.listen.ip().is_loopback() || hub.config.public_url.is_some();
    if is_exposed && !is_owner(&hub, &headers).await? {
        return Err(Problem::Unauthenticated);
    }
    let agents = hub.store.run(ListAgents).await?;
    let snapshot = Snapshot {
        waiters: i64::try_from(hub.wake.waited_for()).unwrap_or(i64::MAX),
        open: agents.iter().map(|agent| agent.open).sum(),
        deliveries: hub.outbox.counts(),
    };
    let text = hub.metrics.render(&snapshot).unwrap_or_default();
    let content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, content_type)], text).into_response())
}

async fn is_owner(hub: &Hub, headers: &HeaderMap) -> Result<bool, Problem> {
    let bearer = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let Some(token) = bearer.and_then(|text| text.strip_prefix("Bearer ")) else { return Ok(false) };
    let principal = hub.store.run(Authenticate { hash: hash_token(token) }).await?;
    Ok(principal.is_some_and(|principal| principal.is_owner()))
}
