//! Forms: the fields of a flat schema, and an answer read from JSON or from single fields.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, Result, bail};
use countersign_client::item::ClientItem;
use countersign_client::screen::quote;
use countersign_core::form::{self, FieldKind};
use countersign_protocol::api::inbox::ItemQuestion;
use serde_json::{Map, Value, json};

use crate::args::FieldArg;

/// Above the hub's limit; a file given by mistake is not read completely.
const MAX_ANSWER_BYTES: u64 = 1024 * 1024;

/// The accepted input: the listed values, else the type.
pub fn kind_label(field: &form::Field) -> String {
    let text = match &field.kind {
        FieldKind::Text {
            format: Some(format), ..
        } => format!("text, {format}"),
        FieldKind::Text { format: None, .. } => "text".to_owned(),
        FieldKind::Number { integer: true, .. } => "integer".to_owned(),
        FieldKind::Number { integer: false, .. } => "number".to_owned(),
        FieldKind::Boolean => "true or false".to_owned(),
        FieldKind::Choice(choices) => choices
            .iter()
            .map(|(value, _)| form::plain(value))
            .collect::<Vec<_>>()
            .join(" | "),
        FieldKind::Choices(choices) => {
            let offered = choices
                .iter()
                .map(|(value, _)| form::plain(value))
                .collect::<Vec<_>>()
                .join(" | ");
            format!("any of, with commas between: {offered}")
        }
    };
    let null = if field.nullable && !matches!(field.kind, FieldKind::Choice(_)) {
        " or null"
    } else {
        ""
    };
    text + null
}

pub fn from_fields(schema: &Value, typed: &[FieldArg]) -> Result<Value> {
    let fields = form::fields(schema);
    let mut answer = Map::new();
    for FieldArg { name, value } in typed {
        let Some(field) = fields.iter().find(|field| field.name == *name) else {
            let known: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
            bail!(
                "the form has no field \"{name}\"; its fields are {} (invalid_field)",
                known.join(", ")
            );
        };
        let Some(value) = read(field, value) else {
            bail!("the field \"{name}\" wants {} (invalid_field)", kind_label(field));
        };
        if answer.insert(name.clone(), value).is_some() {
            let several = match field.kind {
                FieldKind::Choices(_) => ": put several into one, with commas between",
                FieldKind::Text { .. } | FieldKind::Number { .. } | FieldKind::Boolean | FieldKind::Choice(_) => "",
            };
            bail!("the field \"{name}\" is given twice{several} (invalid_field)");
        }
    }
    Ok(Value::Object(answer))
}

/// The full validation is the hub's. A named field counts as given, even with an empty text.
fn read(field: &form::Field, typed: &str) -> Option<Value> {
    match &field.kind {
        FieldKind::Text { .. } if typed.is_empty() => Some("".into()),
        FieldKind::Choice(_) => {
            let index = field.choice_index(typed)?;
            form::value_of(field, Some(&index.to_string())).ok().flatten()
        }
        FieldKind::Choices(choices) => {
            let index = |word: &str| choices.iter().position(|(value, _)| form::plain(value) == word.trim());
            let picked: Option<Vec<String>> = typed
                .split(',')
                .map(|word| index(word).map(|index| index.to_string()))
                .collect();
            form::value_of(field, Some(&picked?.join(" "))).ok().flatten()
        }
        FieldKind::Text { .. } | FieldKind::Number { .. } | FieldKind::Boolean => {
            form::value_of(field, Some(typed)).ok().flatten()
        }
    }
}

/// The filled-in fields, one per line; empty for other kinds of answers.
pub fn filled_in(item: &ClientItem, value: &Value) -> String {
    let (Some(ItemQuestion::Form { schema }), Value::Object(answer)) = (&item.question, value) else {
        return String::new();
    };
    let fields = form::fields(schema);
    let filled = fields
        .iter()
        .filter_map(|field| Some((field, answer.get(&field.name)?)));
    filled
        .map(|(field, value)| quote(&field_line(field, value, item.sensitive)))
        .collect()
}

fn field_line(field: &form::Field, value: &Value, is_secret: bool) -> String {
    let value = match value {
        _ if is_secret || field.sensitive => "(hidden)".to_owned(),
        Value::Array(picked) => picked.iter().map(form::plain).collect::<Vec<_>>().join(", "),
        one => form::plain(one),
    };
    format!("{}: {}", field.name, value.replace('\n', "\n  "))
}

/// The text itself, or standard input for `-`, without its final line break.
pub fn read_free_text(typed: &str) -> Result<String> {
    match typed {
        "-" => {
            let text = read_text(io::stdin().lock()).context("standard input")?;
            Ok(text
                .strip_suffix('\n')
                .map_or(text.as_str(), |line| line.strip_suffix('\r').unwrap_or(line))
                .to_owned())
        }
        _ => Ok(typed.to_owned()),
    }
}

/// The form whose one text field has this text.
pub fn with_only_text(schema: &Value, text: Value) -> Value {
    match form::only_text_field(schema) {
        Some(name) => json!({ name: text }),
        None => text,
    }
}

/// The whole form as JSON; a form with one text field takes the text alone as well.
pub fn read_answer(schema: &Value, typed: &str) -> Result<Value> {
    let Some(name) = form::only_text_field(schema) else {
        return read_object(typed);
    };
    if typed.strip_prefix('@').is_some_and(|path| Path::new(path).is_file()) {
        return read_object(typed);
    }
    let text = read_free_text(typed)?;
    match serde_json::from_str(&text) {
        Ok(Value::Object(object)) if object.len() == 1 && object.contains_key(&name) => Ok(Value::Object(object)),
        Ok(_) | Err(_) => Ok(json!({ name: text })),
    }
}

/// A JSON object given directly, from `@FILE`, or from standard input for `-`.
pub fn read_object(typed: &str) -> Result<Value> {
    let text = match (typed, typed.strip_prefix('@')) {
        ("-", _) => read_text(io::stdin().lock()).context("standard input")?,
        (_, Some(path)) => File::open(path)
            .map_err(Into::into)
            .and_then(read_text)
            .with_context(|| path.to_owned())?,
        _ => typed.to_owned(),
    };
    // The error does not repeat the text, which may be sensitive.
    match serde_json::from_str(&text) {
        Ok(answer @ Value::Object(_)) => Ok(answer),
        Ok(_) => bail!("a form is answered with a JSON object, or with --field NAME=VALUE (invalid_field)"),
        Err(error) => {
            bail!("a form is answered with a JSON object, or with --field NAME=VALUE: {error} (invalid_field)")
        }
    }
}

fn read_text(input: impl Read) -> Result<String> {
    let mut text = String::new();
    input.take(MAX_ANSWER_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_ANSWER_BYTES {
        bail!("longer than {MAX_ANSWER_BYTES} bytes");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object",
            "required": ["reason"],
            "properties": {
                "reason": {"type": "string", "description": "Why?"},
                "count": {"type": "integer"},
                "force": {"type": "boolean"},
                "level": {"enum": ["low", 3]},
                "ratio": {"type": ["number", "null"]},
                "pin": {"type": "string", "x-ma2h-sensitive": true},
            },
        })
    }

    fn answer(fields: &[(&str, &str)]) -> Result<Value> {
        let field = |(name, value): &(&str, &str)| FieldArg {
            name: (*name).to_owned(),
            value: (*value).to_owned(),
        };
        from_fields(&schema(), &fields.iter().map(field).collect::<Vec<_>>())
    }

    #[test]
    fn fields_take_the_type_the_schema_wants() {
        let fields = [
            ("reason", "12"),
            ("count", "12"),
            ("force", "true"),
            ("level", "3"),
            ("ratio", "null"),
            ("pin", ""),
        ];
        let expected = json!({"reason": "12", "count": 12, "force": true, "level": 3, "ratio": null, "pin": ""});
        assert_eq!(answer(&fields).unwrap(), expected);
    }

    #[test]
    fn a_wrong_value_is_refused_with_the_accepted_ones() {
        let error = answer(&[("count", "many")]).unwrap_err().to_string();
        assert_eq!(error, "the field \"count\" wants integer (invalid_field)");
        let error = answer(&[("raeson", "typo")]).unwrap_err().to_string();
        assert!(error.contains("reason") && error.contains("raeson"));
        assert!(answer(&[("reason", "a"), ("reason", "b")]).is_err());
        assert!(answer(&[("force", "yes")]).is_err());
        assert!(answer(&[("level", "0")]).is_err(), "a choice is typed as it reads");
        let error = answer(&[("level", "high")]).unwrap_err().to_string();
        assert_eq!(error, "the field \"level\" wants low | 3 (invalid_field)");
    }

    #[test]
    fn several_picks_of_one_field_are_one_value() {
        let schema = json!({"properties": {"Zones": {"type": "array", "items": {"enum": ["eu", "us"]}}}});
        let zone = |value: &str| FieldArg {
            name: "Zones".to_owned(),
            value: value.to_owned(),
        };
        assert_eq!(
            from_fields(&schema, &[zone("us, eu")]).unwrap(),
            json!({"Zones": ["us", "eu"]})
        );
        let error = from_fields(&schema, &[zone("us"), zone("eu")]).unwrap_err().to_string();
        assert!(error.contains("with commas between"), "{error}");
    }

    #[test]
    fn only_an_object_answers_a_form() {
        assert_eq!(read_object(r#"{"reason":"x"}"#).unwrap(), json!({"reason": "x"}));
        for typed in ["[1]", "yes", "", "\"text\"", "@/nonexistent/file"] {
            assert!(read_object(typed).is_err(), "{typed}");
        }
        let error = read_object("{\"pin\": hunter2}").unwrap_err().to_string();
        assert!(!error.contains("hunter2"), "{error}");
    }
}
