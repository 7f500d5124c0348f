//! The fields of a form as HTML inputs.

mod demand;

use countersign_core::form::{Field, FieldKind};
use countersign_protocol::escape;
use serde_json::{Number, Value};

use self::demand::{demand, form_of};
use super::form_errors::FormErrors;
use super::local_time::{ZonedFormat, zone_name};
use super::parse::{input_name, submitted_value};
use crate::language::t;
use crate::layout::form::FormFields;

/// Up to this many choices are radio buttons; more become a drop-down list.
const MAX_RADIOS: usize = 5;
const NO_ANSWER: &str = "No answer";

pub struct Control {
    pub id: String,
    /// The name of the input.
    pub name: String,
    pub label: String,
    pub description: Option<String>,
    /// The constraints of the schema, as a sentence.
    pub demand: String,
    /// The form that the text must have, in the words of the agent.
    pub form: Option<String>,
    /// The agent suggested a value, so a change of it is marked.
    pub has_default: bool,
    pub required: bool,
    pub sensitive: bool,
    pub data_type: &'static str,
    pub shape: ControlShape,
    /// The default value with escapes, if it has characters that an input does not show.
    pub hidden_in_default: Option<String>,
    pub errors: Vec<String>,
    pub error_id: String,
}

pub enum ControlShape {
    Fixed(String),
    Line {
        kind: &'static str,
        value: String,
    },
    /// A date and time, or a time. Both are shown in the reader's zone if scripts run, else in UTC.
    Zoned {
        kind: &'static str,
        value: String,
        step: &'static str,
        utc_ms: Option<i64>,
        zone_name: String,
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
    /// Check boxes: any number may be picked.
    Boxes(Vec<ControlOption>),
    List(Vec<ControlOption>),
}

pub struct ControlOption {
    pub value: String,
    pub label: String,
    pub chosen: bool,
}

/// `index` is the position of the field. Ids are made from it, because the field name comes from the agent and may not
/// be a valid id.
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
        form: form_of(&field.kind).map(str::to_owned),
        has_default: field.default.is_some() && !field.sensitive,
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

/// The id of the error message: made from the field name if that is a valid and unused id, else from the index.
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

/// The value of the input: the value that was sent, else the default. Secrets are never filled in.
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

/// A default value as a browser would send it: choices as indices, separated by blanks.
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

/// A string as it is, null as an empty string, all other values as JSON.
pub fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

fn hidden_in_default(field: &Field) -> Option<String> {
    let default = plain(field.default.as_ref().filter(|_| !field.sensitive)?);
    let spelled = escape::escape(&default);
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
            if choices.len() <= MAX_RADIOS {
                ControlShape::Radios(radios(field, labels, &value))
            } else {
                ControlShape::List(list_options(field, labels, &value))
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
            let labels =
                [("true", t("Yes")), ("false", t("No"))].map(|(value, label)| (value.to_owned(), label.to_owned()));
            ControlShape::Radios(radios(field, labels.into_iter(), &value))
        }
        // A password input has only one line, so multi-line text stays visible.
        FieldKind::Text { multiline: true, .. } => ControlShape::Lines { value },
        FieldKind::Text { .. } | FieldKind::Number { .. } if field.sensitive => ControlShape::Line {
            kind: "password",
            value,
        },
        FieldKind::Text {
            multiline: false,
            format,
            ..
        } => match ZonedFormat::of(field) {
            Some(zoned) => zoned_control(field, zoned, value),
            None => ControlShape::Line {
                kind: input_type(format.as_deref()),
                value,
            },
        },
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

/// The choices of a drop-down list, after an empty one.
fn list_options(
    field: &Field,
    offered: impl Iterator<Item = (String, String)>,
    initial_value: &str,
) -> Vec<ControlOption> {
    let nothing = if field.required { t("Choose…") } else { t(NO_ANSWER) };
    control_options(Some(nothing), offered, initial_value)
}

/// Radio buttons. Only an optional field offers no answer as a choice; a required one starts with nothing selected.
fn radios(field: &Field, offered: impl Iterator<Item = (String, String)>, initial_value: &str) -> Vec<ControlOption> {
    control_options((!field.required).then(|| t(NO_ANSWER)), offered, initial_value)
}

fn control_options(
    nothing: Option<&str>,
    offered: impl Iterator<Item = (String, String)>,
    initial_value: &str,
) -> Vec<ControlOption> {
    let nothing = nothing.map(|label| (String::new(), label.to_owned()));
    let all = nothing.into_iter().chain(offered);
    all.map(|(value, label)| ControlOption {
        chosen: value == initial_value,
        value,
        label,
    })
    .collect()
}

/// A value that is no instant, such as the text of a refused attempt, stays visible in a plain text input.
fn zoned_control(field: &Field, zoned: ZonedFormat, value: String) -> ControlShape {
    let clock = zoned.wall_clock(&value);
    match clock {
        None if !value.is_empty() => ControlShape::Line { kind: "text", value },
        clock => ControlShape::Zoned {
            kind: zoned.input_type(),
            step: clock.as_ref().map_or("", |clock| clock.step),
            utc_ms: clock.as_ref().map(|clock| clock.utc_ms),
            value: clock.map(|clock| clock.value).unwrap_or_default(),
            zone_name: zone_name(&field.name),
        },
    }
}

fn input_type(format: Option<&str>) -> &'static str {
    match format {
        Some("date") => "date",
        Some("email") => "email",
        Some("uri") => "url",
        Some(_) | None => "text",
    }
}

/// Browsers count steps from the minimum, schemas from zero. If the two differ, the browser must not validate steps.
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

/// A value with the labels of its form.
pub fn value_label(field: &Field, value: &Value) -> String {
    match (&field.kind, value) {
        (FieldKind::Choice(choices), _) => label_of(choices, value),
        (FieldKind::Choices(choices), Value::Array(picked)) => picked
            .iter()
            .map(|value| label_of(choices, value))
            .collect::<Vec<_>>()
            .join(", "),
        (FieldKind::Boolean, Value::Bool(true)) => t("Yes").to_owned(),
        (FieldKind::Boolean, Value::Bool(false)) => t("No").to_owned(),
        (FieldKind::Boolean | FieldKind::Text { .. } | FieldKind::Number { .. } | FieldKind::Choices(_), _) => {
            plain(value)
        }
    }
}

fn label_of(choices: &[(Value, String)], value: &Value) -> String {
    let choice = choices.iter().find(|(offered, _)| offered == value);
    choice.map_or_else(|| plain(value), |(_, label)| label.clone())
}

#[cfg(test)]
mod tests;
