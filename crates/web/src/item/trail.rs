//! Who did what, and when.

use countersign_hub::Hub;
use countersign_store::model::{AuditRow, Item};
use countersign_store::ops::audit::Trail;

use crate::frame::format::{Instant, instant};
use crate::frame::page::Failure;

pub struct Entry {
    pub at: Instant,
    pub actor: String,
    pub event: String,
}

/// Of the message, then of its delivery, whose entries are chained on their own.
pub async fn trail(hub: &Hub, item: &Item) -> Result<Vec<Entry>, Failure> {
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

fn entry(AuditRow { entry, .. }: AuditRow) -> Entry {
    let event = match entry.event.as_str() {
        "delivery.retried" => "asked for the delivery to be tried again",
        other => other,
    };
    Entry {
        at: instant(entry.at),
        actor: entry.actor,
        event: event.to_owned(),
    }
}
