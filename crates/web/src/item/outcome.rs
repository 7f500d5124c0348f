//! What became of a message: who decided what, when, and how the agent learns of it.

use countersign_core::form;
use countersign_core::question::Ask;
use countersign_core::{Content, Matter, Question, Resolution};
use countersign_hub::inbox::outcome;
use countersign_protocol::a2h::CheckItem;
use countersign_store::model::Item;
use serde_json::Value;

use super::answer::control::{answered, plain};
use super::presence::Presence;
use super::track::{Way, way};
use crate::frame::format::{self, Instant};

/// What is longer does not belong into a sentence.
const LONGEST_IN_A_SENTENCE: usize = 120;

pub struct Outcome {
    pub words: String,
    pub actor: String,
    pub at: Instant,
    pub took: String,
    pub by_default: bool,
    pub edited: bool,
    pub value: Told,
    pub comment: Option<String>,
    pub hides_comment: bool,
    pub checklist: Vec<CheckItem>,
    pub files: Vec<Kept>,
    pub hides_files: bool,
    pub way: Way,
    pub presence: Presence,
}

/// A file that came with the answer.
pub struct Kept {
    pub name: String,
    pub size: String,
    pub href: String,
}

pub enum Told {
    /// Nothing beyond the sentence.
    Nothing,
    Hidden,
    Text(String),
    Form(Vec<Row>),
}

pub struct Row {
    pub label: String,
    pub cell: Cell,
}

pub enum Cell {
    Empty,
    Hidden,
    Text(String),
}

impl Outcome {
    pub fn of(item: &Item, resolution: &Resolution, presence: Presence) -> Self {
        let message = &item.message;
        let content = &message.content;
        let words = outcome::in_words(resolution, content);
        let is_long = words.chars().count() > LONGEST_IN_A_SENTENCE || words.contains('\n');
        let bare = || {
            outcome::in_words(
                &Resolution {
                    value: None,
                    ..resolution.clone()
                },
                content,
            )
        };
        Self {
            value: told(resolution, content, is_long),
            words: if is_long { bare() } else { words },
            actor: resolution.actor.to_string(),
            at: format::instant(resolution.resolved_at),
            took: format::span(resolution.resolved_at.since(message.received_at)),
            by_default: resolution.defaulted,
            edited: resolution.edited,
            comment: resolution.comment.clone().filter(|_| !content.sensitive),
            hides_comment: content.sensitive && resolution.comment.is_some(),
            checklist: resolution.checklist.clone().unwrap_or_default(),
            files: if content.sensitive {
                Vec::new()
            } else {
                kept(item, resolution)
            },
            hides_files: content.sensitive && !resolution.files.is_empty(),
            way: way(item, resolution, &presence),
            presence,
        }
    }
}

fn kept(item: &Item, resolution: &Resolution) -> Vec<Kept> {
    let files = resolution.files.iter().enumerate();
    let kept = files.map(|(index, file)| Kept {
        name: file.name.clone(),
        size: format::size(file.size),
        href: format!("/inbox/items/{}/files/{index}", item.message.id),
    });
    kept.collect()
}

fn told(resolution: &Resolution, content: &Content, is_long: bool) -> Told {
    let Some(value) = &resolution.value else {
        return Told::Nothing;
    };
    if content.sensitive {
        return Told::Hidden;
    }
    match (&content.matter, value) {
        (
            Matter::Ask(Ask {
                question: Question::Form { schema },
                ..
            }),
            Value::Object(_),
        ) => Told::Form(rows(schema, value)),
        (Matter::Ask(_) | Matter::Task(_) | Matter::Notify, _) if is_long => {
            Told::Text(outcome::answered(resolution, content).unwrap_or_else(|| plain(value)))
        }
        (Matter::Ask(_) | Matter::Task(_) | Matter::Notify, _) => Told::Nothing,
    }
}

/// The fields in the order of the form, then what the form does not name but was let in by its schema.
fn rows(schema: &Value, value: &Value) -> Vec<Row> {
    let fields = form::fields(schema);
    let mut rows: Vec<Row> = fields
        .iter()
        .map(|field| Row {
            label: field.label.clone(),
            cell: match value.get(&field.name) {
                None => Cell::Empty,
                Some(_) if field.sensitive => Cell::Hidden,
                Some(value) => Cell::Text(answered(field, value)),
            },
        })
        .collect();
    let is_known = |name: &str| fields.iter().any(|field| field.name == name);
    let others = value
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, _)| !is_known(name));
    rows.extend(others.map(|(name, value)| Row {
        label: name.clone(),
        cell: Cell::Text(plain(value)),
    }));
    rows
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_form_is_told_by_its_labels_and_keeps_its_secrets() {
        let schema = json!({"properties": {
            "pin": {"type": "string", "x-a2h-sensitive": true},
            "size": {"enum": ["s", "m"], "enumNames": ["Small", "Medium"], "title": "Size"},
            "ok": {"type": "boolean"},
            "note": {"type": "string"},
        }});
        let value = json!({"pin": "hunter2", "size": "m", "ok": false, "extra": 1});
        let told: Vec<(String, String)> = rows(&schema, &value)
            .into_iter()
            .map(|row| {
                let cell = match row.cell {
                    Cell::Empty => "-".to_owned(),
                    Cell::Hidden => "*".to_owned(),
                    Cell::Text(text) => text,
                };
                (row.label, cell)
            })
            .collect();
        let expected = [
            ("pin", "*"),
            ("Size", "Medium"),
            ("ok", "No"),
            ("note", "-"),
            ("extra", "1"),
        ];
        assert_eq!(told, expected.map(|(label, cell)| (label.to_owned(), cell.to_owned())));
    }
}
