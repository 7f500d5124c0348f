//! Forms: the fields a flat schema asks for, and an answer read from JSON or from single fields.

use std::fs::File;
use std::io::{self, Read};

use anyhow::{Context, Result, bail};
use serde_json::{Map, Number, Value};

use crate::args::Field;

/// More than a hub takes; a file given by mistake is not read to its end.
const MAX_ANSWER_BYTES: u64 = 1024 * 1024;

/// One field of a form.
pub struct Property<'a> {
    pub name: &'a str,
    pub required: bool,
    pub sensitive: bool,
    schema: &'a Value,
}

pub fn properties(schema: &Value) -> impl Iterator<Item = Property<'_>> {
    let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    let properties = schema["properties"].as_object().into_iter().flatten();
    properties.map(move |(name, schema)| Property {
        name,
        required: required.iter().any(|entry| entry == name),
        sensitive: ["x-a2h-sensitive", "x-ahcp-sensitive", "x-ma2h-sensitive"].iter().any(|key| schema[key] == true),
        schema,
    })
}

impl Property<'_> {
    fn types(&self) -> Vec<&str> {
        match &self.schema["type"] {
            Value::String(name) => vec![name],
            Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        }
    }

    fn choices(&self) -> &[Value] {
        self.schema["enum"].as_array().map(Vec::as_slice).unwrap_or_default()
    }

    /// What may be filled in: the listed values, else the type.
    pub fn kind_words(&self) -> String {
        match (self.choices(), self.types()) {
            ([], types) if types.is_empty() => "text".to_owned(),
            ([], types) => types.join(" or "),
            (choices, _) => choices.iter().map(plain).collect::<Vec<_>>().join(" | "),
        }
    }

    pub fn about(&self) -> Option<&str> {
        self.schema["description"].as_str().or_else(|| self.schema["title"].as_str())
    }

    /// The typed text as the value the schema asks for; whether it fits in full is the hub's decision.
    fn read(&self, text: &str) -> Option<Value> {
        if let Some(choice) = self.choices().iter().find(|choice| plain(choice) == text) {
            return Some(choice.clone());
        }
        match self.types().as_slice() {
            [] => Some(text.into()),
            types => types.iter().find_map(|name| read_as(name, text)),
        }
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn read_as(type_name: &str, text: &str) -> Option<Value> {
    match type_name {
        "boolean" => text.parse::<bool>().ok().map(Value::from),
        "number" | "integer" => text.parse::<Number>().ok().map(Value::Number),
        "null" => (text == "null").then_some(Value::Null),
        _ => Some(text.into()),
    }
}

pub fn from_fields(schema: &Value, fields: &[Field]) -> Result<Value> {
    let mut answer = Map::new();
    for Field { name, value } in fields {
        let Some(property) = properties(schema).find(|property| property.name == name) else {
            let known: Vec<&str> = properties(schema).map(|property| property.name).collect();
            bail!("the form has no field \"{name}\", but {} (invalid_field)", known.join(", "));
        };
        let Some(value) = property.read(value) else {
            bail!("the field \"{name}\" wants {} (invalid_field)", property.kind_words());
        };
        if answer.insert(name.clone(), value).is_some() {
            bail!("the field \"{name}\" is given twice");
        }
    }
    Ok(Value::Object(answer))
}

/// A JSON object as it stands, from `@FILE`, or from standard input for `-`.
pub fn read_object(typed: &str) -> Result<Value> {
    let text = match (typed, typed.strip_prefix('@')) {
        ("-", _) => read_text(io::stdin().lock()).context("standard input")?,
        (_, Some(path)) => File::open(path).map_err(Into::into).and_then(read_text).with_context(|| path.to_owned())?,
        _ => typed.to_owned(),
    };
    // The text is not repeated in the error: it may hold what must not be shown.
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
    use serde_json::json;

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
        let field = |(name, value): &(&str, &str)| Field { name: (*name).to_owned(), value: (*value).to_owned() };
        from_fields(&schema(), &fields.iter().map(field).collect::<Vec<_>>())
    }

    #[test]
    fn fields_take_the_type_the_schema_wants() {
        let fields =
            [("reason", "12"), ("count", "12"), ("force", "true"), ("level", "3"), ("ratio", "null"), ("pin", "")];
        let expected = json!({"reason": "12", "count": 12, "force": true, "level": 3, "ratio": null, "pin": ""});
        assert_eq!(answer(&fields).unwrap(), expected);
    }

    #[test]
    fn what_does_not_fit_is_refused_with_what_would() {
        let error = answer(&[("count", "many")]).unwrap_err().to_string();
        assert_eq!(error, "the field \"count\" wants integer (invalid_field)");
        let error = answer(&[("raeson", "typo")]).unwrap_err().to_string();
        assert!(error.contains("reason") && error.contains("raeson"));
        assert!(answer(&[("reason", "a"), ("reason", "b")]).is_err());
        assert!(answer(&[("force", "yes")]).is_err());
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

    #[test]
    fn required_and_sensitive_fields_are_known() {
        let schema = schema();
        let marks = |name: &str| {
            let property = properties(&schema).find(|property| property.name == name).unwrap();
            (property.required, property.sensitive)
        };
        assert_eq!(marks("reason"), (true, false));
        assert_eq!(marks("pin"), (false, true));
    }
}
