//! What a person sent that did not count, so that it is not lost.

use countersign_core::form;
use countersign_core::{Content, Matter, Question};

use super::control::answered;
use super::parse::{lines, sent_for};
use crate::frame::form::Fields;
use crate::frame::upload::FILES;

/// One line each, with what it was; what is sensitive is told as hidden.
pub fn typed(content: &Content, fields: &Fields) -> String {
    let mut told = pressed(fields)
        .into_iter()
        .chain(answer(content, fields))
        .collect::<Vec<_>>();
    let notes = [
        ("Your own words", "typed"),
        ("Preset", "preset"),
        ("Reason", "reason"),
        ("Comment", "comment"),
    ];
    for (label, name) in notes {
        let text = lines(fields.text(name));
        if !text.trim().is_empty() {
            told.push(format!("{label}: {}", shown(content.sensitive, text)));
        }
    }
    told.extend(
        fields
            .all(FILES)
            .map(|name| format!("Attached: {}", shown(content.sensitive, name.to_owned()))),
    );
    told.join("\n")
}

fn shown(is_secret: bool, text: String) -> String {
    if is_secret { "(hidden)".to_owned() } else { text }
}

fn pressed(fields: &Fields) -> Option<String> {
    let verdict = fields.get("verdict").filter(|verdict| *verdict != "answered")?;
    let known = ["declined", "denied", "completed", "dismissed"]
        .into_iter()
        .find(|word| *word == verdict);
    known.map(|word| format!("You pressed: {word}"))
}

fn answer(content: &Content, fields: &Fields) -> Vec<String> {
    let told = |text: String| format!("Your answer: {}", shown(content.sensitive, text));
    match &content.matter {
        Matter::Ask(ask) => match &ask.question {
            Question::Confirm { options, .. } | Question::Select { options, .. } => {
                let label = |value: &str| {
                    options
                        .iter()
                        .find(|option| option.value == value)
                        .map(|o| o.label.clone())
                };
                fields.all("value").filter_map(label).map(told).collect()
            }
            Question::Text => {
                let text = lines(fields.text("value"));
                Some(text)
                    .filter(|text| !text.is_empty())
                    .map(told)
                    .into_iter()
                    .collect()
            }
            Question::Form { schema } => form::fields(schema)
                .iter()
                .filter_map(|f| filled(content, f, fields))
                .collect(),
        },
        Matter::Task(task) => {
            let done = |index: usize| fields.all("done").any(|sent| sent == index.to_string());
            let ticked = task.checklist.iter().enumerate().filter(|(index, _)| done(*index));
            ticked.map(|(_, item)| format!("Ticked: {}", item.text)).collect()
        }
        Matter::Notify => Vec::new(),
    }
}

fn filled(content: &Content, field: &form::Field, fields: &Fields) -> Option<String> {
    let text = sent_for(field, fields).filter(|text| !text.is_empty() && !field.read_only)?;
    let words = match form::value_of(field, Some(&text)) {
        Ok(Some(value)) => answered(field, &value),
        Ok(None) | Err(_) => text,
    };
    Some(format!(
        "{}: {}",
        field.label,
        shown(field.sensitive || content.sensitive, words)
    ))
}
