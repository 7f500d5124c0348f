//! Errors of the rules, the hub and the search for people. They are made in English, for all surfaces and the log; a page
//! finds the phrase that a text was made from, and puts its values into the translation.

use countersign_core::vocabulary::Action;
use countersign_hub::problem::Problem;

use super::{catalogue, fill, say, t};
use crate::layout::formatting::in_units;
use crate::layout::look;

/// Places whose values are phrases as well.
const NESTED: [&str; 3] = ["outcome", "then", "fault"];
/// A place whose value is an answer. The labels that the hub gives a confirm are words of the page.
const ANSWER: &str = "answer";
const OWN_LABELS: [Action; 2] = [Action::Approve, Action::Deny];
/// A place whose value is a duration.
const DURATION: &str = "left";

/// Translates an error, which may hold values.
pub fn error_text(message: &str) -> String {
    let language = look::current().language;
    if let Some(text) = catalogue::translation(language, message) {
        return text.to_owned();
    }
    let Some((text, values)) = catalogue::translation_with_values(language, message) else {
        return message.to_owned();
    };
    let translated: Vec<(&str, String)> = values
        .into_iter()
        .map(|(name, value)| (name, value_text(name, value)))
        .collect();
    let values: Vec<(&str, &dyn std::fmt::Display)> = translated
        .iter()
        .map(|(name, value)| (*name, value as &dyn std::fmt::Display))
        .collect();
    fill(text, &values)
}

fn value_text(name: &str, value: &str) -> String {
    match name {
        DURATION => in_units(value),
        ANSWER if OWN_LABELS.map(Action::label).contains(&value) => t(value).to_owned(),
        _ if NESTED.contains(&name) => error_text(value),
        _ => value.to_owned(),
    }
}

/// A refusal of the hub, with the field that it is about. A person is named as on the pages.
pub fn problem_text(problem: &Problem) -> String {
    match problem {
        Problem::InvalidField { field, message } => {
            say!("{field}: {message}", field = t(field), message = error_text(message))
        }
        Problem::AlreadyTerminal { message, .. } => error_text(&message.replacen(", by human:", ", by ", 1)),
        other => error_text(&other.message()),
    }
}
