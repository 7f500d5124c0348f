//! Answering by keys: one editor for each kind of question. An editor knows nothing of a terminal or a hub; it takes keys
//! and says what they came to.

mod choice;
mod form;
mod many;
pub mod rows;
mod task;
mod text;
mod verdict;

use crossterm::event::KeyEvent;

use super::seen::Seen;
use crate::item::Question;

pub use choice::Pick;
pub use form::{Entry, FormEditor};
pub use many::Ticks;
pub use task::Steps;
pub use text::Words;
pub use verdict::Verdict;

#[derive(Debug, Clone, PartialEq)]
pub enum Editor {
    Choice(Pick),
    Many(Ticks),
    Text(Words),
    Form(FormEditor),
    Task(Steps),
    /// There is nothing to answer, or not for this person, or not for this version.
    Nothing,
}

/// What a key came to.
#[derive(Debug, PartialEq)]
pub enum Pressed {
    /// It means nothing here; somebody else may know it.
    Passed,
    Taken,
    Send(Verdict),
    /// It means something, but not yet.
    Hint(&'static str),
}

impl Editor {
    pub fn of(seen: &Seen) -> Self {
        if !seen.may_respond() {
            return Self::Nothing;
        }
        let item = &seen.item;
        match (&item.question, &item.action) {
            (Some(Question::Confirm(choices)), _) => Self::Choice(Pick::confirm(choices, item)),
            (Some(Question::Select(choices)), _) if choices.many => Self::Many(Ticks::of(choices, item)),
            (Some(Question::Select(choices)), _) => Self::Choice(Pick::select(choices, item)),
            (Some(Question::Text), _) => Self::Text(Words::new(item.sensitive).or_nothing(item.takes_nothing())),
            (Some(Question::Form { schema }), _) => Self::Form(FormEditor::of(schema, item)),
            (None, Some(action)) => Self::Task(Steps::of(action)),
            // Whatever it asks, a text is an answer.
            (Some(Question::Unknown), _) if item.open_ended => Self::Text(Words::new(item.sensitive)),
            (Some(Question::Unknown), _) | (None, None) => Self::Nothing,
        }
    }

    pub fn key(&mut self, key: KeyEvent) -> Pressed {
        match self {
            Self::Choice(pick) => pick.key(key),
            Self::Many(ticks) => ticks.key(key),
            Self::Text(words) => words.key(key),
            Self::Form(form) => form.key(key),
            Self::Task(steps) => steps.key(key),
            Self::Nothing => Pressed::Passed,
        }
    }

    /// While it is typed into, every key belongs to the editor.
    pub fn is_typing(&self) -> bool {
        match self {
            Self::Choice(pick) => pick.is_typing(),
            Self::Text(words) => words.is_typing(),
            Self::Many(ticks) => ticks.is_typing(),
            Self::Form(form) => form.is_editing() || form.is_typing(),
            Self::Task(_) | Self::Nothing => false,
        }
    }

    pub fn paste(&mut self, text: &str) {
        match self {
            Self::Choice(pick) => pick.paste(text),
            Self::Text(words) => words.paste(text),
            Self::Many(ticks) => ticks.paste(text),
            Self::Form(form) => form.paste(text),
            Self::Task(_) | Self::Nothing => {}
        }
    }

    /// The row for other words than those offered, where the asker takes them.
    pub fn own_words(&self) -> Option<&Words> {
        match self {
            Self::Choice(pick) => pick.other(),
            Self::Many(ticks) => ticks.other(),
            Self::Form(form) => form.other(),
            Self::Text(_) | Self::Task(_) | Self::Nothing => None,
        }
    }

    /// A clear yes, for one key.
    pub fn approve(&self) -> Option<Verdict> {
        match self {
            Self::Choice(pick) => pick.approve(),
            Self::Task(steps) => Some(steps.complete()),
            Self::Many(_) | Self::Text(_) | Self::Form(_) | Self::Nothing => None,
        }
    }

    /// The no that the asker offers; where there is none, an ask can only be declined.
    pub fn deny(&self) -> Option<Verdict> {
        match self {
            Self::Choice(pick) => pick.deny(),
            Self::Task(steps) => Some(steps.dismiss()),
            Self::Many(_) | Self::Text(_) | Self::Form(_) | Self::Nothing => None,
        }
    }

    /// Puts what the hub said beside the field it is about, if there is such a field.
    pub fn blame(&mut self, field: &str, message: &str) -> bool {
        match self {
            Self::Form(form) => form.blame(field, message),
            Self::Choice(_) | Self::Many(_) | Self::Text(_) | Self::Task(_) | Self::Nothing => false,
        }
    }

    /// What happens to the item ends the typing, and nothing that was typed.
    pub fn rest(&mut self) {
        match self {
            Self::Choice(pick) => pick.rest(),
            Self::Text(words) => words.rest(),
            Self::Many(ticks) => ticks.rest(),
            Self::Form(form) => form.rest(),
            Self::Task(_) | Self::Nothing => {}
        }
    }

    /// What was entered, without regard to where the cursor stands.
    pub fn bare(&self) -> Self {
        let mut bare = self.clone();
        bare.rest();
        match &mut bare {
            Self::Choice(pick) => pick.leave(),
            Self::Many(ticks) => ticks.leave(),
            Self::Task(steps) => steps.leave(),
            Self::Form(form) => form.leave(),
            Self::Text(_) | Self::Nothing => {}
        }
        bare
    }
}
