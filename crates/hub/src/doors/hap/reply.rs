//! What an agent in a terminal gets to see of its cue.

use countersign_core::State;
use countersign_core::hap;
use countersign_protocol::hap::Kind;
use countersign_store::ops::terminal::FoundCue;
use serde_json::{Value, json};

use crate::terminals::cue_kind;

pub fn shown(found: &FoundCue) -> Value {
    let pulled = &found.pulled;
    let status = pulled.state.status().as_str();
    let State::Resolved(resolution) = &pulled.state else { return json!({"id": pulled.id, "status": status}) };
    let reply = hap::reply(&found.content, resolution);
    let mut said = json!({"text": reply.text, "files": reply.files});
    if let Some(comment) = reply.comment {
        said["comment"] = comment.into();
    }
    json!({
        "id": pulled.id,
        "status": status,
        "kind": cue_kind(&pulled.source).unwrap_or(Kind::Cue),
        "reply": said,
        "value": resolution.value,
        "actor": resolution.actor,
        "resolved_at": resolution.resolved_at,
        "collected": found.collected,
    })
}
