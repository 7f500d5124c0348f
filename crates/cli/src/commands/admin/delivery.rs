//! `delivery list|retry`.

use anyhow::Result;
use countersign_client::hub::{ClientError, HubClient};
use countersign_client::screen::{TextTable, escape};
use countersign_protocol::api::admin::{ListedDelivery, RetriedDelivery};
use serde_json::{Value, json};

use crate::args::{DeliveryCommand, DeliveryStateArg};
use crate::commands::present;

pub async fn run(command: DeliveryCommand, client: &HubClient, json: bool) -> Result<String> {
    match command {
        DeliveryCommand::List { state, limit } => {
            let reply = list(state, limit, client).await?;
            present(&reply, json, table)
        }
        DeliveryCommand::Retry { id } => {
            let reply = client
                .post(&["v1", "admin", "deliveries", "retry"], &json!({ "id": id }))
                .await?;
            present(&reply, json, |retried: RetriedDelivery| {
                format!(
                    "The delivery of {} is {} again.\n",
                    escape(&retried.message_id),
                    escape(&retried.state)
                )
            })
        }
    }
}

pub async fn list(
    state: Option<DeliveryStateArg>,
    limit: Option<u32>,
    client: &HubClient,
) -> Result<Value, ClientError> {
    let limit = limit.map(|limit| limit.to_string());
    let mut query = Vec::new();
    query.extend(state.map(|state| ("state", state.as_str())));
    query.extend(limit.as_deref().map(|limit| ("limit", limit)));
    client
        .get_field(&["v1", "admin", "deliveries"], &query, "deliveries")
        .await
}

fn table(deliveries: Vec<ListedDelivery>) -> String {
    let mut table = TextTable::new(&["MESSAGE", "AGENT", "HOST", "STATE", "ATTEMPTS", "NEWS"]);
    for delivery in deliveries {
        let latest_event = latest_event(&delivery);
        let attempts = delivery.attempts.to_string();
        table.row([
            delivery.message_id,
            delivery.agent_id,
            delivery.host,
            delivery.state,
            attempts,
            latest_event,
        ]);
    }
    table.render_or("No deliveries.")
}

fn latest_event(delivery: &ListedDelivery) -> String {
    let delivered = delivery.delivered_at.as_ref().map(|at| format!("delivered at {at}"));
    let next = delivery
        .next_attempt_at
        .as_ref()
        .map(|at| format!("next attempt at {at}"));
    [delivered, next, delivery.last_error.clone()]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join("; ")
}
