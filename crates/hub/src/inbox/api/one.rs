//! GET /v1/inbox/{id}

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use countersign_protocol::id::MessageId;
use countersign_store::model::{Found, Item};
use countersign_store::ops::pull::View;
use serde_json::{Value, json};

use crate::app::Hub;
use crate::auth::PersonCaller;
use crate::extract::MessagePath;
use crate::inbox::item::render;
use crate::problem::Problem;

pub async fn show(
    State(hub): State<Arc<Hub>>,
    person: PersonCaller,
    MessagePath(id): MessagePath,
) -> Result<Json<Value>, Problem> {
    let item = find(&hub, &id).await?;
    let seen_at = hub.agent_seen_at(&item.message.content.agent.id).await?;
    let mut shown = render(&item, &person.into());
    shown["agent_seen_at"] = json!(seen_at);
    shown["waiting_now"] = hub.wake.is_waited_for(&id).into();
    Ok(Json(shown))
}

pub async fn find(hub: &Hub, id: &MessageId) -> Result<Item, Problem> {
    match hub.store.run(View(id.clone())).await? {
        Some(Found::Live(item)) => Ok(item),
        Some(Found::Gone { .. }) => Err(Problem::Gone),
        None => Err(Problem::no_message()),
    }
}
