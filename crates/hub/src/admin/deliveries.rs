//! Deliveries for owners: list, and retry one that failed.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use countersign_core::delivery::DeliveryState;
use countersign_protocol::api::admin::{DeliveriesList, RetriedDelivery};
use countersign_protocol::id::MessageId;
use countersign_store::model::Delivery;
use countersign_store::ops::deliver::{Deliveries, RetryDelivery};
use serde::Deserialize;

use crate::Hub;
use crate::cluster::LiveChange;
use crate::http::body::read_json;
use crate::http::callers::OwnerCaller;
use crate::http::extract::Params;
use crate::problem::Problem;

const DEFAULT_LIMIT: i64 = 100;
const MAX_LIMIT: i64 = 1000;

#[derive(Deserialize)]
pub struct DeliveryFilter {
    state: Option<String>,
    limit: Option<i64>,
}

pub async fn list(
    State(hub): State<Arc<Hub>>,
    _owner: OwnerCaller,
    Params(filter): Params<DeliveryFilter>,
) -> Result<Json<DeliveriesList<Delivery>>, Problem> {
    let state = filter.state.as_deref().map(|text| {
        DeliveryState::parse(text)
            .ok_or_else(|| Problem::validation("state", "state must be pending, delivered or failed"))
    });
    let limit = filter.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT);
    let deliveries = hub
        .store
        .run(Deliveries {
            state: state.transpose()?,
            limit,
        })
        .await?;
    Ok(Json(DeliveriesList { deliveries }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Retry {
    id: String,
}

/// Restarts the push attempts immediately.
pub async fn retry_delivery(hub: &Hub, id: &str, actor: String) -> Result<MessageId, Problem> {
    let missing = || Problem::NotFound {
        message: format!("{id} has no pending or failed delivery"),
    };
    let message_id: MessageId = id.parse().map_err(|_| missing())?;
    let host = hub
        .store
        .run(RetryDelivery {
            message_id: message_id.clone(),
            actor,
        })
        .await?
        .ok_or_else(missing)?;
    hub.outbox.wake(&host);
    hub.live.publish(LiveChange::Tracked(message_id.clone()));
    Ok(message_id)
}

pub async fn retry(
    State(hub): State<Arc<Hub>>,
    owner: OwnerCaller,
    body: Body,
) -> Result<Json<RetriedDelivery>, Problem> {
    let retry: Retry = read_json(body).await?;
    let message_id = retry_delivery(&hub, &retry.id, owner.actor).await?;
    Ok(Json(RetriedDelivery {
        message_id: message_id.to_string(),
        state: DeliveryState::Pending.as_str().to_owned(),
    }))
}
