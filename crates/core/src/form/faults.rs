//! All faults of a form answer, so that a surface can show each beside its field.

use std::collections::BTreeMap;

use countersign_protocol::escape;
use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use serde_json::Value;

use crate::schema;

/// Each faulty field with an instruction; an empty name means the whole answer. Uses the same validator that refuses
/// the answer. Values are not repeated, because they may be secret; hidden characters of the schema are escaped.
pub fn check_all(schema: &Value, value: &Value) -> Vec<(String, String)> {
    if !value.is_object() {
        return vec![(String::new(), "answer with an object that fits the form".to_owned())];
    }
    let validator = match schema::compile(schema) {
        Ok(validator) => validator,
        Err(rejection) => return vec![(String::new(), rejection.to_string())],
    };
    let mut faults: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, message) in validator.iter_errors(value).flat_map(|error| faults_of(&error)) {
        let messages = faults.entry(name).or_default();
        if !messages.contains(&message) {
            messages.push(message);
        }
    }
    let listed = faults
        .into_iter()
        .flat_map(|(name, messages)| messages.into_iter().map(move |m| (name.clone(), m)));
    listed.collect()
}

fn faults_of(error: &ValidationError) -> Vec<(String, String)> {
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            vec![(
                property.as_str().unwrap_or_default().to_owned(),
                "fill this in".to_owned(),
            )]
        }
        ValidationErrorKind::AdditionalProperties { unexpected } => unexpected
            .iter()
            .map(|name| (name.clone(), "the form has no such field".to_owned()))
            .collect(),
        kind => {
            let name = error
                .instance_path()
                .into_iter()
                .next()
                .map(|segment| segment.to_string());
            let message = instruction(kind).unwrap_or_else(|| error.masked().to_string());
            vec![(name.unwrap_or_default(), escape::escape(&message))]
        }
    }
}

/// An instruction for the common faults; other faults use the validator's own message.
fn instruction(kind: &ValidationErrorKind) -> Option<String> {
    Some(match kind {
        ValidationErrorKind::MinLength { limit: 1 } => "fill this in".to_owned(),
        ValidationErrorKind::MinLength { limit } => format!("write at least {limit} characters"),
        ValidationErrorKind::MaxLength { limit } => format!("write at most {limit} characters"),
        ValidationErrorKind::Minimum { limit } => format!("give {limit} or more"),
        ValidationErrorKind::Maximum { limit } => format!("give {limit} or less"),
        ValidationErrorKind::ExclusiveMinimum { limit } => format!("give more than {limit}"),
        ValidationErrorKind::ExclusiveMaximum { limit } => format!("give less than {limit}"),
        ValidationErrorKind::MultipleOf { multiple_of } => format!("give a multiple of {multiple_of}"),
        ValidationErrorKind::Pattern { pattern } => format!("write it in the form {pattern}"),
        ValidationErrorKind::Format { format } => format!("write it as {format}"),
        ValidationErrorKind::Enum { .. } | ValidationErrorKind::Constant { .. } => {
            "choose one of the values offered".to_owned()
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({
            "properties": {
                "reason": {"type": "string", "minLength": 3},
                "pin": {"type": "string", "maxLength": 4, "pattern": "^[0-9]*$", "x-a2h-sensitive": true},
                "count": {"type": "integer", "minimum": 1},
                "size": {"enum": ["s", "m"]},
                "a/b~c": {"type": "boolean"},
            },
            "required": ["reason", "count"],
            "additionalProperties": false,
        })
    }

    #[test]
    fn every_fault_names_its_field() {
        let value = json!({"pin": "hunter2", "count": 0, "size": "xl", "a/b~c": "yes", "extra": 1});
        let faults = check_all(&schema(), &value);
        let expected = [
            ("a/b~c", "value is not of type \"boolean\""),
            ("count", "give 1 or more"),
            ("extra", "the form has no such field"),
            ("pin", "write at most 4 characters"),
            ("pin", "write it in the form ^[0-9]*$"),
            ("reason", "fill this in"),
            ("size", "choose one of the values offered"),
        ];
        assert_eq!(
            faults,
            expected.map(|(name, message)| (name.to_owned(), message.to_owned()))
        );
    }

    #[test]
    fn a_value_is_never_repeated() {
        let value = json!({"reason": "s3", "pin": "hunter2", "count": "s3cret", "size": "s3cret", "a/b~c": "s3cret"});
        for (_, message) in check_all(&schema(), &value) {
            assert!(!message.contains("hunter2") && !message.contains("s3"), "{message}");
        }
    }

    #[test]
    fn hidden_characters_of_the_schema_are_spelled_out() {
        let schema = json!({"properties": {"a": {"type": "string", "pattern": "^\u{202e}x$"}}});
        assert_eq!(
            check_all(&schema, &json!({"a": "x"}))[0].1,
            "write it in the form ^\\u{202e}x$"
        );
    }

    #[test]
    fn faults_are_found_exactly_when_the_answer_is_refused() {
        for value in [
            json!({"reason": "why not", "count": 1}),
            json!({"reason": "why not", "count": 1.0, "size": "s", "pin": ""}),
            json!({"reason": "why not"}),
            json!({"reason": "no", "count": 1}),
            json!({"reason": "why not", "count": 1, "more": null}),
            json!([]),
            json!("reason"),
        ] {
            let refused = schema::check_answer(&schema(), &value).is_err();
            assert_eq!(!check_all(&schema(), &value).is_empty(), refused, "{value}");
        }
    }
}
