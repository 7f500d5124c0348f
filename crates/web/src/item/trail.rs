//! The audit trail of a message.

use countersign_core::Actor;
use countersign_hub::Hub;
use countersign_hub::problem::Problem;
use countersign_store::StoreError;
use countersign_store::model::{AuditRow, PersonView};
use countersign_store::ops::message::audit::Trail;

use crate::language::{problem_text, t};
use crate::layout::formatting::{DisplayTime, actor_name, display_time};
use crate::layout::page::PageError;

pub struct TrailEntry {
    pub at: DisplayTime,
    pub actor: String,
    pub event: String,
}

#[derive(Default)]
pub struct TrailView {
    pub entries: Vec<TrailEntry>,
    /// The fault of a broken trail.
    pub fault: Option<String>,
}

/// The entries of the message, then those of its delivery, which are a hash chain of their own.
pub async fn trail(hub: &Hub, item: &PersonView) -> Result<TrailView, PageError> {
    let id = item.message.id.as_str();
    let of_delivery = item.delivery.iter().map(|_| format!("delivery:{id}"));
    let mut view = TrailView::default();
    for subject in std::iter::once(id.to_owned()).chain(of_delivery) {
        match hub.store.run(Trail { subject }).await {
            Ok(rows) => view.entries.extend(rows.into_iter().map(entry)),
            Err(error @ StoreError::AuditBroken { .. }) => view.fault = Some(problem_text(&Problem::from(error))),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(view)
}

fn entry(AuditRow { entry, .. }: AuditRow) -> TrailEntry {
    let name = entry.actor.parse::<Actor>().map(|actor| actor_name(&actor).to_owned());
    TrailEntry {
        at: display_time(entry.at),
        actor: name.unwrap_or(entry.actor),
        event: in_words(&entry.event).to_owned(),
    }
}

/// What the actor did. Events of later versions are shown as they are.
fn in_words(event: &str) -> &str {
    match event {
        "submitted" => t("submitted it"),
        "answered" => t("answered it"),
        "declined" => t("skipped it"),
        "completed" => t("marked it done"),
        "dismissed" => t("could not do it"),
        "cancelled" => t("withdrew it"),
        "expired" => t("let it expire"),
        "delivery.retried" => t("asked for the delivery to be tried again"),
        other => other,
    }
}
