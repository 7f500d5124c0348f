//! Answering by keys: one editor per kind of question. An editor is independent of terminal and hub; it takes keys
//! and returns their result.

mod choice;
mod decision;
mod form;
mod many;
pub mod rows;
mod task;
mod text;

use countersign_client::item::open_steps;
use countersign_protocol::api::inbox::ItemQuestion;
use crossterm::event::KeyEvent;

use super::inbox_entry::InboxEntry;

pub use choice::ChoiceEditor;
pub use decision::PersonDecision;
pub use form::{FormEditor, FormEntry};
pub use many::ManyEditor;
pub use task::TaskEditor;
pub use text::TextEditor;

#[derive(Debug, Clone, PartialEq)]
pub enum Editor {
    Choice(ChoiceEditor),
    Many(ManyEditor),
    Text(TextEditor),
    Form(FormEditor),
    Task(TaskEditor),
    /// No answer is possible: none is wanted, this person may not answer, or this version does not know the question.
    Nothing,
}

/// The result of a key press.
#[derive(Debug, PartialEq)]
pub enum KeyResult {
    /// The key means nothing here; the caller may handle it.
    Ignored,
    Handled,
    Send(PersonDecision),
    /// The key needs another step first.
    Hint(&'static str),
}

impl Editor {
    pub fn of(entry: &InboxEntry) -> Self {
        if !entry.may_respond() {
            return Self::Nothing;
        }
        let item = &entry.item;
        match (&item.question, &item.action) {
            (Some(ItemQuestion::Confirm(choices)), _) => Self::Choice(ChoiceEditor::confirm(choices, item)),
            (Some(ItemQuestion::Select(choices)), _) if choices.many => Self::Many(ManyEditor::of(choices, item)),
            (Some(ItemQuestion::Select(choices)), _) => Self::Choice(ChoiceEditor::select(choices, item)),
            (Some(ItemQuestion::Text), _) => {
                Self::Text(TextEditor::new(item.sensitive).allow_empty(item.allows_empty()))
            }
            (Some(ItemQuestion::Form { schema }), _) => Self::Form(FormEditor::of(schema, item)),
            (None, Some(action)) => Self::Task(TaskEditor::of(action)),
            // An unknown question still accepts free text.
            (Some(ItemQuestion::Unknown), _) if item.open_ended => Self::Text(TextEditor::new(item.sensitive)),
            (Some(ItemQuestion::Unknown), _) | (None, None) => Self::Nothing,
        }
    }

    pub fn key(&mut self, key: KeyEvent) -> KeyResult {
        match self {
            Self::Choice(pick) => pick.key(key),
            Self::Many(ticks) => ticks.key(key),
            Self::Text(editor) => editor.key(key),
            Self::Form(form) => form.key(key),
            Self::Task(steps) => steps.key(key),
            Self::Nothing => KeyResult::Ignored,
        }
    }

    /// While text is being typed, the editor takes every key.
    pub fn is_typing(&self) -> bool {
        match self {
            Self::Choice(pick) => pick.is_typing(),
            Self::Text(editor) => editor.is_typing(),
            Self::Many(ticks) => ticks.is_typing(),
            Self::Form(form) => form.is_editing() || form.is_typing(),
            Self::Task(_) | Self::Nothing => false,
        }
    }

    pub fn paste(&mut self, text: &str) {
        match self {
            Self::Choice(pick) => pick.paste(text),
            Self::Text(editor) => editor.paste(text),
            Self::Many(ticks) => ticks.paste(text),
            Self::Form(form) => form.paste(text),
            Self::Task(_) | Self::Nothing => {}
        }
    }

    /// The free text row beside the options, if the asker allows it.
    pub fn free_text(&self) -> Option<&TextEditor> {
        match self {
            Self::Choice(pick) => pick.other(),
            Self::Many(ticks) => ticks.other(),
            Self::Form(form) => form.other(),
            Self::Text(_) | Self::Task(_) | Self::Nothing => None,
        }
    }

    /// An unambiguous yes, for a single key.
    pub fn approve(&self) -> Option<PersonDecision> {
        match self {
            Self::Choice(pick) => pick.approve(),
            Self::Task(steps) => Some(steps.complete()),
            Self::Many(_) | Self::Text(_) | Self::Form(_) | Self::Nothing => None,
        }
    }

    /// The no that the asker offers; without one, an ask can only be declined.
    pub fn deny(&self) -> Option<PersonDecision> {
        match self {
            Self::Choice(pick) => pick.deny(),
            Self::Task(steps) => Some(steps.dismiss()),
            Self::Many(_) | Self::Text(_) | Self::Form(_) | Self::Nothing => None,
        }
    }

    /// How many steps of a task are open, if any: `2 of 5 steps are open`.
    pub fn open_steps(&self) -> Option<String> {
        match self {
            Self::Task(steps) => open_steps(steps.steps()),
            Self::Choice(_) | Self::Many(_) | Self::Text(_) | Self::Form(_) | Self::Nothing => None,
        }
    }

    /// Shows the hub's message beside the field it refers to, if there is one.
    pub fn show_fault(&mut self, field: &str, message: &str) -> bool {
        match self {
            Self::Form(form) => form.show_fault(field, message),
            Self::Choice(_) | Self::Many(_) | Self::Text(_) | Self::Task(_) | Self::Nothing => false,
        }
    }

    /// Ends the typing and keeps the text.
    pub fn stop_typing(&mut self) {
        match self {
            Self::Choice(pick) => pick.stop_typing(),
            Self::Text(editor) => editor.stop_typing(),
            Self::Many(ticks) => ticks.stop_typing(),
            Self::Form(form) => form.stop_typing(),
            Self::Task(_) | Self::Nothing => {}
        }
    }

    /// The entered answer without cursor positions, for comparison.
    pub fn without_cursor(&self) -> Self {
        let mut without_cursor = self.clone();
        without_cursor.stop_typing();
        match &mut without_cursor {
            Self::Choice(pick) => pick.reset_cursor(),
            Self::Many(ticks) => ticks.reset_cursor(),
            Self::Task(steps) => steps.reset_cursor(),
            Self::Form(form) => form.reset_cursor(),
            Self::Text(_) | Self::Nothing => {}
        }
        without_cursor
    }
}
