//! Form schemas: checks for the most common mistakes. The hub checks schemas thoroughly.

use serde_json::{Map, Value, json};

use crate::error::Error;

/// The only field of a form that asks for a text.
pub const TEXT_FIELD: &str = "answer";

const SCALARS: [&str; 5] = ["string", "number", "integer", "boolean", "null"];

/// The form of [`Ask::text`](crate::Ask::text). The media type makes it a field for several lines.
pub fn text_schema() -> Map<String, Value> {
    let field = json!({"type": "string", "title": "Your answer", "minLength": 1, "contentMediaType": "text/plain"});
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), json!({ TEXT_FIELD: field }));
    schema.insert("required".to_owned(), json!([TEXT_FIELD]));
    schema.insert("additionalProperties".to_owned(), false.into());
    schema
}

pub(super) fn check(schema: &Value) -> Result<(), Error> {
    if !names_of(schema.get("type")).is_none_or(|names| names.contains(&"object")) {
        return Err(refuse(
            "type",
            "must be \"object\", or be left out: the answer is an object",
        ));
    }
    let properties = match schema.get("properties") {
        Some(Value::Object(properties)) if !properties.is_empty() => properties,
        Some(_) | None => return Err(refuse("properties", "must describe at least one field of the answer")),
    };
    for (name, property) in properties {
        if !property.is_object() {
            return Err(refuse(
                &format!("properties.{name}"),
                "must describe the field with an object",
            ));
        }
        let is_scalar = |names: Vec<&str>| !names.is_empty() && names.iter().all(|name| SCALARS.contains(name));
        if !names_of(property.get("type")).is_none_or(is_scalar) {
            let message = "must be string, number, integer or boolean: nothing nested";
            return Err(refuse(&format!("properties.{name}.type"), message));
        }
    }
    let stray = required(schema).find(|name| !properties.contains_key(*name));
    stray.map_or(Ok(()), |name| {
        Err(refuse(
            "required",
            &format!("names {name}, which is not among the properties"),
        ))
    })
}

pub(super) fn check_default(schema: Option<&Value>, default: &Value) -> Result<(), Error> {
    let refuse = |message: String| Err(Error::invalid("request.default_on_expire", message));
    let Value::Object(default) = default else {
        return refuse("must be an object that fits the form".to_owned());
    };
    let schema = schema.unwrap_or(&Value::Null);
    if let Some(name) = required(schema).find(|name| !default.contains_key(*name)) {
        return refuse(format!("must have the field {name}, which the form requires"));
    }
    let nothing = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&nothing);
    let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    for (name, value) in default {
        match properties.get(name) {
            Some(property) if !fits(property, value) => return refuse(format!("has a field {name} that does not fit")),
            None if closed => return refuse(format!("has a field {name} that the form does not know")),
            Some(_) | None => {}
        }
    }
    Ok(())
}

fn fits(property: &Value, value: &Value) -> bool {
    let is_whole = |value: &Value| value.as_f64().is_some_and(|number| number.fract() == 0.0);
    let is_a = |name: &str| match name {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => is_whole(value),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        _ => false,
    };
    let type_fits = names_of(property.get("type")).is_none_or(|names| names.into_iter().any(is_a));
    // An enum of numbers is left to the hub: 1 and 1.0 are equal numbers, but different JSON values here.
    let listed = property.get("enum").and_then(Value::as_array);
    type_fits && (!value.is_string() || listed.is_none_or(|values| values.contains(value)))
}

/// The type names of a schema, which has one or several; `None` without a `type`.
fn names_of(declared: Option<&Value>) -> Option<Vec<&str>> {
    match declared? {
        Value::String(name) => Some(vec![name]),
        Value::Array(names) => Some(names.iter().map(|name| name.as_str().unwrap_or_default()).collect()),
        _ => Some(Vec::new()),
    }
}

fn required(schema: &Value) -> impl Iterator<Item = &str> {
    schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

fn refuse(place: &str, message: &str) -> Error {
    Error::invalid(format!("request.schema.{place}"), message)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fault(result: Result<(), Error>) -> String {
        match result {
            Err(Error::Invalid { field, .. }) => field,
            other => panic!("expected a field error, got {other:?}"),
        }
    }

    #[test]
    fn an_unusable_form_is_refused() {
        assert!(check(&json!({"properties": {"a": {"type": ["string", "null"]}}, "required": ["a"]})).is_ok());
        for (schema, place) in [
            (json!({}), "properties"),
            (json!({"properties": {}}), "properties"),
            (json!({"type": "string", "properties": {"a": {}}}), "type"),
            (json!({"type": 1, "properties": {"a": {}}}), "type"),
            (json!({"properties": {"a": true}}), "properties.a"),
            (json!({"properties": {"a": {"type": "array"}}}), "properties.a.type"),
            (json!({"properties": {"a": {"type": []}}}), "properties.a.type"),
            (json!({"properties": {"a": {}}, "required": ["b"]}), "required"),
        ] {
            assert_eq!(fault(check(&schema)), format!("request.schema.{place}"), "{schema}");
        }
    }

    #[test]
    fn a_default_must_match_its_form() {
        let schema = json!({
            "properties": {"n": {"type": "integer"}, "size": {"enum": ["s", "m"]}, "free": {}},
            "required": ["n"], "additionalProperties": false,
        });
        for default in [json!({"n": 1}), json!({"n": 2.0, "size": "m", "free": true})] {
            assert!(check_default(Some(&schema), &default).is_ok(), "{default}");
        }
        for default in [
            json!("n"),
            json!({}),
            json!({"n": 1.5}),
            json!({"n": 1, "size": "l"}),
            json!({"n": 1, "x": 1}),
        ] {
            assert_eq!(
                fault(check_default(Some(&schema), &default)),
                "request.default_on_expire",
                "{default}"
            );
        }
    }
}
