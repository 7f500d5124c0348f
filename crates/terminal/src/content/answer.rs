//! Multi-part answers, formatted with the labels of the question.

use countersign_client::screen::escape;
use countersign_core::form::{Field, FieldKind, fields};
use countersign_protocol::api::inbox::{Choices, ItemQuestion};
use serde_json::{Map, Value};

use super::{Piece, Tone, option_label, own_piece, pretty, quoted};

pub fn answer(question: Option<&ItemQuestion>, value: &Value) -> Vec<Piece> {
    match (question, value) {
        (Some(ItemQuestion::Confirm(choices) | ItemQuestion::Select(choices)), Value::Array(values)) => values
            .iter()
            .map(|value| own_piece(Tone::Plain, picked(choices, &plain(value))))
            .collect(),
        (Some(ItemQuestion::Form { schema }), Value::Object(answers)) => filled_in(schema, answers),
        (_, Value::Array(_) | Value::Object(_)) => quoted(&pretty(value)),
        // Single values are part of the outcome line.
        (_, Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => Vec::new(),
    }
}

fn picked(choices: &Choices, value: &str) -> String {
    let option = choices.options.iter().find(|option| option.value == value);
    option.map_or_else(|| escape(value), |option| option_label(&option.label, &option.value))
}

/// The fields in schema order, then any other values.
fn filled_in(schema: &Value, answers: &Map<String, Value>) -> Vec<Piece> {
    let fields = fields(schema);
    let known = fields
        .iter()
        .filter_map(|field| Some((field.label.as_str(), entered(field, answers.get(&field.name)?))));
    let is_known = |name: &String| fields.iter().any(|field| field.name == *name);
    let others = answers
        .iter()
        .filter(|(name, _)| !is_known(name))
        .map(|(name, value)| (name.as_str(), plain(value)));
    known
        .chain(others)
        .flat_map(|(label, text)| quoted(&format!("{label}: {text}")))
        .collect()
}

fn entered(field: &Field, value: &Value) -> String {
    let label = match (&field.kind, value) {
        (FieldKind::Choice(choices), _) => choices
            .iter()
            .find(|(choice, _)| choice == value)
            .map(|(_, label)| label.clone()),
        (FieldKind::Choices(_), Value::Array(picked)) => Some(picked.iter().map(plain).collect::<Vec<_>>().join(", ")),
        (FieldKind::Boolean, Value::Bool(yes)) => Some(if *yes { "yes" } else { "no" }.to_owned()),
        (FieldKind::Boolean | FieldKind::Choices(_) | FieldKind::Text { .. } | FieldKind::Number { .. }, _) => None,
    };
    label.unwrap_or_else(|| plain(value))
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn texts(question: &Value, value: &Value) -> Vec<String> {
        let question: ItemQuestion = serde_json::from_value(question.clone()).unwrap();
        answer(Some(&question), value)
            .into_iter()
            .map(|piece| piece.text)
            .collect()
    }

    #[test]
    fn several_picks_are_shown_by_their_labels() {
        let options = json!([{"value": "eu", "label": "Europe"}, {"value": "us", "label": "US"}]);
        let question = json!({"kind": "select", "options": options, "many": true});
        assert_eq!(
            texts(&question, &json!(["us", "eu", "mars\u{1b}"])),
            ["US", "Europe (eu)", "mars\\u{1b}"]
        );
        assert!(texts(&question, &json!("eu")).is_empty());
    }

    #[test]
    fn a_form_is_shown_field_by_field_in_schema_order() {
        let schema = r#"{"properties": {"when": {"title": "Day"}, "sure": {"type": "boolean"}, "by": {"enum": ["a", 3]}, "no": {}}}"#;
        let schema: Value = serde_json::from_str(schema).unwrap();
        let form = json!({"kind": "form", "schema": schema});
        let value = json!({"extra": [1], "by": 3, "sure": true, "when": "one\ntwo\u{202e}"});
        assert_eq!(
            texts(&form, &value),
            ["Day: one", "two\\u{202e}", "sure: yes", "by: 3", "extra: [1]"]
        );
    }
}
