//! The reply to an agent in a terminal.

use serde::Serialize;
use serde_json::Value;

use crate::form;
use crate::message::{Content, FileNote, Outcome, Payload, Resolution};
use crate::question::Question;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CueReply {
    /// Labels, `Label: value` lines, or free text. Empty for an outcome without an answer.
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileNote>,
}

pub fn reply(content: &Content, resolution: &Resolution) -> CueReply {
    let text = match (&content.payload, resolution.outcome, &resolution.value) {
        // Free text stays as typed, even if it equals the value of an option.
        (Payload::Ask(_), Outcome::Answered, Some(value)) if resolution.edited => form::plain(value),
        (Payload::Ask(ask), Outcome::Answered | Outcome::Expired, Some(value)) => answer(&ask.question, value),
        _ => String::new(),
    };
    CueReply {
        text,
        comment: resolution.comment.clone(),
        files: resolution.files.clone(),
    }
}

fn answer(question: &Question, value: &Value) -> String {
    match (question, value) {
        (Question::Confirm { options, .. } | Question::Select { options, .. }, value) => {
            let label = |value: &Value| {
                let option = options.iter().find(|option| *value == option.value.as_str());
                option.map_or_else(|| form::plain(value), |option| option.label.clone())
            };
            match value {
                Value::Array(picked) => picked.iter().map(label).collect::<Vec<_>>().join("\n"),
                one => label(one),
            }
        }
        (Question::Form { schema }, Value::Object(fields)) => {
            let names = schema["properties"]
                .as_object()
                .into_iter()
                .flat_map(|properties| properties.keys());
            let line = |name: &String| {
                fields
                    .get(name)
                    .map(|value| format!("{name}: {}", indented(&listed(value))))
            };
            names.filter_map(line).collect::<Vec<_>>().join("\n")
        }
        (Question::Form { .. } | Question::Text, typed) => form::plain(typed),
    }
}

fn listed(value: &Value) -> String {
    match value {
        Value::Array(picked) => picked.iter().map(form::plain).collect::<Vec<_>>().join(", "),
        one => form::plain(one),
    }
}

/// Indents further lines of a value, so that they cannot look like the next field.
fn indented(value: &str) -> String {
    value.replace('\n', "\n  ")
}
