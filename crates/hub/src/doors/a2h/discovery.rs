//! The capability documents for discovery.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use countersign_protocol::a2h::capability::{CallbackRetry, CapabilityRateLimit, SignatureKey};
use countersign_protocol::a2h::{Capability, Family};
use countersign_store::ops::admin::keys::HubKeys;
use serde_json::Value;

use crate::Hub;
use crate::admin::keys::public_keys;
use crate::problem::Problem;

const REPLAY_WINDOW_SECONDS: u64 = 120;

pub async fn a2h(State(hub): State<Arc<Hub>>) -> Result<Json<Value>, Problem> {
    document(&hub, Family::A2h).await
}

pub async fn ma2h(State(hub): State<Arc<Hub>>) -> Result<Json<Value>, Problem> {
    document(&hub, Family::Ma2h).await
}

async fn document(hub: &Hub, family: Family) -> Result<Json<Value>, Problem> {
    let config = &hub.config;
    let keys = public_keys(&hub.store.run(HubKeys).await?)?;
    let capability = Capability {
        max_body_bytes: config.limits.max_body_bytes as u64,
        max_part_bytes: config.limits.max_part_bytes as u64,
        max_context_parts: config.limits.max_context_parts as u64,
        max_request_bytes: config.limits.max_request_bytes as u64,
        max_state_bytes: config.limits.max_state_bytes as u64,
        auth_schemes: vec!["bearer", "apikey"],
        callback_auth_schemes: vec!["hmac", "bearer", "apikey"],
        signature_algs: vec!["hmac-sha256", "ed25519"],
        rate_limit: CapabilityRateLimit {
            requests_per_minute: config.requests_per_minute.map(|requests| u64::from(requests.get())),
            inbox_depth: config.inbox_depth.map(u64::from),
        },
        retention_days: u64::from(config.retention_days),
        replay_window_seconds: REPLAY_WINDOW_SECONDS,
        callback_retry: CallbackRetry {
            max_attempts: u64::from(config.push.schedule.max_attempts),
            max_duration_seconds: config.push.schedule.max_duration.as_secs(),
        },
        signature_keys: keys
            .into_iter()
            .map(|key| SignatureKey {
                kid: key.kid,
                alg: "ed25519",
                public_key: key.public_key,
            })
            .collect(),
    };
    Ok(Json(capability.to_value(family)))
}
