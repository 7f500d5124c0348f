//! Liveness, readiness and metrics endpoints.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use countersign_store::ops::list::Counts;
use countersign_store::ops::message::sweep::ProveWritable;
use countersign_store::{Store, StoreError};
use serde_json::{Value, json};
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::app::Hub;
use crate::auth::OwnerCaller;
use crate::metrics::Snapshot;
use crate::problem::Problem;

/// Stands for no person in counts, so that no snoozed message is left out.
pub const NO_PERSON: &str = "";

/// Liveness, with the counts that run clients read.
pub async fn health(State(hub): State<Arc<Hub>>) -> Json<Value> {
    let uptime = hub.store.clock().now().since(hub.started_at).as_millis();
    Json(json!({
        "status": "ok",
        "uptime": u64::try_from(uptime).unwrap_or(u64::MAX),
        "activeRuns": hub.runs.live(),
        "connectedClients": hub.runs.connected(),
    }))
}

/// Ready means that the store accepts a write; a test write goes through the writer.
pub async fn ready(State(hub): State<Arc<Hub>>) -> Result<Response, Problem> {
    if *hub.stopping.borrow() {
        return Ok((StatusCode::SERVICE_UNAVAILABLE, Json(json!({"status": "stopping"}))).into_response());
    }
    hub.readiness.check(&hub.store).await?;
    Ok(Json(json!({"status": "ready"})).into_response())
}

/// Caches the readiness check, because the endpoint is open and every check costs a write.
#[derive(Default)]
pub struct ReadinessCache(Mutex<Option<Instant>>);

const READINESS_TTL: Duration = Duration::from_millis(500);
/// Shorter than the time-outs of usual readiness probes.
const READINESS_TIMEOUT: Duration = Duration::from_secs(3);

impl ReadinessCache {
    async fn check(&self, store: &Store) -> Result<(), Problem> {
        let late = || StoreError::Unavailable("the store did not accept a write in time".to_owned());
        let checking = async {
            let mut checked_at = self.0.lock().await;
            if checked_at.is_none_or(|at| at.elapsed() > READINESS_TTL) {
                *checked_at = None;
                store.run(ProveWritable).await?;
                *checked_at = Some(Instant::now());
            }
            Ok(())
        };
        timeout(READINESS_TIMEOUT, checking)
            .await
            .unwrap_or_else(|_elapsed| Err(late().into()))
    }
}

/// Open on loopback, where the hub belongs to its user; otherwise it needs an owner's token.
pub async fn metrics(State(hub): State<Arc<Hub>>, headers: HeaderMap) -> Result<Response, Problem> {
    let is_exposed = !hub.config.listen.ip().is_loopback() || hub.config.public_url.is_some();
    if is_exposed {
        OwnerCaller::from_headers(&headers, &hub).await?;
    }
    let snapshot = Snapshot {
        waiters: i64::try_from(hub.waiters.message_count()).unwrap_or(i64::MAX),
        open: hub
            .store
            .run(Counts {
                person: NO_PERSON.to_owned(),
            })
            .await?
            .open,
        deliveries: hub.outbox.counts(),
    };
    let text = hub.metrics.render(&snapshot).unwrap_or_default();
    let content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, content_type)], text).into_response())
}
