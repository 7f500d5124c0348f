//! Flat JSON Schemas: one object, whose properties are strings, numbers, booleans or enums.
//!
//! A flat schema can be drawn as a form by every surface, and its validation cost is bounded by its size.

use jsonschema::{PatternOptions, Validator};
use serde_json::{Map, Value};

use crate::rejection::Rejection;

const MAX_PROPERTIES: usize = 100;
const MAX_ENUM: usize = 500;
const MAX_PATTERN_CHARS: usize = 512;
/// The memory limit of a compiled pattern, against huge repetition counts.
const MAX_PATTERN_BYTES: usize = 256 * 1024;

const FORM_KEYS: [&str; 9] = [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "title",
    "description",
    "$schema",
    "$comment",
    "examples",
];
const PROPERTY_KEYS: [&str; 23] = [
    "type",
    "enum",
    "const",
    "title",
    "description",
    "default",
    "examples",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "contentEncoding",
    "contentMediaType",
    "readOnly",
    "writeOnly",
    "deprecated",
    "enumNames",
    "$comment",
];
const SENSITIVE_KEYS: [&str; 3] = ["x-a2h-sensitive", "x-ahcp-sensitive", "x-ma2h-sensitive"];

fn refuse(place: &str, message: impl Into<String>) -> Rejection {
    let field = if place.is_empty() {
        "request.schema".to_owned()
    } else {
        format!("request.schema.{place}")
    };
    Rejection::field(field, message)
}

/// Refuses a schema that is not flat or cannot be answered.
pub fn check(schema: &Value) -> Result<(), Rejection> {
    let Value::Object(form) = schema else {
        return Err(refuse("", "give a JSON Schema object"));
    };
    check_keys("", form, &FORM_KEYS)?;
    if !admits_object(form.get("type")) {
        return Err(refuse(
            "type",
            "the answer is an object; declare type \"object\" or leave it out",
        ));
    }
    if form
        .get("additionalProperties")
        .is_some_and(|extra| !extra.is_boolean())
    {
        return Err(refuse(
            "additionalProperties",
            "use true or false; nested schemas are not supported",
        ));
    }
    let properties = match form.get("properties") {
        Some(Value::Object(properties)) if !properties.is_empty() => properties,
        _ => return Err(refuse("properties", "describe at least one field of the answer")),
    };
    if properties.len() > MAX_PROPERTIES {
        return Err(refuse(
            "properties",
            format!("describe at most {MAX_PROPERTIES} fields"),
        ));
    }
    for (name, property) in properties {
        check_property(&format!("properties.{name}"), property)?;
    }
    check_required(form.get("required"), properties)?;
    compile(schema).map(drop)
}

fn admits_object(declared: Option<&Value>) -> bool {
    match declared {
        None => true,
        Some(Value::String(name)) => name == "object",
        Some(Value::Array(names)) => names.iter().any(|name| name == "object"),
        Some(_) => false,
    }
}

/// Extension keys (`x-…`) are allowed as annotations; every other key must be on the list of flat, harmless keys.
fn check_keys(place: &str, object: &Map<String, Value>, known: &[&str]) -> Result<(), Rejection> {
    match object
        .keys()
        .find(|key| !key.starts_with("x-") && !known.contains(&key.as_str()))
    {
        Some(key) if place.is_empty() => Err(refuse(key, "not supported: the schema must be flat")),
        Some(key) => Err(refuse(
            &format!("{place}.{key}"),
            "not supported: the schema must be flat",
        )),
        None => Ok(()),
    }
}

fn check_property(place: &str, property: &Value) -> Result<(), Rejection> {
    let Value::Object(property) = property else {
        return Err(refuse(place, "describe the field with an object"));
    };
    check_keys(place, property, &PROPERTY_KEYS)?;
    if !is_scalar_type(property.get("type")) {
        return Err(refuse(
            &format!("{place}.type"),
            "use string, number, integer or boolean; nothing nested",
        ));
    }
    match property.get("enum") {
        None => {}
        Some(Value::Array(values))
            if !values.is_empty() && values.len() <= MAX_ENUM && values.iter().all(is_scalar) => {}
        Some(_) => {
            return Err(refuse(
                &format!("{place}.enum"),
                format!("list 1 to {MAX_ENUM} plain values"),
            ));
        }
    }
    if let Some(pattern) = property.get("pattern").and_then(Value::as_str)
        && pattern.chars().count() > MAX_PATTERN_CHARS
    {
        return Err(refuse(
            &format!("{place}.pattern"),
            format!("keep it within {MAX_PATTERN_CHARS} characters"),
        ));
    }
    check_range(place, property, "minLength", "maxLength")?;
    check_range(place, property, "minimum", "maximum")
}

fn is_scalar_type(declared: Option<&Value>) -> bool {
    let scalar = |name: &Value| {
        name.as_str()
            .is_some_and(|name| matches!(name, "string" | "number" | "integer" | "boolean" | "null"))
    };
    match declared {
        None => true,
        Some(Value::Array(names)) => !names.is_empty() && names.iter().all(scalar),
        Some(name) => scalar(name),
    }
}

fn is_scalar(value: &Value) -> bool {
    !value.is_object() && !value.is_array()
}

fn check_range(place: &str, property: &Map<String, Value>, low: &str, high: &str) -> Result<(), Rejection> {
    let bound = |key: &str| property.get(key).and_then(Value::as_f64);
    match (bound(low), bound(high)) {
        (Some(min), Some(max)) if min > max => Err(refuse(
            &format!("{place}.{low}"),
            format!("is above {high}, so no answer is possible"),
        )),
        _ => Ok(()),
    }
}

fn check_required(required: Option<&Value>, properties: &Map<String, Value>) -> Result<(), Rejection> {
    match required {
        None => Ok(()),
        Some(Value::Array(names)) => {
            let stray = names
                .iter()
                .find(|name| !name.as_str().is_some_and(|name| properties.contains_key(name)));
            stray.map_or(Ok(()), |name| {
                Err(refuse("required", format!("{name} is not among the properties")))
            })
        }
        Some(_) => Err(refuse("required", "list the names of the required fields")),
    }
}

/// The schema is untrusted: no network access, linear-time patterns, bounded automata.
pub(crate) fn compile(schema: &Value) -> Result<Validator, Rejection> {
    jsonschema::options()
        .with_draft(jsonschema::Draft::Draft202012)
        .should_validate_formats(true)
        .with_pattern_options(PatternOptions::regex().size_limit(MAX_PATTERN_BYTES))
        .build(schema)
        .map_err(|error| refuse("", format!("not a usable JSON Schema at {}", error.instance_path())))
}

/// Names the invalid field of the answer, but not its value, which may be secret.
pub fn check_answer(schema: &Value, value: &Value) -> Result<(), Rejection> {
    if !value.is_object() {
        return Err(Rejection::field("value", "answer with an object that fits the form"));
    }
    let validator = compile(schema)?;
    match validator.validate(value) {
        Ok(()) => Ok(()),
        Err(error) => {
            let path = error.instance_path().to_string().replace('/', ".");
            Err(Rejection::field(format!("value{path}"), error.masked().to_string()))
        }
    }
}

/// The names of the answer fields that must never be logged or shown again.
pub fn sensitive_fields(schema: &Value) -> Vec<&str> {
    let Some(Value::Object(properties)) = schema.get("properties") else {
        return Vec::new();
    };
    properties
        .iter()
        .filter(|(_, property)| is_sensitive(property))
        .map(|(name, _)| name.as_str())
        .collect()
}

pub(crate) fn is_sensitive(property: &Value) -> bool {
    SENSITIVE_KEYS
        .iter()
        .any(|key| property.get(key) == Some(&Value::Bool(true)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fault(schema: Value) -> String {
        match check(&schema) {
            Err(Rejection::InvalidField { field, .. }) => field,
            other => panic!("expected a field error for {schema}, got {other:?}"),
        }
    }

    #[test]
    fn a_flat_form_passes() {
        let schema = json!({
            "type": ["object", "null"],
            "properties": {
                "name": {"type": "string", "minLength": 1, "pattern": "^[a-z]+$", "x-a2h-sensitive": true},
                "count": {"type": "integer", "minimum": 0},
                "when": {"type": "string", "format": "date"},
                "size": {"enum": ["s", "m", "l"]},
            },
            "required": ["name"],
            "additionalProperties": false,
        });
        assert_eq!(check(&schema), Ok(()));
        assert_eq!(sensitive_fields(&schema), ["name"]);
    }

    #[test]
    fn a_nested_schema_is_refused_with_the_path() {
        assert_eq!(fault(json!([])), "request.schema");
        assert_eq!(
            fault(json!({"$ref": "#/x", "properties": {"a": {}}})),
            "request.schema.$ref"
        );
        assert_eq!(
            fault(json!({"properties": {"a": {"type": "object", "properties": {}}}})),
            "request.schema.properties.a.properties"
        );
        assert_eq!(
            fault(json!({"properties": {"a": {"type": "array"}}})),
            "request.schema.properties.a.type"
        );
        assert_eq!(
            fault(json!({"properties": {"a": {"anyOf": []}}})),
            "request.schema.properties.a.anyOf"
        );
        assert_eq!(
            fault(json!({"properties": {"a": {}}, "additionalProperties": {}})),
            "request.schema.additionalProperties"
        );
    }

    #[test]
    fn an_unanswerable_schema_is_refused() {
        assert_eq!(fault(json!({})), "request.schema.properties");
        assert_eq!(fault(json!({"properties": {}})), "request.schema.properties");
        assert_eq!(
            fault(json!({"type": "string", "properties": {"a": {}}})),
            "request.schema.type"
        );
        assert_eq!(
            fault(json!({"properties": {"a": {"enum": []}}})),
            "request.schema.properties.a.enum"
        );
        assert_eq!(
            fault(json!({"properties": {"a": {"minimum": 3, "maximum": 2}}})),
            "request.schema.properties.a.minimum"
        );
        assert_eq!(
            fault(json!({"properties": {"a": {}}, "required": ["b"]})),
            "request.schema.required"
        );
    }

    #[test]
    fn a_hostile_pattern_is_refused() {
        assert_eq!(
            fault(json!({"properties": {"a": {"type": "string", "pattern": "("}}})),
            "request.schema"
        );
        let long = "a".repeat(MAX_PATTERN_CHARS + 1);
        assert_eq!(
            fault(json!({"properties": {"a": {"type": "string", "pattern": long}}})),
            "request.schema.properties.a.pattern"
        );
        assert_eq!(
            fault(json!({"properties": {"a": {"type": "string", "pattern": "((a{1000}){1000}){1000}"}}})),
            "request.schema"
        );
    }

    #[test]
    fn a_wrong_answer_names_the_field_and_hides_the_value() {
        let schema = json!({"properties": {"pin": {"type": "string", "maxLength": 3}}, "required": ["pin"]});
        match check_answer(&schema, &json!({"pin": "hunter2"})) {
            Err(Rejection::InvalidField { field, message }) => {
                assert_eq!(field, "value.pin");
                assert!(!message.contains("hunter2"), "{message}");
            }
            other => panic!("{other:?}"),
        }
        assert!(check_answer(&schema, &json!({})).is_err());
        assert!(check_answer(&schema, &json!("pin")).is_err());
        assert!(check_answer(&schema, &json!({"pin": "123"})).is_ok());
    }
}
