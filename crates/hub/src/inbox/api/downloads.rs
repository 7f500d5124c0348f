//! GET /v1/inbox/{id}/prompt and /v1/inbox/{id}/files/{index}: texts and files that are not shown on a page.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use countersign_core::message::Door;
use countersign_core::{Actor, State as MessageState};
use countersign_protocol::id::MessageId;
use countersign_protocol::json;
use countersign_store::model::Lookup;
use countersign_store::ops::message::pull::Pull;

use crate::Hub;
use crate::http::attachments::{attachment_response, download};
use crate::http::body;
use crate::http::callers::PersonCaller;
use crate::http::extract::{FilePath, MessagePath};
use crate::inbox::find::find;
use crate::problem::Problem;

/// The full prompt of an agent in a terminal or a run; the item shows only its start.
pub async fn prompt(
    State(hub): State<Arc<Hub>>,
    person: PersonCaller,
    MessagePath(id): MessagePath,
) -> Result<Response, Problem> {
    full_prompt(&hub, &Actor::human(&person.name), id).await
}

/// The caller has checked that the person may see the message.
pub async fn full_prompt(hub: &Hub, person: &Actor, id: MessageId) -> Result<Response, Problem> {
    let view = match hub.store.run(Pull(id)).await? {
        Some(Lookup::Present(view)) => view,
        Some(Lookup::Purged { .. }) => return Err(Problem::Gone),
        None => return Err(Problem::no_message()),
    };
    let names: &[&str] = match view.source.door() {
        Door::Hap => &["prompt"],
        Door::Runs => &["prompt", "question", "resource"],
        Door::A2h => {
            let message = "this message has no separate prompt; the item shows its whole text".to_owned();
            return Err(Problem::NotFound { message });
        }
    };
    let name = format!("{}.txt", view.id);
    let wire = view.wire;
    let permit = hub.limits.memory.acquire(person.as_str(), wire.len()).await?;
    let text = body::offload_if_large(wire.len(), move || prompt_text(&wire, names)).await??;
    Ok(download(&name, "text/plain; charset=utf-8", text.into_bytes(), permit))
}

fn prompt_text(wire: &str, names: &[&str]) -> Result<String, Problem> {
    let wire = json::parse(wire.as_bytes())?;
    Ok(names
        .iter()
        .find_map(|name| wire[name].as_str())
        .unwrap_or_default()
        .to_owned())
}

pub async fn file(
    State(hub): State<Arc<Hub>>,
    person: PersonCaller,
    FilePath { id, index }: FilePath,
) -> Result<Response, Problem> {
    answer_file(&hub, &Actor::human(&person.name), &id, index).await
}

/// The caller has checked that the person may see the message.
pub async fn answer_file(hub: &Hub, person: &Actor, id: &MessageId, index: usize) -> Result<Response, Problem> {
    let message = find(hub, id).await?.message;
    match &message.state {
        MessageState::Resolved(resolution) if !message.content.sensitive => {
            attachment_response(hub, person.as_str(), id, resolution, index).await
        }
        MessageState::Resolved(_) | MessageState::Open | MessageState::Delivered => Err(Problem::no_file()),
    }
}
