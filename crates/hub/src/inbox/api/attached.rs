//! GET /v1/inbox/{id}/prompt and /v1/inbox/{id}/files/{index}: what is too long or too strange to stand on a page.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use countersign_core::message::Door;
use countersign_core::{Actor, State as MessageState};
use countersign_protocol::id::MessageId;
use countersign_protocol::json;
use countersign_store::model::Found;
use countersign_store::ops::pull::Pull;

use crate::app::Hub;
use crate::attachments::{kept, to_keep};
use crate::auth::PersonCaller;
use crate::body;
use crate::extract::{FilePath, MessagePath};
use crate::inbox::find::find;
use crate::problem::Problem;

/// All of what an agent in a terminal or a run said, of which the item shows the start.
pub async fn prompt(
    State(hub): State<Arc<Hub>>,
    person: PersonCaller,
    MessagePath(id): MessagePath,
) -> Result<Response, Problem> {
    whole_prompt(&hub, &Actor::human(&person.name), id).await
}

/// For somebody who may see the message.
pub async fn whole_prompt(hub: &Hub, person: &Actor, id: MessageId) -> Result<Response, Problem> {
    let pulled = match hub.store.run(Pull(id)).await? {
        Some(Found::Live(pulled)) => pulled,
        Some(Found::Gone { .. }) => return Err(Problem::Gone),
        None => return Err(Problem::no_message()),
    };
    let names: &[&str] = match pulled.source.door {
        Door::Hap => &["prompt"],
        Door::Runs => &["prompt", "question", "resource"],
        Door::A2h => {
            let message = "this message came with no prompt; all of it stands in the item".to_owned();
            return Err(Problem::NotFound { message });
        }
    };
    let name = format!("{}.txt", pulled.id);
    let wire = pulled.wire;
    let hold = hub.room.take(person.as_str(), wire.len()).await?;
    let text = body::work(wire.len(), move || said(&wire, names)).await??;
    Ok(to_keep(&name, "text/plain; charset=utf-8", text.into_bytes(), hold))
}

fn said(wire: &str, names: &[&str]) -> Result<String, Problem> {
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
    file_of(&hub, &Actor::human(&person.name), &id, index).await
}

/// For somebody who may see the message.
pub async fn file_of(hub: &Hub, person: &Actor, id: &MessageId, index: usize) -> Result<Response, Problem> {
    let message = find(hub, id).await?.message;
    match &message.state {
        MessageState::Resolved(resolution) if !message.content.sensitive => {
            kept(hub, person.as_str(), id, resolution, index).await
        }
        MessageState::Resolved(_) | MessageState::Open | MessageState::Delivered => Err(Problem::no_file()),
    }
}
