//! The outcome of a message in words, for lists and events.

use countersign_core::question::{Ask, Question};
use countersign_core::{Content, Matter, Outcome, Resolution};
use countersign_protocol::a2h::Choice;
use serde_json::Value;

use super::item::shown;

/// The labels of what was chosen, or the text that was typed. Nothing for forms, which do not fit in a line, and for what
/// is sensitive.
pub fn answer_words(value: &Value, content: &Content) -> Option<String> {
    let options = match &content.matter {
        Matter::Ask(Ask {
            question: Question::Confirm { options, .. } | Question::Select { options, .. },
            ..
        }) => options,
        Matter::Ask(Ask {
            question: Question::Text | Question::Form { .. },
            ..
        })
        | Matter::Task(_)
        | Matter::Notify => &Vec::new(),
    };
    match shown(value, content)? {
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

const LONGEST_IN_A_LINE: usize = 1000;

/// What was answered. Words of a person's own are no choice, even where they read like one.
pub fn answered(resolution: &Resolution, content: &Content) -> Option<String> {
    match resolution.value.as_ref()? {
        Value::String(text) if resolution.edited => (!content.sensitive).then(|| text.clone()),
        value => answer_words(value, content),
    }
}

/// What was decided, without who: `answered Approve`, `declined`.
pub fn in_words(resolution: &Resolution, content: &Content) -> String {
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

/// What is longer does not belong into a line, and the page of the item has all of it.
fn start_of(answer: String) -> String {
    match answer.char_indices().nth(LONGEST_IN_A_LINE) {
        Some((end, _)) => format!("{}…", &answer[..end]),
        None => answer,
    }
}

/// Where nothing else was said.
fn with_files(count: usize) -> String {
    if count == 1 {
        "with a file".to_owned()
    } else {
        format!("with {count} files")
    }
}
