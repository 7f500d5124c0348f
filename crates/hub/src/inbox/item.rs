//! One message as JSON for a person, a terminal or a script.

use countersign_core::access::{Principal, may_resolve};
use countersign_core::message::{Payload, Status};
use countersign_core::question::{Ask, Question};
use countersign_core::schema::sensitive_fields;
use countersign_core::{Content, State};
use countersign_protocol::a2h::{Kind, Priority};
use countersign_store::model::{ListEntry, PersonView, UnreadableItem};
use serde_json::{Value, json};

/// One entry of a list.
pub fn render_entry(entry: &ListEntry, viewer: &Principal) -> Value {
    match entry {
        Ok(item) => render(item, viewer),
        Err(damaged) => unreadable(damaged),
    }
}

pub const UNREADABLE_TITLE: &str = "This message cannot be read";

/// A damaged message, with the fields that every item has, so that clients can list it.
fn unreadable(item: &UnreadableItem) -> Value {
    let is_notify = item.status == Status::Delivered.as_str();
    json!({
        "id": item.error.id,
        "unreadable": true,
        "type": if is_notify { Kind::Notify } else { Kind::Ask },
        "status": item.status.parse().unwrap_or(Status::Open).as_str(),
        "title": UNREADABLE_TITLE,
        "body": "It is damaged in the hub's database. `countersign doctor` says more.",
        "agent": {"id": item.agent_id, "run_id": "", "runtime": ""},
        "priority": Priority::Normal,
        "tags": [],
        "context": [],
        "sensitive": false,
        "question": null,
        "action": null,
        "permissions": {"respond": false, "ignore": false},
        "open_ended": false,
        "may_be_empty": false,
        "resolvers": [],
        "can_answer": false,
        "created_at": item.received_at,
        "expires_at": null,
        "default_on_expire": null,
        "source": null,
        "fetched_at": null,
        "resolution": null,
        "delivery": null,
    })
}

pub fn render(item: &PersonView, viewer: &Principal) -> Value {
    let message = &item.message;
    let content = &message.content;
    let ask = match &content.matter {
        Payload::Ask(ask) => Some(ask),
        Payload::Task(_) | Payload::Notify => None,
    };
    json!({
        "id": message.id,
        "type": content.matter.kind(),
        "status": message.state.status().as_str(),
        "title": content.title,
        "body": content.body,
        "agent": content.agent,
        "priority": content.priority,
        "tags": content.tags,
        "context": content.context,
        "sensitive": content.sensitive,
        "question": ask.map(|ask| &ask.question),
        "action": action(&content.matter),
        "permissions": permissions(ask),
        "open_ended": ask.is_some_and(|ask| ask.open_ended),
        "may_be_empty": ask.is_some_and(|ask| ask.may_be_empty),
        "resolvers": content.resolvers,
        "can_answer": can_answer(&message.state, content, viewer),
        "created_at": message.received_at,
        "expires_at": message.expires_at,
        "default_on_expire": ask.and_then(|ask| redacted(ask.default_on_expire.as_ref()?, content)),
        "source": message.source,
        "fetched_at": item.fetched_at,
        "resolution": resolution(&message.state, content),
        "delivery": item.delivery.as_ref().map(|delivery| json!({
            "state": delivery.track,
            "attempts": delivery.attempts,
            "next_attempt_at": delivery.next_attempt_at,
            "delivered_at": delivery.delivered_at,
            "last_error": delivery.last_error,
        })),
    })
}

fn action(matter: &Payload) -> Value {
    match matter {
        Payload::Task(task) => json!({
            "instructions": task.instructions,
            "checklist": task.checklist,
            "verification": task.verification,
        }),
        Payload::Ask(_) | Payload::Notify => Value::Null,
    }
}

fn permissions(ask: Option<&Ask>) -> Value {
    match ask {
        Some(ask) => json!({"respond": ask.may_respond, "ignore": ask.may_decline}),
        None => json!({"respond": true, "ignore": true}),
    }
}

fn can_answer(state: &State, content: &Content, viewer: &Principal) -> bool {
    let is_open = state.status() == Status::Open;
    is_open && viewer.resolver().is_ok_and(|actor| may_resolve(content, &actor))
}

fn resolution(state: &State, content: &Content) -> Value {
    let State::Resolved(resolution) = state else {
        return Value::Null;
    };
    json!({
        "resolution_id": resolution.id,
        "resolution": resolution.outcome,
        "defaulted": resolution.defaulted,
        "value": resolution.value.as_ref().and_then(|value| redacted(value, content)),
        "edited": resolution.edited,
        "actor": resolution.actor,
        "resolved_at": resolution.resolved_at,
        "comment": resolution.comment.as_ref().filter(|_| !content.sensitive),
        "checklist": resolution.checklist,
        "files": if content.sensitive { &[][..] } else { &resolution.files[..] },
    })
}

/// Returns the value without its sensitive parts. Sensitive answers go to the agent only and are never shown again.
pub fn redacted(value: &Value, content: &Content) -> Option<Value> {
    if content.sensitive {
        return None;
    }
    let mut redacted = value.clone();
    if let (
        Payload::Ask(Ask {
            question: Question::Form { schema },
            ..
        }),
        Value::Object(fields),
    ) = (&content.matter, &mut redacted)
    {
        for name in sensitive_fields(schema) {
            fields.shift_remove(name);
        }
    }
    Some(redacted)
}
