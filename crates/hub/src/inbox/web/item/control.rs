//! The fields of a form as inputs a browser knows.

use countersign_core::form::{Field, FieldKind};
use countersign_core::visible;
use serde_json::{Number, Value};

use super::faults::FormErrors;
use super::reading::{input_name, submitted_value};
use crate::inbox::web::form::FormFields;

/// Up to so many choices lie open; more are folded into a list.
const MAX_RADIOS: usize = 5;

pub struct Control {
    pub id: String,
    /// What it is sent under.
    pub name: String,
    pub label: String,
    pub description: Option<String>,
    /// What the author of the form demands of the answer.
    pub demand: String,
    pub required: bool,
    pub sensitive: bool,
    pub data_type: &'static str,
    pub shape: ControlShape,
    /// The agent's suggestion spelled out, where it holds characters that an input does not show.
    pub hidden_in_default: Option<String>,
    pub errors: Vec<String>,
    pub error_id: String,
}

pub enum ControlShape {
    Fixed(String),
    Line {
        kind: &'static str,
        example: &'static str,
        value: String,
    },
    Number {
        min: Option<Number>,
        max: Option<Number>,
        step: String,
        value: String,
    },
    Lines {
        value: String,
    },
    Radios(Vec<ControlOption>),
    /// Any number of them may be picked.
    Boxes(Vec<ControlOption>),
    List(Vec<ControlOption>),
}

pub struct ControlOption {
    pub value: String,
    pub label: String,
    pub chosen: bool,
}

/// `index` is the place of the field in the form: its name is the agent's and may hold what an id must not.
pub fn control_of(field: &Field, index: usize, sent: Option<&FormFields>, faults: &FormErrors) -> Control {
    let name = input_name(&field.name);
    let initial_value = initial_value(
        field,
        sent.map(|fields| submitted_value(field, fields).unwrap_or_default()),
    );
    Control {
        id: format!("field-{index}"),
        label: field.label.clone(),
        description: field.description.clone(),
        demand: demand(&field.kind),
        required: field.required,
        sensitive: field.sensitive,
        data_type: data_type(&field.kind),
        hidden_in_default: hidden_in_default(field),
        shape: shape(field, initial_value),
        errors: faults.of(&name),
        error_id: error_id(&field.name, index),
        name,
    }
}

/// The name itself where it is fit to be an id and no other message on the page has it.
fn error_id(name: &str, index: usize) -> String {
    let is_fit = name
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    let is_taken = matches!(name, "" | "value" | "typed" | "comment");
    if is_fit && !is_taken {
        format!("error-{name}")
    } else {
        format!("error-field-{index}")
    }
}

/// What the input holds: what was sent, else what the agent suggests. A secret is typed anew.
fn initial_value(field: &Field, sent: Option<String>) -> String {
    match (field.sensitive, sent) {
        (true, _) => String::new(),
        (false, Some(sent)) => sent,
        (false, None) => field
            .default
            .as_ref()
            .map(|default| suggested(field, default))
            .unwrap_or_default(),
    }
}

/// A default as it would be sent: a choice by its index, several with blanks between.
fn suggested(field: &Field, default: &Value) -> String {
    match &field.kind {
        FieldKind::Choice(choices) => index_of(choices, default).unwrap_or_default(),
        FieldKind::Choices(choices) => {
            let picked = default
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|value| index_of(choices, value));
            picked.collect::<Vec<_>>().join(" ")
        }
        FieldKind::Text { .. } | FieldKind::Number { .. } | FieldKind::Boolean => plain(default),
    }
}

fn index_of(choices: &[(Value, String)], value: &Value) -> Option<String> {
    choices
        .iter()
        .position(|(offered, _)| offered == value)
        .map(|index| index.to_string())
}

/// A text as it stands, nothing as nothing, anything else as JSON.
pub fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

fn hidden_in_default(field: &Field) -> Option<String> {
    let default = plain(field.default.as_ref().filter(|_| !field.sensitive)?);
    let spelled = visible::escape(&default);
    let ordinary = default.replace('\n', "\\n").replace('\t', "\\t");
    Some(spelled).filter(|spelled| *spelled != ordinary)
}

fn data_type(kind: &FieldKind) -> &'static str {
    match kind {
        FieldKind::Text { .. } => "text",
        FieldKind::Number { integer: true, .. } => "integer",
        FieldKind::Number { integer: false, .. } => "number",
        FieldKind::Boolean => "boolean",
        FieldKind::Choice(_) => "choice",
        FieldKind::Choices(_) => "choices",
    }
}

fn shape(field: &Field, value: String) -> ControlShape {
    if field.read_only {
        return ControlShape::Fixed(fixed(field));
    }
    match &field.kind {
        FieldKind::Choice(choices) => {
            let labels = choices
                .iter()
                .enumerate()
                .map(|(index, (_, label))| (index.to_string(), label.clone()));
            let picks = picks(field, labels, &value);
            if choices.len() <= MAX_RADIOS {
                ControlShape::Radios(picks)
            } else {
                ControlShape::List(picks)
            }
        }
        FieldKind::Choices(choices) => {
            let is_picked = |index: &str| value.split_whitespace().any(|picked| picked == index);
            let labels = choices
                .iter()
                .enumerate()
                .map(|(index, (_, label))| (index.to_string(), label.clone()));
            ControlShape::Boxes(
                labels
                    .map(|(value, label)| ControlOption {
                        chosen: is_picked(&value),
                        value,
                        label,
                    })
                    .collect(),
            )
        }
        FieldKind::Boolean => {
            let labels = [("true", "Yes"), ("false", "No")].map(|(value, label)| (value.to_owned(), label.to_owned()));
            ControlShape::List(picks(field, labels.into_iter(), &value))
        }
        // An input that hides what is typed has one line only.
        FieldKind::Text { multiline: true, .. } => ControlShape::Lines { value },
        FieldKind::Text { .. } | FieldKind::Number { .. } if field.sensitive => ControlShape::Line {
            kind: "password",
            example: "",
            value,
        },
        FieldKind::Text {
            multiline: false,
            format,
            ..
        } => {
            let (kind, example) = line(format.as_deref());
            ControlShape::Line { kind, example, value }
        }
        FieldKind::Number {
            integer,
            min,
            max,
            step,
        } => {
            let step = browser_step(*integer, min.as_ref(), step.as_ref());
            ControlShape::Number {
                min: min.clone(),
                max: max.clone(),
                step,
                value,
            }
        }
    }
}

/// Before one is picked nothing is, and what is not required may stay so.
fn picks(field: &Field, offered: impl Iterator<Item = (String, String)>, initial_value: &str) -> Vec<ControlOption> {
    let nothing = if field.required { "Choose…" } else { "No answer" };
    let nothing = (String::new(), nothing.to_owned());
    let all = std::iter::once(nothing).chain(offered);
    all.map(|(value, label)| ControlOption {
        chosen: value == initial_value,
        value,
        label,
    })
    .collect()
}

/// A wall clock without a zone is no answer to `date-time` and `time`, so browsers' own inputs for them do not fit.
fn line(format: Option<&str>) -> (&'static str, &'static str) {
    match format {
        Some("date") => ("date", ""),
        Some("email") => ("email", ""),
        Some("uri") => ("url", ""),
        Some("date-time") => ("text", "2026-11-16T14:30:00Z"),
        Some("time") => ("text", "14:30:00Z"),
        Some(_) | None => ("text", ""),
    }
}

/// Browsers count steps from the minimum, schemas from zero; where the two differ the browser is not to judge.
fn browser_step(integer: bool, min: Option<&Number>, step: Option<&Number>) -> String {
    let Some(step) = step.cloned().or_else(|| integer.then(|| Number::from(1))) else {
        return "any".to_owned();
    };
    let starts_on_a_step = match (min.and_then(Number::as_f64), step.as_f64()) {
        (Some(min), Some(step)) => (min / step).fract() == 0.0,
        (None, _) | (Some(_), None) => true,
    };
    if starts_on_a_step {
        step.to_string()
    } else {
        "any".to_owned()
    }
}

fn fixed(field: &Field) -> String {
    match &field.default {
        Some(_) if field.sensitive => "hidden".to_owned(),
        Some(value) => value_label(field, value),
        None => String::new(),
    }
}

/// A value in the words the form has for it.
pub fn value_label(field: &Field, value: &Value) -> String {
    match (&field.kind, value) {
        (FieldKind::Choice(choices), _) => label_of(choices, value),
        (FieldKind::Choices(choices), Value::Array(picked)) => picked
            .iter()
            .map(|value| label_of(choices, value))
            .collect::<Vec<_>>()
            .join(", "),
        (FieldKind::Boolean, Value::Bool(true)) => "Yes".to_owned(),
        (FieldKind::Boolean, Value::Bool(false)) => "No".to_owned(),
        (FieldKind::Boolean | FieldKind::Text { .. } | FieldKind::Number { .. } | FieldKind::Choices(_), _) => {
            plain(value)
        }
    }
}

fn label_of(choices: &[(Value, String)], value: &Value) -> String {
    let choice = choices.iter().find(|(offered, _)| offered == value);
    choice.map_or_else(|| plain(value), |(_, label)| label.clone())
}

fn demand(kind: &FieldKind) -> String {
    match kind {
        FieldKind::Text {
            format,
            min_length,
            max_length,
            pattern,
            ..
        } => {
            let length = match (min_length, max_length) {
                (None | Some(0), None) => None,
                (None | Some(0), Some(most)) => Some(format!("at most {most} characters")),
                (Some(1), None) => None,
                (Some(least), None) => Some(format!("at least {least} characters")),
                (Some(least), Some(most)) => Some(format!("{least} to {most} characters")),
            };
            let form = pattern.as_ref().map(|pattern| format!("in the form {pattern}"));
            let format = format.as_ref().map(|format| format!("as {format}"));
            [length, form, format]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(", ")
        }
        FieldKind::Number {
            integer,
            min,
            max,
            step,
        } => {
            let range = match (min, max) {
                (Some(min), Some(max)) => Some(format!("{min} to {max}")),
                (Some(min), None) => Some(format!("{min} or more")),
                (None, Some(max)) => Some(format!("{max} or less")),
                (None, None) => None,
            };
            let whole = integer.then(|| "a whole number".to_owned());
            let step = step.as_ref().map(|step| format!("a multiple of {step}"));
            [whole, range, step]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(", ")
        }
        FieldKind::Boolean | FieldKind::Choice(_) | FieldKind::Choices(_) => String::new(),
    }
}

#[cfg(test)]
mod tests;
