//! Pushes of outcomes to callbacks.

use serde::{Deserialize, Serialize};

use crate::api::HubTime;

/// GET /v1/admin/deliveries.
#[derive(Debug, Serialize, Deserialize)]
pub struct DeliveriesList<D = ListedDelivery> {
    pub deliveries: Vec<D>,
}

/// The push of one outcome.
#[derive(Debug, Serialize, Deserialize)]
pub struct ListedDelivery {
    pub message_id: String,
    pub agent_id: String,
    pub host: String,
    pub state: String,
    pub attempts: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<HubTime>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_attempt_at: Option<HubTime>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivered_at: Option<HubTime>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
}

/// A delivery that starts again.
#[derive(Debug, Serialize, Deserialize)]
pub struct RetriedDelivery {
    pub message_id: String,
    pub state: String,
}
