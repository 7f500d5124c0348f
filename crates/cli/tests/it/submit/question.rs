//! Well-formed messages with a semantic defect: refused at submit, while the agent can still fix them.

use serde_json::{Value, json};

use super::{Defect, all_refused, remove};
use crate::harness::*;

const SELECTS: &[Defect] = &[
    (
        "two options of one value",
        |e| e["request"]["options"][1]["value"] = json!("blue"),
        "request.options",
    ),
    (
        "an empty value",
        |e| e["request"]["options"][0]["value"] = json!(""),
        "request.options",
    ),
    (
        "a default that is no option",
        |e| e["request"]["default_on_expire"] = json!("purple"),
        "request.default_on_expire",
    ),
    (
        "a label for a default",
        |e| e["request"]["default_on_expire"] = json!("Blue"),
        "request.default_on_expire",
    ),
    (
        "an object for a default",
        |e| e["request"]["default_on_expire"] = json!({}),
        "request.default_on_expire",
    ),
    (
        "an expiry in the past",
        |e| e["expires_at"] = json!("2020-01-01T00:00:00Z"),
        "expires_at",
    ),
    ("an empty key", |e| e["idempotency_key"] = json!(""), "idempotency_key"),
    (
        "a key of 256 characters",
        |e| e["idempotency_key"] = json!("k".repeat(256)),
        "idempotency_key",
    ),
    (
        "a body above its limit",
        |e| e["body"] = json!("x".repeat(65_537)),
        "body",
    ),
    (
        "too many context parts",
        |e| e["context"] = json!(vec![json!({"kind": "text", "text": "x"}); 17]),
        "context",
    ),
    (
        "a part above its limit",
        |e| e["context"] = json!([{"kind": "text", "text": "x".repeat(262_145)}]),
        "context",
    ),
    (
        "a state above its limit",
        |e| e["state"] = json!({"blob": "x".repeat(262_145)}),
        "state",
    ),
];

const CONFIRMS: &[Defect] = &[
    (
        "a default that is no option",
        |e| e["request"]["default_on_expire"] = json!("yes"),
        "request.default_on_expire",
    ),
    (
        "two options of one value",
        |e| e["request"]["options"] = twins(),
        "request.options",
    ),
    (
        "a default replaced by own options",
        own_options_with_a_synthesised_default,
        "request.default_on_expire",
    ),
];

const INPUTS: &[Defect] = &[
    (
        "a default that breaks the schema",
        |e| default(e, json!({"reason": "x"})),
        "request.default_on_expire",
    ),
    (
        "a default without a required field",
        |e| default(e, json!({"urgent": true})),
        "request.default_on_expire",
    ),
    (
        "a text for a default",
        |e| default(e, json!("because")),
        "request.default_on_expire",
    ),
    (
        "a nested object",
        |e| property(e, json!({"type": "object", "properties": {"a": {"type": "string"}}})),
        "schema",
    ),
    (
        "a nested list",
        |e| property(e, json!({"type": "array", "items": {"type": "string"}})),
        "schema",
    ),
    (
        "a reference",
        |e| property(e, json!({"$ref": "#/properties/reason"})),
        "schema",
    ),
    (
        "a reference to the network",
        |e| property(e, json!({"$ref": "https://evil.example/s.json"})),
        "schema",
    ),
    (
        "a reference at the top",
        |e| e["request"]["schema"]["$ref"] = json!("#/$defs/x"),
        "schema",
    ),
    (
        "a pattern that is none",
        |e| property(e, json!({"type": "string", "pattern": "(["})),
        "schema",
    ),
    (
        "no properties",
        |e| remove(&mut e["request"]["schema"], "properties"),
        "schema",
    ),
    (
        "an empty list of properties",
        |e| e["request"]["schema"]["properties"] = json!({}),
        "schema",
    ),
    (
        "a type that is a text",
        |e| e["request"]["schema"]["type"] = json!("string"),
        "schema",
    ),
    (
        "types without an object",
        |e| e["request"]["schema"]["type"] = json!(["string", "null"]),
        "schema",
    ),
];

const TASKS: &[Defect] = &[(
    "an expiry in the past",
    |e| e["expires_at"] = json!("2020-01-01T00:00:00Z"),
    "expires_at",
)];

/// A valid question, and a change that takes it to the limit of the rules.
type Edge = (fn(&str) -> Value, fn(&mut Value));

fn twins() -> Value {
    json!([{"value": "go", "label": "Go"}, {"value": "go", "label": "Stop"}])
}

fn own_options_with_a_synthesised_default(envelope: &mut Value) {
    envelope["request"]["options"] = json!([{"value": "go", "label": "Go"}, {"value": "stop", "label": "Stop"}]);
    envelope["request"]["default_on_expire"] = json!("approve");
}

fn default(envelope: &mut Value, value: Value) {
    envelope["request"]["default_on_expire"] = value;
}

fn property(envelope: &mut Value, schema: Value) {
    envelope["request"]["schema"]["properties"]["extra"] = schema;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unusable_question_is_refused_with_the_field_named() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let cases: [(&[Defect], Value); 5] = [
        (SELECTS, select("bot")),
        (CONFIRMS, ask("bot")),
        (INPUTS, input("bot")),
        (TASKS, task("bot")),
        (TASKS, notify("bot")),
    ];
    all_refused(&bot, &cases, 422, "invalid_field").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_at_the_edge_of_the_rules_are_accepted() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let edges: [Edge; 10] = [
        (select, |e| e["request"]["options"][1]["label"] = json!("Blue")),
        (select, |e| e["request"]["default_on_expire"] = json!(null)),
        (select, |e| {
            e["request"]["options"] = json!([{"value": "only", "label": "Only"}])
        }),
        (select, |e| e["idempotency_key"] = json!("k".repeat(255))),
        (ask, |e| e["request"]["default_on_expire"] = json!("deny")),
        (input, |e| default(e, json!({"reason": "none given"}))),
        (input, |e| e["request"]["schema"]["type"] = json!(["object", "null"])),
        (input, |e| remove(&mut e["request"]["schema"], "type")),
        (input, |e| {
            property(
                e,
                json!({"type": "string", "pattern": "^[a-z]+$", "x-a2h-sensitive": true}),
            )
        }),
        (input, |e| property(e, json!({"enum": ["a", "b"]}))),
    ];
    for (sound, change) in edges {
        let mut envelope = sound("bot");
        change(&mut envelope);
        let reply = bot.submit(&envelope).await;
        assert_eq!(reply.status, 202, "{}\n{envelope}", reply.text());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_confirm_without_options_offers_approve_and_deny() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    let item = hub.owner.get(&format!("/v1/inbox/{id}")).await.expect(200);
    let values: Vec<_> = item["question"]["options"]
        .as_array()
        .unwrap()
        .iter()
        .map(|option| &option["value"])
        .collect();
    assert_eq!(values, ["approve", "deny"]);
    assert!(
        bot.pull(&id).await["request"].get("options").is_none(),
        "the agent's own envelope stays as it was"
    );
}
