//! The input of a decision that was not applied, as text, so that the person does not lose it.

use countersign_core::form;
use countersign_core::vocabulary::Action;
use countersign_core::{Content, Payload, Question};

use super::choice_label;
use super::control::value_label;
use super::parse::{normalize_newlines, submitted_value};
use crate::language::{say, t};
use crate::layout::form::FormFields;
use crate::layout::upload::FILES;

/// One line per input, with its label; sensitive values are shown as hidden.
pub fn discarded_input(content: &Content, fields: &FormFields) -> String {
    let mut entries = pressed(fields)
        .into_iter()
        .chain(answer(content, fields))
        .collect::<Vec<_>>();
    let notes = [
        (t("Something else"), "typed"),
        (t("Preset"), "preset"),
        (t("Reason"), "reason"),
        (t("Comment"), "comment"),
    ];
    for (label, name) in notes {
        let text = normalize_newlines(fields.text(name));
        if !text.trim().is_empty() {
            entries.push(format!("{label}: {}", shown(content.sensitive, text)));
        }
    }
    entries.extend(
        fields
            .all(FILES)
            .map(|name| say!("Attached: {file}", file = shown(content.sensitive, name.to_owned()))),
    );
    entries.join("\n")
}

fn shown(is_secret: bool, text: String) -> String {
    if is_secret { t("(hidden)").to_owned() } else { text }
}

fn pressed(fields: &FormFields) -> Option<String> {
    let verdict = fields.get("verdict").filter(|verdict| *verdict != "answered")?;
    let action = match verdict {
        "declined" => Action::Skip,
        "denied" => Action::Deny,
        "completed" => Action::Done,
        "dismissed" => Action::CannotDo,
        _ => return None,
    };
    Some(say!("You pressed: {action}", action = t(action.label())))
}

fn answer(content: &Content, fields: &FormFields) -> Vec<String> {
    let answer_line = |text: String| say!("Your answer: {text}", text = shown(content.sensitive, text));
    match &content.payload {
        Payload::Ask(ask) => match &ask.question {
            Question::Confirm { options, .. } | Question::Select { options, .. } => {
                let label = |value: &str| {
                    options
                        .iter()
                        .find(|option| option.value == value)
                        .map(|option| choice_label(option).to_owned())
                };
                fields.all("value").filter_map(label).map(answer_line).collect()
            }
            Question::Text => {
                let text = normalize_newlines(fields.text("value"));
                Some(text)
                    .filter(|text| !text.is_empty())
                    .map(answer_line)
                    .into_iter()
                    .collect()
            }
            Question::Form { schema } => form::fields(schema)
                .iter()
                .filter_map(|f| filled(content, f, fields))
                .collect(),
        },
        Payload::Task(task) => {
            let done = |index: usize| fields.all("done").any(|sent| sent == index.to_string());
            let ticked = task.checklist.iter().enumerate().filter(|(index, _)| done(*index));
            ticked.map(|(_, item)| format!("Ticked: {}", item.text)).collect()
        }
        Payload::Notify => Vec::new(),
    }
}

fn filled(content: &Content, field: &form::Field, fields: &FormFields) -> Option<String> {
    let text = submitted_value(field, fields).filter(|text| !text.is_empty() && !field.read_only)?;
    let label = match form::value_of(field, Some(&text)) {
        Ok(Some(value)) => value_label(field, &value),
        Ok(None) | Err(_) => text,
    };
    Some(format!(
        "{}: {}",
        field.label,
        shown(field.sensitive || content.sensitive, label)
    ))
}
