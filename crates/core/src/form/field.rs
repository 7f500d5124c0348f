//! The fields of a form, as a surface needs them to draw inputs.

use serde_json::{Number, Value};

use crate::schema;

/// A text field with at least this maximum length is multiline.
const LONG_TEXT_CHARS: u64 = 200;

#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    pub name: String,
    /// The schema's title, else the name.
    pub label: String,
    pub description: Option<String>,
    pub kind: FieldKind,
    pub required: bool,
    /// Masked input, never logged or shown again.
    pub sensitive: bool,
    pub default: Option<Value>,
    /// Shown and sent with its default; input is ignored.
    pub read_only: bool,
    /// `null` is also a valid answer.
    pub nullable: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum FieldKind {
    Text {
        multiline: bool,
        format: Option<String>,
        min_length: Option<u64>,
        max_length: Option<u64>,
        pattern: Option<String>,
    },
    /// `step` counts from zero, not from `min`.
    Number {
        integer: bool,
        min: Option<Number>,
        max: Option<Number>,
        step: Option<Number>,
    },
    Boolean,
    /// Values with labels. A choice is identified by its index, because two labels may be equal.
    Choice(Vec<(Value, String)>),
    /// Like `Choice`, with any number of selections.
    Choices(Vec<(Value, String)>),
}

/// The fields in the agent's order.
pub fn fields(schema: &Value) -> Vec<Field> {
    let Some(properties) = schema["properties"].as_object() else {
        return Vec::new();
    };
    let required: Vec<&str> = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    properties
        .iter()
        .map(|(name, property)| field(name, property, required.contains(&name.as_str())))
        .collect()
}

/// The name of the text field, if it is the only field of the form.
pub fn only_text_field(schema: &Value) -> Option<String> {
    let mut fields = fields(schema);
    let field = fields.pop().filter(|_| fields.is_empty())?;
    matches!(field.kind, FieldKind::Text { .. }).then_some(field.name)
}

fn field(name: &str, property: &Value, required: bool) -> Field {
    let text = |key: &str| {
        property[key]
            .as_str()
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
    };
    Field {
        name: name.to_owned(),
        label: text("title").unwrap_or_else(|| name.to_owned()),
        description: text("description"),
        kind: kind(property),
        required,
        sensitive: schema::is_sensitive(property),
        default: property.get("default").cloned(),
        read_only: property["readOnly"] == true,
        nullable: types(property).contains(&"null"),
    }
}

fn types(property: &Value) -> Vec<&str> {
    match &property["type"] {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// An enum takes precedence over types. With several types, text wins if present, because any value can be typed as
/// text; otherwise the first type.
fn kind(property: &Value) -> FieldKind {
    if let Some(values) = property["enum"].as_array() {
        return FieldKind::Choice(labelled(values, property["enumNames"].as_array()));
    }
    if let Some(values) = property["items"]["enum"].as_array() {
        return FieldKind::Choices(labelled(values, None));
    }
    if let Some(only) = property.get("const") {
        return FieldKind::Choice(labelled(std::slice::from_ref(only), None));
    }
    let types = types(property);
    let first = types.iter().find(|name| **name != "null");
    match first {
        _ if types.contains(&"string") || types.is_empty() => text(property),
        Some(&"boolean") => FieldKind::Boolean,
        Some(&"integer") => number(property, true),
        Some(_) => number(property, false),
        None => FieldKind::Choice(labelled(&[Value::Null], None)),
    }
}

fn labelled(values: &[Value], names: Option<&Vec<Value>>) -> Vec<(Value, String)> {
    let names = names.filter(|names| names.len() == values.len());
    let label = |index: usize, value: &Value| {
        let name = names
            .and_then(|names| names[index].as_str())
            .filter(|name| !name.is_empty());
        name.map_or_else(|| plain(value), str::to_owned)
    };
    values
        .iter()
        .enumerate()
        .map(|(index, value)| (value.clone(), label(index, value)))
        .collect()
}

/// Displays a value: a string as is, any other value as JSON.
pub fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn text(property: &Value) -> FieldKind {
    let word = |key: &str| property[key].as_str().map(str::to_owned);
    let max_length = property["maxLength"].as_u64();
    let is_prose = property["contentMediaType"]
        .as_str()
        .is_some_and(|media| media.starts_with("text/"));
    let has_lines = property["default"]
        .as_str()
        .is_some_and(|default| default.contains('\n'));
    let is_long = max_length.is_some_and(|max| max >= LONG_TEXT_CHARS);
    FieldKind::Text {
        multiline: !schema::is_sensitive(property)
            && property["format"].is_null()
            && property["pattern"].is_null()
            && (is_prose || has_lines || is_long),
        format: word("format"),
        min_length: property["minLength"].as_u64(),
        max_length,
        pattern: word("pattern"),
    }
}

fn number(property: &Value, integer: bool) -> FieldKind {
    let bound = |key: &str| property[key].as_number().cloned();
    FieldKind::Number {
        integer,
        min: bound("minimum"),
        max: bound("maximum"),
        step: bound("multipleOf"),
    }
}

impl Field {
    /// The index of the choice displayed as `text`, for surfaces where people type it. `None` if two choices look
    /// alike, because the text is ambiguous.
    pub fn choice_index(&self, text: &str) -> Option<usize> {
        let FieldKind::Choice(choices) = &self.kind else {
            return None;
        };
        let mut alike = choices
            .iter()
            .enumerate()
            .filter(|(_, (value, _))| plain(value) == text);
        match (alike.next(), alike.next()) {
            (Some((index, _)), None) => Some(index),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn only(property: Value) -> Field {
        let schema = json!({"properties": {"it": property}});
        schema::check(&schema).expect("a flat schema");
        fields(&schema).remove(0)
    }

    #[test]
    fn fields_keep_the_order_of_the_schema() {
        let schema =
            r#"{"properties": {"when": {}, "amount": {}, "zone": {}, "by": {}}, "required": ["zone", "amount"]}"#;
        let schema: Value = serde_json::from_str(schema).expect("JSON");
        let order: Vec<(String, bool)> = fields(&schema)
            .into_iter()
            .map(|field| (field.name, field.required))
            .collect();
        let expected = [("when", false), ("amount", true), ("zone", true), ("by", false)];
        assert_eq!(order, expected.map(|(name, required)| (name.to_owned(), required)));
    }

    #[test]
    fn a_field_keeps_its_schema_attributes() {
        let field = only(json!({
            "type": "string", "title": "Your PIN", "description": "Four digits", "default": "0000",
            "minLength": 4, "maxLength": 4, "pattern": "^[0-9]+$", "x-a2h-sensitive": true, "readOnly": true,
        }));
        assert_eq!(
            (field.label.as_str(), field.description.as_deref()),
            ("Your PIN", Some("Four digits"))
        );
        assert_eq!(
            (field.sensitive, field.read_only, field.default),
            (true, true, Some(json!("0000")))
        );
        let kind = FieldKind::Text {
            multiline: false,
            format: None,
            min_length: Some(4),
            max_length: Some(4),
            pattern: Some("^[0-9]+$".to_owned()),
        };
        assert_eq!(field.kind, kind);
        assert_eq!(only(json!({"title": ""})).label, "it");
    }

    #[test]
    fn the_kind_is_the_narrowest_that_accepts_every_answer() {
        let word = |property| match only(property).kind {
            FieldKind::Text { .. } => "text",
            FieldKind::Number { integer: true, .. } => "integer",
            FieldKind::Number { integer: false, .. } => "number",
            FieldKind::Boolean => "boolean",
            FieldKind::Choice(_) => "choice",
            FieldKind::Choices(_) => "choices",
        };
        for (property, expected) in [
            (json!({}), "text"),
            (json!({"type": ["integer", "string"]}), "text"),
            (json!({"type": ["null", "integer"]}), "integer"),
            (json!({"type": "number"}), "number"),
            (json!({"type": "boolean"}), "boolean"),
            (json!({"type": "string", "enum": ["a"]}), "choice"),
            (json!({"const": 5}), "choice"),
            (json!({"type": "null"}), "choice"),
        ] {
            assert_eq!(word(property.clone()), expected, "{property}");
        }
    }

    #[test]
    fn choice_labels_are_used_only_when_there_is_one_for_each() {
        let kind = |property| only(property).kind;
        let choices = vec![(json!("s"), "Small".to_owned()), (json!(3), "3".to_owned())];
        assert_eq!(
            kind(json!({"enum": ["s", 3], "enumNames": ["Small", ""]})),
            FieldKind::Choice(choices)
        );
        let plain = vec![(json!("s"), "s".to_owned()), (json!(3), "3".to_owned())];
        assert_eq!(
            kind(json!({"enum": ["s", 3], "enumNames": ["Small"]})),
            FieldKind::Choice(plain)
        );
    }

    #[test]
    fn a_typed_choice_is_found_unless_it_is_ambiguous() {
        let field = only(json!({"enum": ["eu", 3, "4", 4]}));
        assert_eq!(field.choice_index("eu"), Some(0));
        assert_eq!(field.choice_index("3"), Some(1));
        assert_eq!(field.choice_index("4"), None, "ambiguous");
        assert_eq!(field.choice_index("us"), None);
    }

    #[test]
    fn long_and_prose_texts_are_multiline() {
        let multiline = |property| matches!(only(property).kind, FieldKind::Text { multiline: true, .. });
        assert!(multiline(json!({"type": "string", "maxLength": 2000})));
        assert!(multiline(
            json!({"type": "string", "contentMediaType": "text/markdown"})
        ));
        assert!(multiline(json!({"type": "string", "default": "two\nlines"})));
        assert!(!multiline(json!({"type": "string"})));
        assert!(!multiline(
            json!({"type": "string", "maxLength": 2000, "x-a2h-sensitive": true})
        ));
    }
}
