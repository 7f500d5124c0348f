//! The outcome of a message in words, for lists and events. The API has them in English; the pages pass the translation
//! of a phrase.

use countersign_protocol::a2h::Choice;
use serde_json::Value;

use crate::question::{Ask, Question};
use crate::schema::sensitive_fields;
use crate::vocabulary::{Action, Ending, Tone};
use crate::{Content, Outcome, Payload, Resolution};

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

/// Translates an English phrase.
pub type Wording = fn(&'static str) -> &'static str;

pub const ENGLISH: Wording = |phrase| phrase;

/// The answer as text. Own words of a person are not replaced by a label, even if they equal a choice.
pub fn answered(resolution: &Resolution, content: &Content) -> Option<String> {
    match resolution.value.as_ref()? {
        Value::String(text) if resolution.edited => (!content.sensitive).then(|| text.clone()),
        value => answer_text(value, content),
    }
}

/// The outcome without its actor: `Approved`, `Answered: Blue`, `Skipped`.
pub fn describe(resolution: &Resolution, content: &Content, wording: Wording) -> String {
    let label = wording(ending(resolution, content).label);
    match detail(resolution, content, wording) {
        Some(detail) => format!("{label}: {}", start_of(detail)),
        None => label.to_owned(),
    }
}

/// How the message ended, as a word and a colour.
pub fn ending(resolution: &Resolution, content: &Content) -> Ending {
    Ending::of_resolution(resolution, content)
}

/// The words after the ending: the answer, unless the ending says it already.
pub fn detail(resolution: &Resolution, content: &Content, wording: Wording) -> Option<String> {
    let ending = ending(resolution, content);
    let answer = answered(resolution, content);
    match (resolution.outcome, resolution.defaulted) {
        (Outcome::Expired, true) => Some(match answer {
            Some(answer) => {
                let answer = worded(answer, content, wording);
                wording("answered “{answer}” by default").replace("{answer}", &answer)
            }
            None => wording("answered with its default").to_owned(),
        }),
        (Outcome::Expired, false) => Some(wording("no answer in time").to_owned()),
        _ if ending.tone != Tone::Plain => answer.filter(|answer| is_own_label(resolution, answer)),
        _ => Some(match (answer.as_deref(), resolution.files.len()) {
            (Some(""), 0) => wording("an empty text").to_owned(),
            (Some(""), 1) => wording("a file").to_owned(),
            (Some(""), count) => wording("{count} files").replace("{count}", &count.to_string()),
            _ => return answer,
        }),
    }
}

/// True if the chosen button had another label than the one of the vocabulary, such as `Ship it`.
fn is_own_label(resolution: &Resolution, answer: &str) -> bool {
    let value = resolution.value.as_ref().and_then(Value::as_str).unwrap_or_default();
    !answer.eq_ignore_ascii_case(value)
}

/// The labels that the hub gives a confirm are words of the page.
fn worded(answer: String, content: &Content, wording: Wording) -> String {
    let is_confirm = matches!(
        &content.payload,
        Payload::Ask(Ask {
            question: Question::Confirm { .. },
            ..
        })
    );
    let mut labels = [Action::Approve, Action::Deny].map(Action::label).into_iter();
    match labels.find(|label| is_confirm && *label == answer) {
        Some(label) => wording(label).to_owned(),
        None => answer,
    }
}

/// The default that a message answers with at its expiry: its text, or `None` inside if it does not fit in a line. A
/// message answers by itself only if its asker declared a default.
pub fn default_answer(content: &Content, wording: Wording) -> Option<Option<String>> {
    let default = match &content.payload {
        Payload::Ask(ask) => ask.default_on_expire.as_ref().filter(|default| !default.is_null()),
        Payload::Task(_) | Payload::Notify => None,
    };
    default.map(|value| answer_text(value, content).map(|answer| worded(answer, content, wording)))
}

/// What happens at the expiry: `ends without an answer`.
pub fn at_expiry(content: &Content, wording: Wording) -> String {
    match default_answer(content, wording) {
        None => wording("ends without an answer").to_owned(),
        Some(Some(answer)) => wording("will answer “{answer}” automatically").replace("{answer}", &answer),
        Some(None) => wording("will answer with its default automatically").to_owned(),
    }
}

/// Cuts an answer that is too long for a line; the item's page shows all of it.
pub fn start_of(answer: String) -> String {
    match answer.char_indices().nth(MAX_LINE_CHARS) {
        Some((end, _)) => format!("{}…", &answer[..end]),
        None => answer,
    }
}

/// Returns the value without its sensitive parts. Sensitive answers go to the agent only and are never shown again.
pub fn redacted(value: &Value, content: &Content) -> Option<Value> {
    if content.sensitive {
        return None;
    }
    let mut redacted = value.clone();
    if let (
        Payload::Ask(Ask {
            question: Question::Form { schema },
            ..
        }),
        Value::Object(fields),
    ) = (&content.payload, &mut redacted)
    {
        for name in sensitive_fields(schema) {
            fields.shift_remove(name);
        }
    }
    Some(redacted)
}
