//! GET /v1/inbox/{id}/prompt and /v1/inbox/{id}/files/{index}: what is too long or too strange to stand on a page.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use countersign_core::State as MessageState;
use countersign_protocol::id::MessageId;
use countersign_protocol::json;
use countersign_store::model::Found;
use countersign_store::ops::pull::Pull;
use serde_json::Value;

use crate::app::Hub;
use crate::attachments::{kept, to_keep};
use crate::auth::PersonCaller;
use crate::extract::{FilePath, MessagePath};
use crate::inbox::find::find;
use crate::problem::Problem;
use crate::terminals::cue_kind;

/// All of what an agent in a terminal said, of which the item shows the start.
pub async fn prompt(
    State(hub): State<Arc<Hub>>,
    _person: PersonCaller,
    MessagePath(id): MessagePath,
) -> Result<Response, Problem> {
    whole_prompt(&hub, id).await
}

/// For somebody who may see the message.
pub async fn whole_prompt(hub: &Hub, id: MessageId) -> Result<Response, Problem> {
    let pulled = match hub.store.run(Pull(id)).await? {
        Some(Found::Live(pulled)) => pulled,
        Some(Found::Gone { .. }) => return Err(Problem::Gone),
        None => return Err(Problem::no_message()),
    };
    if cue_kind(&pulled.source).is_none() {
        let message = "this message came with no prompt; all of it stands in the item".to_owned();
        return Err(Problem::NotFound { message });
    }
    let said = match json::parse(pulled.wire.as_bytes())? {
        Value::Object(mut fields) => fields.remove("prompt"),
        _ => None,
    };
    let text = said.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned();
    Ok(to_keep(&format!("{}.txt", pulled.id), "text/plain; charset=utf-8", text))
}

pub async fn file(
    State(hub): State<Arc<Hub>>,
    _person: PersonCaller,
    FilePath { id, index }: FilePath,
) -> Result<Response, Problem> {
    file_of(&hub, &id, index).await
}

/// For somebody who may see the message.
pub async fn file_of(hub: &Hub, id: &MessageId, index: usize) -> Result<Response, Problem> {
    let message = find(hub, id).await?.message;
    match &message.state {
        MessageState::Resolved(resolution) if !message.content.sensitive => kept(hub, id, resolution, index).await,
        MessageState::Resolved(_) | MessageState::Open | MessageState::Delivered => Err(Problem::no_file()),
    }
}
