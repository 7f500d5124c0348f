//! The envelopes that agents send in these tests.

use serde_json::{Value, json};

/// An ask that `human:ann` and the agent itself may answer.
pub fn ask(key: &str, request: Value) -> Value {
    let mut request = request;
    request["allowed_resolvers"] = json!(["human:ann", "agent:bot"]);
    let mut envelope = notify();
    envelope["type"] = json!("ask");
    envelope["idempotency_key"] = json!(key);
    envelope["request"] = request;
    envelope
}

pub fn confirm(key: &str) -> Value {
    ask(key, json!({"mode": "confirm"}))
}

pub fn task(key: &str) -> Value {
    let mut envelope = notify();
    envelope["type"] = json!("task");
    envelope["idempotency_key"] = json!(key);
    envelope["action"] = json!({
        "instructions": "Renew it.",
        "checklist": [{"text": "renewed"}, {"text": "restarted", "done": true}],
        "verification": "The date is new.",
        "allowed_resolvers": ["human:ann"],
    });
    envelope
}

pub fn notify() -> Value {
    json!({
        "a2h_version": "0.3",
        "type": "notify",
        "created_at": "2026-11-15T09:30:00Z",
        "agent": {"id": "bot", "run_id": "run-1", "runtime": "cli"},
        "title": "Ship it?",
    })
}

/// An envelope with every possible field.
pub fn rich(key: &str) -> Value {
    let mut envelope = ask(
        key,
        json!({"mode": "input", "schema": {
        "type": "object",
        "properties": {"reason": {"type": "string"}, "pin": {"type": "string", "x-ma2h-sensitive": true}},
        "required": ["reason"],
    }, "permissions": {"allow_ignore": false}, "default_on_expire": {"reason": "nobody was there"}}),
    );
    let more = json!({
        "agent": {"id": "bot", "run_id": "run-1", "runtime": "cloud", "project": "p", "labels": {"team": "a"}},
        "body": "*Why?*", "priority": "urgent", "tags": ["x"], "client_ref": "c-1",
        "context": [
            {"kind": "text", "text": "t", "metadata": {"n": 1}},
            {"kind": "data", "data": {"n": 1}},
            {"kind": "file", "file": {"uri": "https://files.example/a", "name": "a", "mime_type": "text/plain"}},
        ],
        "state": {"step": 3}, "expires_at": "2026-11-15T10:30:00Z", "x_unknown": [1, 2],
    });
    for (key, value) in more.as_object().into_iter().flatten() {
        envelope[key] = value.clone();
    }
    let version = envelope.as_object_mut().and_then(|fields| fields.remove("a2h_version"));
    envelope["ma2h_version"] = version.map(|_| json!("0.6")).expect("a version");
    envelope
}
