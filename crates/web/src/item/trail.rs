//! The audit trail of a message.

use countersign_hub::Hub;
use countersign_store::model::{AuditRow, PersonView};
use countersign_store::ops::message::audit::Trail;

use crate::frame::formatting::{DisplayTime, display_time};
use crate::frame::page::PageError;

pub struct TrailEntry {
    pub at: DisplayTime,
    pub actor: String,
    pub event: String,
}

/// The entries of the message, then those of its delivery, which are a hash chain of their own.
pub async fn trail(hub: &Hub, item: &PersonView) -> Result<Vec<TrailEntry>, PageError> {
    let id = item.message.id.as_str();
    let mut rows = hub.store.run(Trail { subject: id.to_owned() }).await?;
    if item.delivery.is_some() {
        rows.extend(
            hub.store
                .run(Trail {
                    subject: format!("delivery:{id}"),
                })
                .await?,
        );
    }
    Ok(rows.into_iter().map(entry).collect())
}

fn entry(AuditRow { entry, .. }: AuditRow) -> TrailEntry {
    let event = match entry.event.as_str() {
        "delivery.retried" => "asked for the delivery to be tried again",
        other => other,
    };
    TrailEntry {
        at: display_time(entry.at),
        actor: entry.actor,
        event: event.to_owned(),
    }
}
