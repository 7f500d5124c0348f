//! The outcome of a message: the decision, its actor and time, and its delivery to the agent.

use countersign_core::form;
use countersign_core::outcome::{self, detail, ending};
use countersign_core::question::Ask;
use countersign_core::vocabulary::Ending;
use countersign_core::{Content, Payload, Question, Resolution};
use countersign_protocol::a2h::{CheckItem, Choice};
use countersign_store::model::PersonView;
use serde_json::Value;

use super::answer::control::{plain, value_label};
use super::answer::roles::choice_label;
use super::delivery_progress::{DeliveryProgress, delivery_progress};
use super::presence::AgentPresence;
use crate::language::t;
use crate::layout::formatting::{self, DisplayTime};

/// Longer answers are shown below the sentence instead of in it.
const MAX_SENTENCE_CHARS: usize = 120;

pub struct OutcomeView {
    pub ending: Ending,
    /// The answer in a sentence, or what happened instead of one.
    pub text: Option<String>,
    /// The choices of the question, to be seen after the decision too.
    pub offered: Vec<OfferedChoice>,
    pub actor: String,
    pub at: DisplayTime,
    pub took: String,
    pub by_default: bool,
    pub edited: bool,
    pub value: AnswerView,
    pub comment: Option<String>,
    pub hides_comment: bool,
    pub checklist: Vec<CheckItem>,
    pub files: Vec<AnswerFile>,
    pub hides_files: bool,
    pub progress: DeliveryProgress,
    pub presence: AgentPresence,
}

/// A file attached to the answer.
pub struct AnswerFile {
    pub name: String,
    pub size: String,
    pub href: String,
}

pub enum AnswerView {
    /// The sentence already says everything.
    Nothing,
    Hidden,
    Text(String),
    Form(Vec<FormAnswerRow>),
}

pub struct FormAnswerRow {
    pub label: String,
    pub cell: FormAnswerCell,
}

pub enum FormAnswerCell {
    Empty,
    Hidden,
    Text(String),
}

impl OutcomeView {
    pub fn of(item: &PersonView, resolution: &Resolution, presence: AgentPresence) -> Self {
        let message = &item.message;
        let content = &message.content;
        let text = detail(resolution, content, t);
        let is_long = |text: &String| text.chars().count() > MAX_SENTENCE_CHARS || text.contains('\n');
        Self {
            ending: ending(resolution, content),
            value: answer_view(resolution, content, text.as_ref().is_some_and(is_long)),
            text: text.filter(|text| !is_long(text)),
            offered: offered(resolution, content),
            actor: formatting::actor_name(&resolution.actor).to_owned(),
            at: formatting::display_time(resolution.resolved_at),
            took: formatting::span(resolution.resolved_at.since(message.received_at)),
            by_default: resolution.defaulted,
            edited: resolution.edited,
            comment: resolution.comment.clone().filter(|_| !content.sensitive),
            hides_comment: content.sensitive && resolution.comment.is_some(),
            checklist: resolution.checklist.clone().unwrap_or_default(),
            files: if content.sensitive {
                Vec::new()
            } else {
                answer_files(item, resolution)
            },
            hides_files: content.sensitive && !resolution.files.is_empty(),
            progress: delivery_progress(item, resolution, &presence),
            presence,
        }
    }
}

/// A choice of the question.
pub struct OfferedChoice {
    pub label: String,
    pub is_chosen: bool,
}

fn offered(resolution: &Resolution, content: &Content) -> Vec<OfferedChoice> {
    let Payload::Ask(Ask {
        question: Question::Confirm { options, .. } | Question::Select { options, .. },
        ..
    }) = &content.payload
    else {
        return Vec::new();
    };
    if content.sensitive {
        return Vec::new();
    }
    let chosen: Vec<&str> = match &resolution.value {
        _ if resolution.edited => Vec::new(),
        Some(Value::String(value)) => vec![value],
        Some(Value::Array(values)) => values.iter().filter_map(Value::as_str).collect(),
        Some(_) | None => Vec::new(),
    };
    let choice = |option: &Choice| OfferedChoice {
        label: choice_label(option).to_owned(),
        is_chosen: chosen.contains(&option.value.as_str()),
    };
    options.iter().map(choice).collect()
}

pub fn answer_files(item: &PersonView, resolution: &Resolution) -> Vec<AnswerFile> {
    let files = resolution.files.iter().enumerate();
    let answer_files = files.map(|(index, file)| AnswerFile {
        name: file.name.clone(),
        size: formatting::size(file.size),
        href: format!("/inbox/items/{}/files/{index}", item.message.id),
    });
    answer_files.collect()
}

pub fn answer_view(resolution: &Resolution, content: &Content, is_long: bool) -> AnswerView {
    let Some(value) = &resolution.value else {
        return AnswerView::Nothing;
    };
    if content.sensitive {
        return AnswerView::Hidden;
    }
    match (&content.payload, value) {
        (
            Payload::Ask(Ask {
                question: Question::Form { schema },
                ..
            }),
            Value::Object(_),
        ) => AnswerView::Form(rows(schema, value)),
        (Payload::Ask(_) | Payload::Task(_) | Payload::Notify, _) if is_long => {
            AnswerView::Text(outcome::answered(resolution, content).unwrap_or_else(|| plain(value)))
        }
        (Payload::Ask(_) | Payload::Task(_) | Payload::Notify, _) => AnswerView::Nothing,
    }
}

/// The fields in the order of the form, then additional properties that the schema allowed.
fn rows(schema: &Value, value: &Value) -> Vec<FormAnswerRow> {
    let fields = form::fields(schema);
    let mut rows: Vec<FormAnswerRow> = fields
        .iter()
        .map(|field| FormAnswerRow {
            label: field.label.clone(),
            cell: match value.get(&field.name) {
                None => FormAnswerCell::Empty,
                Some(_) if field.sensitive => FormAnswerCell::Hidden,
                Some(value) => FormAnswerCell::Text(value_label(field, value)),
            },
        })
        .collect();
    let is_known = |name: &str| fields.iter().any(|field| field.name == name);
    let others = value
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, _)| !is_known(name));
    rows.extend(others.map(|(name, value)| FormAnswerRow {
        label: name.clone(),
        cell: FormAnswerCell::Text(plain(value)),
    }));
    rows
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn form_answer_is_shown_by_label_without_its_secrets() {
        let schema = json!({"properties": {
            "pin": {"type": "string", "x-a2h-sensitive": true},
            "size": {"enum": ["s", "m"], "enumNames": ["Small", "Medium"], "title": "Size"},
            "ok": {"type": "boolean"},
            "note": {"type": "string"},
        }});
        let value = json!({"pin": "hunter2", "size": "m", "ok": false, "extra": 1});
        let answer_view: Vec<(String, String)> = rows(&schema, &value)
            .into_iter()
            .map(|row| {
                let cell = match row.cell {
                    FormAnswerCell::Empty => "-".to_owned(),
                    FormAnswerCell::Hidden => "*".to_owned(),
                    FormAnswerCell::Text(text) => text,
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
        assert_eq!(
            answer_view,
            expected.map(|(label, cell)| (label.to_owned(), cell.to_owned()))
        );
    }
}
