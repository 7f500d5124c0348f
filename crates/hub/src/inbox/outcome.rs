//! The outcome of a message in words, for lists and events.

use countersign_core::question::{Ask, Question};
use countersign_core::{Content, Outcome, Payload, Resolution};
use countersign_protocol::a2h::Choice;
use serde_json::Value;

use super::item::redacted;

/// The labels of the chosen options, or the typed text. `None` for forms, which do not fit in a line, and for sensitive
/// messages.
pub fn answer_text(value: &Value, content: &Content) -> Option<String> {
    let options = match &content.payload {
        Payload::Ask(Ask {
            question: Question::Confirm { options, .. } | Question::Select { options, .. },
            ..
        }) => options,
        Payload::Ask(Ask {
            question: Question::Text | Question::Form { .. },
            ..
        })
        | Payload::Task(_)
        | Payload::Notify => &Vec::new(),
    };
    match redacted(value, content)? {
        Value::String(text) => Some(label(&text, options)),
        Value::Array(values) => {
            let labels: Vec<String> = values
                .iter()
                .filter_map(Value::as_str)
                .map(|text| label(text, options))
                .collect();
            Some(labels.join(", "))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

fn label(value: &str, options: &[Choice]) -> String {
    let option = options.iter().find(|option| option.value == value);
    option.map_or(value, |option| &option.label).to_owned()
}

const MAX_LINE_CHARS: usize = 1000;

/// The answer as text. Own words of a person are not replaced by a label, even if they equal a choice.
pub fn answered(resolution: &Resolution, content: &Content) -> Option<String> {
    match resolution.value.as_ref()? {
        Value::String(text) if resolution.edited => (!content.sensitive).then(|| text.clone()),
        value => answer_text(value, content),
    }
}

/// The outcome without its actor: `answered Approve`, `declined`.
pub fn describe(resolution: &Resolution, content: &Content) -> String {
    let answer = answered(resolution, content).map(|answer| match (answer.is_empty(), resolution.files.len()) {
        (true, 0) => "with an empty text".to_owned(),
        (true, count) => with_files(count),
        (false, _) => start_of(answer),
    });
    let verb = match (resolution.outcome, resolution.defaulted) {
        (Outcome::Expired, true) => "answered by its default",
        (Outcome::Expired, false) => "ended without an answer",
        (outcome, _) => outcome.as_str(),
    };
    match answer {
        Some(answer) => format!("{verb} {answer}"),
        None => verb.to_owned(),
    }
}

/// Cuts an answer that is too long for a line; the item's page shows all of it.
fn start_of(answer: String) -> String {
    match answer.char_indices().nth(MAX_LINE_CHARS) {
        Some((end, _)) => format!("{}…", &answer[..end]),
        None => answer,
    }
}

/// For an answer that has only files.
fn with_files(count: usize) -> String {
    if count == 1 {
        "with a file".to_owned()
    } else {
        format!("with {count} files")
    }
}
