//! Valid, complete envelopes as agents send them. A test changes only the field it is about.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

fn envelope(agent_id: &str, kind: &str) -> Value {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    json!({
        "a2h_version": "0.3",
        "type": kind,
        "created_at": "2026-01-02T03:04:05Z",
        "agent": {"id": agent_id, "run_id": "run-1", "runtime": "cli"},
        "title": "Deploy build 42?",
        "body": "All checks are green.",
        "idempotency_key": format!("idem_{}", COUNT.fetch_add(1, Ordering::Relaxed)),
    })
}

pub fn notify(agent_id: &str) -> Value {
    envelope(agent_id, "notify")
}

/// A confirm ask that the hub's owner may answer.
pub fn ask(agent_id: &str) -> Value {
    let mut ask = envelope(agent_id, "ask");
    ask["request"] = json!({"mode": "confirm", "allowed_resolvers": ["human:owner"]});
    ask
}

pub fn select(agent_id: &str) -> Value {
    let mut ask = ask(agent_id);
    ask["request"]["mode"] = json!("select");
    ask["request"]["options"] = json!([
        {"value": "blue", "label": "Blue"},
        {"value": "green", "label": "Green", "description": "the one with leaves"},
    ]);
    ask
}

pub fn input(agent_id: &str) -> Value {
    let mut ask = ask(agent_id);
    ask["request"]["mode"] = json!("input");
    ask["request"]["schema"] = json!({
        "type": "object",
        "properties": {
            "reason": {"type": "string", "minLength": 3},
            "retries": {"type": "integer", "minimum": 0},
            "urgent": {"type": "boolean"},
            "region": {"type": "string", "enum": ["eu", "us"]},
        },
        "required": ["reason"],
        "additionalProperties": false,
    });
    ask
}

pub fn task(agent_id: &str) -> Value {
    let mut task = envelope(agent_id, "task");
    task["action"] = json!({
        "instructions": "Rotate the key.",
        "checklist": [{"text": "rotate"}, {"text": "announce"}],
        "allowed_resolvers": ["human:owner"],
    });
    task
}

/// The same message in the MA2H protocol family.
pub fn ma2h(mut envelope: Value, version: &str) -> Value {
    envelope.as_object_mut().expect("an object").remove("a2h_version");
    envelope["ma2h_version"] = json!(version);
    envelope
}

pub fn a2h(mut envelope: Value, version: &str) -> Value {
    envelope["a2h_version"] = json!(version);
    envelope
}

/// The ask or task with a push callback to `url`.
pub fn push_to(mut ask: Value, url: &str) -> Value {
    let part = if ask["type"] == "task" { "action" } else { "request" };
    ask[part]["callback"] = json!({"mode": "push", "url": url});
    ask
}

pub fn resolvers(mut envelope: Value, actors: &[&str]) -> Value {
    let part = if envelope["type"] == "task" {
        "action"
    } else {
        "request"
    };
    envelope[part]["allowed_resolvers"] = json!(actors);
    envelope
}

/// The timestamp `millis` from now, in the format agents use.
pub fn from_now(millis: i64) -> String {
    let now = jiff::Timestamp::now().as_millisecond();
    let instant = jiff::Timestamp::from_millisecond(now + millis).expect("an instant of this century");
    // Always with milliseconds, like the hub's own timestamps.
    format!("{instant:.3}")
}

pub fn expiring(mut envelope: Value, millis: i64) -> Value {
    envelope["expires_at"] = json!(from_now(millis));
    envelope
}

/// The envelope as JSON text with `raw` inserted verbatim as its `state`.
pub fn with_raw_state(envelope: &Value, raw: &str) -> String {
    let text = envelope.to_string();
    format!("{},\"state\":{raw}}}", text.strip_suffix('}').expect("an object"))
}
