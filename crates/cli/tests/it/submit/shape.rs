//! Malformed envelopes: refused at submit, with the field named.

use serde_json::{Value, json};

use super::{Defect, all_refused, remove};
use crate::harness::*;

const ANY_MESSAGE: &[Defect] = &[
    ("no type", |e| remove(e, "type"), "type"),
    ("an unknown type", |e| e["type"] = json!("order"), "type"),
    ("a type that is no text", |e| e["type"] = json!(3), "type"),
    ("no created_at", |e| remove(e, "created_at"), "created_at"),
    (
        "a created_at that is no instant",
        |e| e["created_at"] = json!("yesterday"),
        "created_at",
    ),
    (
        "a date for an instant",
        |e| e["created_at"] = json!("2026-01-02"),
        "created_at",
    ),
    ("no agent", |e| remove(e, "agent"), "agent"),
    ("an agent that is a text", |e| e["agent"] = json!("bot"), "agent"),
    ("no agent id", |e| remove(&mut e["agent"], "id"), "agent.id"),
    ("an empty agent id", |e| e["agent"]["id"] = json!(""), "agent.id"),
    ("no run", |e| remove(&mut e["agent"], "run_id"), "agent.run_id"),
    ("an empty run", |e| e["agent"]["run_id"] = json!(""), "agent.run_id"),
    (
        "an unknown runtime",
        |e| e["agent"]["runtime"] = json!("toaster"),
        "agent.runtime",
    ),
    (
        "labels that are no texts",
        |e| e["agent"]["labels"] = json!({"a": 1}),
        "agent.labels",
    ),
    ("no title", |e| remove(e, "title"), "title"),
    ("an empty title", |e| e["title"] = json!(""), "title"),
    (
        "a title of 201 characters",
        |e| e["title"] = json!("é".repeat(201)),
        "title",
    ),
    ("a title that is a number", |e| e["title"] = json!(7), "title"),
    ("a body that is an object", |e| e["body"] = json!({}), "body"),
    ("an unknown priority", |e| e["priority"] = json!("asap"), "priority"),
    ("tags that are a text", |e| e["tags"] = json!("a"), "tags"),
    ("a tag that is a number", |e| e["tags"] = json!(["a", 1]), "tags"),
    ("a context that is an object", |e| e["context"] = json!({}), "context"),
    (
        "a part of unknown kind",
        |e| e["context"] = json!([{"kind": "video"}]),
        "context",
    ),
    (
        "a text part without text",
        |e| e["context"] = json!([{"kind": "text"}]),
        "context",
    ),
    (
        "a data part with a list",
        |e| e["context"] = json!([{"kind": "data", "data": []}]),
        "context",
    ),
    (
        "a file part without uri",
        |e| e["context"] = json!([{"kind": "file", "file": {"name": "x"}}]),
        "context",
    ),
    ("a state that is a text", |e| e["state"] = json!("sealed"), "state"),
    (
        "a client_ref that is a number",
        |e| e["client_ref"] = json!(1),
        "client_ref",
    ),
    (
        "a key that is a number",
        |e| e["idempotency_key"] = json!(1),
        "idempotency_key",
    ),
    (
        "an expires_at that is no instant",
        |e| e["expires_at"] = json!("soon"),
        "expires_at",
    ),
    (
        "a sensitive that is a text",
        |e| e["sensitive"] = json!("yes"),
        "sensitive",
    ),
];

const ASKS: &[Defect] = &[
    ("no key", |e| remove(e, "idempotency_key"), "idempotency_key"),
    ("no request", |e| remove(e, "request"), "request"),
    (
        "an action too",
        |e| e["action"] = json!({"instructions": "x"}),
        "action",
    ),
    ("a request that is a list", |e| e["request"] = json!([]), "request"),
    ("no mode", |e| remove(&mut e["request"], "mode"), "request.mode"),
    (
        "an unknown mode",
        |e| e["request"]["mode"] = json!("guess"),
        "request.mode",
    ),
    (
        "a select without options",
        |e| remove(&mut e["request"], "options"),
        "request.options",
    ),
    (
        "a select with no option",
        |e| e["request"]["options"] = json!([]),
        "request.options",
    ),
    (
        "an option without value",
        |e| remove(&mut e["request"]["options"][0], "value"),
        "request.options",
    ),
    (
        "an option without label",
        |e| remove(&mut e["request"]["options"][1], "label"),
        "request.options",
    ),
    (
        "a value that is a number",
        |e| e["request"]["options"][0]["value"] = json!(1),
        "request.options",
    ),
    (
        "a permission that is a text",
        |e| e["request"]["permissions"] = json!({"allow_ignore": "no"}),
        "request.permissions",
    ),
    (
        "a resolver without kind",
        |e| e["request"]["allowed_resolvers"] = json!(["alice"]),
        "request.allowed_resolvers",
    ),
    (
        "a resolver without name",
        |e| e["request"]["allowed_resolvers"] = json!(["human:"]),
        "request.allowed_resolvers",
    ),
    (
        "resolvers that are a text",
        |e| e["request"]["allowed_resolvers"] = json!("human:a"),
        "request.allowed_resolvers",
    ),
    (
        "a default that is a number",
        |e| e["request"]["default_on_expire"] = json!(1),
        "request.default_on_expire",
    ),
    (
        "a callback of unknown mode",
        |e| e["request"]["callback"] = json!({"mode": "smoke"}),
        "request.callback.mode",
    ),
    (
        "a push to nowhere",
        |e| e["request"]["callback"] = json!({"mode": "push"}),
        "request.callback.url",
    ),
];

const CONFIRMS: &[Defect] = &[
    (
        "one option",
        |e| e["request"]["options"] = json!([{"value": "a", "label": "A"}]),
        "request.options",
    ),
    (
        "three options",
        |e| e["request"]["options"] = options(&["a", "b", "c"]),
        "request.options",
    ),
];

const INPUTS: &[Defect] = &[
    ("no schema", |e| remove(&mut e["request"], "schema"), "request.schema"),
    (
        "a schema that is a list",
        |e| e["request"]["schema"] = json!([]),
        "request.schema",
    ),
];

const TASKS: &[Defect] = &[
    ("no key", |e| remove(e, "idempotency_key"), "idempotency_key"),
    ("no action", |e| remove(e, "action"), "action"),
    (
        "a request too",
        |e| e["request"] = json!({"mode": "confirm"}),
        "request",
    ),
    (
        "no instructions",
        |e| remove(&mut e["action"], "instructions"),
        "action.instructions",
    ),
    (
        "a checklist entry without text",
        |e| e["action"]["checklist"] = json!([{"done": true}]),
        "action.checklist",
    ),
    (
        "a checklist that is a text",
        |e| e["action"]["checklist"] = json!("all"),
        "action.checklist",
    ),
    (
        "a resolver without kind",
        |e| e["action"]["allowed_resolvers"] = json!(["alice"]),
        "action.allowed_resolvers",
    ),
    (
        "a push to nowhere",
        |e| e["action"]["callback"] = json!({"mode": "push"}),
        "action.callback.url",
    ),
];

const NOTIFIES: &[Defect] = &[
    ("a request", |e| e["request"] = json!({"mode": "confirm"}), "request"),
    ("an action", |e| e["action"] = json!({"instructions": "x"}), "action"),
];

fn options(values: &[&str]) -> Value {
    values
        .iter()
        .map(|value| json!({"value": value, "label": value}))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_malformed_envelope_is_refused_with_the_field_named() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let cases: [(&[Defect], Value); 7] = [
        (ANY_MESSAGE, select("bot")),
        (ANY_MESSAGE, notify("bot")),
        (ASKS, select("bot")),
        (CONFIRMS, ask("bot")),
        (INPUTS, input("bot")),
        (TASKS, task("bot")),
        (NOTIFIES, notify("bot")),
    ];
    all_refused(&bot, &cases, 400, "validation_error").await;
    assert_eq!(
        hub.owner.get("/v1/messages").await.expect(200)["messages"],
        json!([]),
        "none was stored"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_not_an_envelope_is_refused() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    for body in [
        "",
        "null",
        "[]",
        "7",
        "\"text\"",
        "{",
        "{}",
        "{\"a2h_version\":\"0.3\"",
        "{} {}",
    ] {
        bot.post_bytes("/v1/messages", body).await.refused("validation_error");
    }
}
