//! GET /v1/inbox/{id}

use std::sync::Arc;

use axum::Json;
use axum::extract::State;

use crate::Hub;
use crate::http::callers::PersonCaller;
use crate::http::extract::MessagePath;
use crate::inbox::find::find;
use crate::inbox::item::{HubItem, render, shown_presence};
use crate::messages::cue_waiters::CuePresence;
use crate::problem::Problem;

pub async fn show(
    State(hub): State<Arc<Hub>>,
    person: PersonCaller,
    MessagePath(id): MessagePath,
) -> Result<Json<HubItem>, Problem> {
    let item = find(&hub, &id).await?;
    let seen_at = hub
        .background
        .agent_last_seen
        .seen_at(&item.message.content.agent.id)
        .await?;
    let presence = hub.cue_waiters.presence_of(&item.message);
    let since = presence.since.or(seen_at).filter(|_| presence.state.is_some());
    Ok(Json(HubItem {
        presence: Some(shown_presence(CuePresence { since, ..presence })),
        agent_seen_at: Some(seen_at.map(Into::into)),
        waiting_now: Some(hub.messages.is_awaited(&id)),
        ..render(item, &person.into())
    }))
}
