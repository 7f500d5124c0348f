//! Checks of the API description that need no hub.

use std::collections::BTreeSet;

use countersign_hub::serve::routes::routes;
use serde_json::{Value, json};

use crate::document::Document;

#[test]
fn document_has_exactly_the_routes_of_the_hub() {
    let document = Document::read();
    let described: BTreeSet<(&str, &str)> = document.operations().collect();
    let served = routes().listed;
    assert_eq!(described, served.iter().copied().collect::<BTreeSet<_>>());
    assert_eq!(described.len(), served.len(), "a route is listed twice");
}

#[test]
fn every_error_code_is_described_here_and_in_the_docs() {
    let source = include_str!("../../src/problem.rs");
    let (_, after) = source.split_once("pub fn code(").expect("the codes");
    let (codes, _) = after.split_once("fn message(").expect("what follows the codes");
    let quoted = codes.split('"').skip(1).step_by(2);
    let known: BTreeSet<&str> = quoted.collect();
    assert!(
        known.contains("validation_error") && known.len() > 10,
        "the codes were not found: {known:?}"
    );
    let document = Document::read();
    let listed = document.text["components"]["schemas"]["ErrorCode"]["enum"]
        .as_array()
        .expect("a list of codes");
    let listed: BTreeSet<&str> = listed.iter().filter_map(Value::as_str).collect();
    assert_eq!(listed, known);
    let page = include_str!("../../../../docs/errors.md");
    for code in known {
        assert!(
            page.contains(&format!("`{code}`")),
            "docs/errors.md does not explain {code}"
        );
    }
}

#[test]
fn every_reference_resolves_and_every_component_is_used() {
    let document = Document::read();
    let mut used = BTreeSet::new();
    references(&document.text, &mut used);
    for reference in &used {
        document.follow(&json!({ "$ref": reference }));
    }
    for kind in ["parameters", "responses", "schemas"] {
        for name in document.text["components"][kind]
            .as_object()
            .expect("components")
            .keys()
        {
            assert!(
                used.contains(&format!("#/components/{kind}/{name}")),
                "nothing uses {kind}/{name}"
            );
        }
    }
}

fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            found.extend(members.get("$ref").and_then(Value::as_str).map(str::to_owned));
            members.values().for_each(|member| references(member, found));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn every_json_body_has_an_example_that_fits() {
    let document = Document::read();
    for body in document.bodies() {
        assert!(
            !body.examples.is_empty() || body.place == "get /openapi.json 200",
            "{}: no example",
            body.place
        );
        body.examples
            .iter()
            .for_each(|example| document.check(&body.place, body.schema, example));
    }
}

/// Only objects that echo an agent's own fields, and this document itself, may have undescribed properties.
#[test]
fn reply_schemas_allow_no_undescribed_properties() {
    let document = Document::read();
    for body in document
        .bodies()
        .iter()
        .filter(|body| !body.place.ends_with("the request"))
    {
        let is_open = body.place == "get /v1/messages/{id} 200";
        for example in &body.examples {
            let mut extended = (*example).clone();
            extended["surprise"] = json!(true);
            assert_eq!(
                document.faults(body.schema, &extended).is_empty(),
                is_open,
                "{}",
                body.place
            );
        }
    }
}
