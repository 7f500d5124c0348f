//! The JSON of a cue for its agent.

use countersign_core::State;
use countersign_core::hap;
use countersign_core::message::{Content, Outcome, Payload, Resolution};
use countersign_core::question::Question;
use countersign_protocol::a2h::APPROVE;
use countersign_protocol::hap::CueKind;
use countersign_store::ops::terminal::FoundCue;
use serde_json::{Value, json};

use crate::messages::cue_waiters::cue_kind;

pub fn to_json(found: &FoundCue) -> Value {
    let view = &found.view;
    let status = view.state.status().as_str();
    let State::Resolved(resolution) = &view.state else {
        return json!({"id": view.id, "status": status});
    };
    let kind = cue_kind(&view.source).unwrap_or(CueKind::Cue);
    let reply = hap::reply(&found.content, resolution);
    let mut reply_json = json!({"text": reply.text, "files": reply.files});
    if let Some(comment) = reply.comment {
        reply_json["comment"] = comment.into();
    }
    json!({
        "id": view.id,
        "status": status,
        "kind": kind,
        "reply": reply_json,
        "value": resolution.value,
        "confirmed": confirmed(kind, &found.content, resolution),
        "actor": resolution.actor,
        "resolved_at": resolution.resolved_at,
        "collected": found.collected,
    })
}

/// Whether a confirm was answered with its first choice; free text does not count as a yes. `None` for any other
/// question and for a pause.
fn confirmed(kind: CueKind, content: &Content, resolution: &Resolution) -> Option<bool> {
    match (kind, &content.payload, resolution.outcome) {
        (CueKind::Cue, Payload::Ask(ask), Outcome::Answered) if matches!(ask.question, Question::Confirm { .. }) => {
            Some(!resolution.edited && resolution.value.as_ref().is_some_and(|value| value == APPROVE))
        }
        _ => None,
    }
}
