//! GET /v1/inbox/{id}

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use crate::Hub;
use crate::http::callers::PersonCaller;
use crate::http::extract::MessagePath;
use crate::inbox::find::find;
use crate::inbox::item::render;
use crate::problem::Problem;

pub async fn show(
    State(hub): State<Arc<Hub>>,
    person: PersonCaller,
    MessagePath(id): MessagePath,
) -> Result<Json<Value>, Problem> {
    let item = find(&hub, &id).await?;
    let seen_at = hub
        .background
        .agent_last_seen
        .seen_at(&item.message.content.agent.id)
        .await?;
    let mut shown = render(&item, &person.into());
    let presence = hub.cue_waiters.presence_of(&item.message);
    let since = presence.since.or(seen_at).filter(|_| presence.state.is_some());
    shown["presence"] = json!({"state": presence.state, "since": since});
    shown["agent_seen_at"] = json!(seen_at);
    shown["waiting_now"] = hub.messages.waiters.has_waiter(&id).into();
    Ok(Json(shown))
}
