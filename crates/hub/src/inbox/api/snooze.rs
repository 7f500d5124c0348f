//! Snoozed and archived items of the caller: GET /v1/inbox/aside, POST /v1/inbox/{id}/aside, /archive and /return.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use countersign_protocol::api::inbox::{ItemsPage, MessageRef};
use countersign_protocol::time::Timestamp;
use countersign_store::ops::list::ListSnoozed;
use serde::Deserialize;

use super::query::MAX_PAGE_SIZE;
use crate::Hub;
use crate::http::body::read_json;
use crate::http::callers::PersonCaller;
use crate::http::extract::MessagePath;
use crate::inbox::item::{HubItem, render_entry};
use crate::inbox::snooze;
use crate::problem::Problem;

/// Lists the caller's snoozed open items, the soonest to return first.
pub async fn list_snoozed(
    State(hub): State<Arc<Hub>>,
    person: PersonCaller,
) -> Result<Json<ItemsPage<HubItem>>, Problem> {
    let found = hub
        .store
        .run(ListSnoozed {
            person: person.name.clone(),
            limit: MAX_PAGE_SIZE,
        })
        .await?;
    let viewer = person.into();
    let items = found.into_iter().map(|snoozed| HubItem {
        until: Some(snoozed.until.into()),
        ..render_entry(snoozed.item, &viewer)
    });
    Ok(Json(ItemsPage {
        items: items.collect(),
        next_cursor: None,
        total: None,
    }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SnoozeRequest {
    until: String,
}

impl SnoozeRequest {
    fn parse(&self, now: Timestamp) -> Result<Timestamp, Problem> {
        let until = Timestamp::parse_rfc3339(&self.until)
            .ok_or_else(|| Problem::invalid("until", "must be an RFC 3339 date-time"))?;
        snooze::check_until(until, now)
    }
}

pub async fn snooze(
    State(hub): State<Arc<Hub>>,
    person: PersonCaller,
    MessagePath(id): MessagePath,
    body: Body,
) -> Result<Json<MessageRef>, Problem> {
    let until = read_json::<SnoozeRequest>(body).await?.parse(hub.store.clock().now())?;
    snooze::snooze(&hub, &person.name, &id, until).await?;
    Ok(Json(MessageRef { id: id.to_string() }))
}

pub async fn archive(
    State(hub): State<Arc<Hub>>,
    person: PersonCaller,
    MessagePath(id): MessagePath,
) -> Result<Json<MessageRef>, Problem> {
    snooze::archive(&hub, &person.name, &id).await?;
    Ok(Json(MessageRef { id: id.to_string() }))
}

pub async fn restore(
    State(hub): State<Arc<Hub>>,
    person: PersonCaller,
    MessagePath(id): MessagePath,
) -> Result<Json<MessageRef>, Problem> {
    snooze::restore(&hub, &person.name, &id).await?;
    Ok(Json(MessageRef { id: id.to_string() }))
}
