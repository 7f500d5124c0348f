//! Converts the typed input of a field into the value its schema expects.

use serde_json::{Number, Value};

use super::field::{Field, FieldKind};
use crate::rejection::Rejection;

/// Empty input gives no value; `check_all` reports a missing required value. A choice is typed as its index, several
/// choices separated by blanks, a boolean as `true`, `false` or `on` (a ticked box in a browser).
pub fn value_of(field: &Field, typed: Option<&str>) -> Result<Option<Value>, Rejection> {
    if field.read_only {
        return Ok(field.default.clone());
    }
    match typed {
        None | Some("") if field.required && field.nullable => Ok(Some(Value::Null)),
        None | Some("") => Ok(None),
        Some(text) => read(field, text).map(Some),
    }
}

fn read(field: &Field, text: &str) -> Result<Value, Rejection> {
    let refuse = |message: &str| Rejection::field(format!("value.{}", field.name), message);
    match &field.kind {
        FieldKind::Text { .. } => Ok(text.into()),
        _ if field.nullable && text == "null" => Ok(Value::Null),
        FieldKind::Number { integer: true, .. } => number(text).ok_or_else(|| refuse("write a whole number, like 12")),
        FieldKind::Number { integer: false, .. } => {
            number(text).ok_or_else(|| refuse("write a number, like 12 or 0.5"))
        }
        FieldKind::Boolean => match text {
            "true" | "on" => Ok(true.into()),
            "false" => Ok(false.into()),
            _ => Err(refuse("choose true or false")),
        },
        FieldKind::Choice(choices) => {
            let picked = text.parse::<usize>().ok().and_then(|index| choices.get(index));
            picked
                .map(|(value, _)| value.clone())
                .ok_or_else(|| refuse("choose one of the values offered"))
        }
        FieldKind::Choices(choices) => {
            let picked = |index: &str| index.parse::<usize>().ok().and_then(|index| choices.get(index));
            let values: Option<Vec<Value>> = text
                .split_whitespace()
                .map(|index| picked(index).map(|(value, _)| value.clone()))
                .collect();
            values
                .map(Value::Array)
                .ok_or_else(|| refuse("choose among the values offered"))
        }
    }
}

/// Refuses an integer that a double cannot hold exactly, instead of rounding it silently.
fn number(text: &str) -> Option<Value> {
    let text = text.trim();
    let number: Number = text.parse().ok()?;
    let is_rounded = number.is_f64() && !text.contains(['.', 'e', 'E']);
    (!is_rounded).then_some(Value::Number(number))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::form::fields;

    fn typed(property: Value, text: &str) -> Result<Option<Value>, Rejection> {
        value_of(&fields(&json!({"properties": {"it": property}}))[0], Some(text))
    }

    #[test]
    fn input_is_converted_to_the_type_of_the_schema() {
        for (property, text, value) in [
            (json!({"type": "string"}), " 12 ", json!(" 12 ")),
            (json!({"type": ["string", "null"]}), "null", json!("null")),
            (json!({"type": "integer"}), " 12 ", json!(12)),
            (json!({"type": "number"}), "-0.5e1", json!(-5.0)),
            (json!({"type": ["number", "null"]}), "null", json!(null)),
            (json!({"type": "boolean"}), "on", json!(true)),
            (json!({"type": "boolean"}), "false", json!(false)),
            (json!({"enum": ["s", 3, null]}), "0", json!("s")),
            (json!({"enum": ["s", 3, null]}), "2", json!(null)),
            (
                json!({"type": "array", "items": {"enum": ["s", "m"]}}),
                "1 0",
                json!(["m", "s"]),
            ),
        ] {
            assert_eq!(typed(property, text), Ok(Some(value)), "{text}");
        }
    }

    #[test]
    fn invalid_input_is_refused_and_not_repeated_in_the_error() {
        for (property, text) in [
            (json!({"type": "integer"}), "twelve"),
            (json!({"type": "integer"}), "+12"),
            (json!({"type": "integer"}), "0x1f"),
            (json!({"type": "number"}), "1,5"),
            (json!({"type": "number"}), "NaN"),
            (json!({"type": "number"}), "1e999"),
            (json!({"type": "integer"}), "123456789012345678901234567890"),
            (json!({"type": "boolean"}), "yes"),
            (json!({"enum": ["s", "m"]}), "2"),
            (json!({"enum": ["s", "m"]}), "m"),
        ] {
            match typed(property, text) {
                Err(Rejection::InvalidField { field, message }) => {
                    assert_eq!(field, "value.it");
                    assert!(!message.contains(text), "{message}");
                }
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn empty_input_gives_no_value() {
        for property in [
            json!({"type": "string"}),
            json!({"type": "integer"}),
            json!({"enum": [1]}),
            json!({}),
        ] {
            assert_eq!(typed(property, ""), Ok(None));
        }
        let schema = json!({"properties": {"it": {"type": ["string", "null"]}}, "required": ["it"]});
        assert_eq!(value_of(&fields(&schema)[0], None), Ok(Some(Value::Null)));
    }

    #[test]
    fn a_read_only_field_keeps_its_default() {
        let fixed = json!({"type": "string", "readOnly": true, "default": "v1.2"});
        assert_eq!(typed(fixed, "v9"), Ok(Some(json!("v1.2"))));
        assert_eq!(typed(json!({"readOnly": true}), "v9"), Ok(None));
    }
}
