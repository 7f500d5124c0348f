//! One field of a form while it is being filled in.

use std::collections::BTreeSet;

use countersign_core::Rejection;
use countersign_core::form::{Field, FieldKind, value_of};
use crossterm::event::{KeyCode, KeyEvent};
use serde_json::{Value, json};

use crate::answer::rows::numbered;
use crate::text_input::TextInput;

#[derive(Debug, Clone, PartialEq)]
pub struct FormEntry {
    pub field: Field,
    typing: TextInput,
    /// For picked fields: an index into `labels`. For multi-choice fields: the cursor.
    picked: Option<usize>,
    /// The picked choices of a multi-choice field.
    ticked: BTreeSet<usize>,
    /// The faults found by the last check.
    pub faults: Vec<String>,
}

impl FormEntry {
    pub fn of(field: Field, sensitive: bool) -> Self {
        let hidden = sensitive || field.sensitive;
        let multiline = matches!(field.kind, FieldKind::Text { multiline: true, .. });
        let typing = if multiline {
            TextInput::lines()
        } else {
            TextInput::line()
        };
        let mut entry = Self {
            typing: typing.hidden(hidden),
            picked: None,
            ticked: BTreeSet::new(),
            faults: Vec::new(),
            field,
        };
        // A hidden default must not be sent unseen.
        if !hidden && let Some(default) = entry.field.default.clone() {
            entry.fill(&default);
        }
        entry
    }

    fn fill(&mut self, default: &Value) {
        match &self.field.kind {
            FieldKind::Text { .. } => self.typing.paste(default.as_str().unwrap_or_default()),
            FieldKind::Number { .. } => self
                .typing
                .paste(&default.as_number().map(ToString::to_string).unwrap_or_default()),
            FieldKind::Boolean => self.picked = default.as_bool().map(|yes| usize::from(!yes)),
            FieldKind::Choice(choices) => self.picked = choices.iter().position(|(value, _)| value == default),
            FieldKind::Choices(choices) => {
                let is_default = |value: &Value| default.as_array().is_some_and(|all| all.contains(value));
                let ticked = choices.iter().enumerate().filter(|(_, (value, _))| is_default(value));
                self.ticked = ticked.map(|(index, _)| index).collect();
            }
        }
    }

    /// The labels to pick from; empty for typed fields.
    pub fn labels(&self) -> Vec<&str> {
        match &self.field.kind {
            FieldKind::Text { .. } | FieldKind::Number { .. } => Vec::new(),
            FieldKind::Boolean => vec!["yes", "no"],
            FieldKind::Choice(choices) | FieldKind::Choices(choices) => {
                choices.iter().map(|(_, label)| label.as_str()).collect()
            }
        }
    }

    pub fn is_picked(&self) -> bool {
        matches!(
            self.field.kind,
            FieldKind::Boolean | FieldKind::Choice(_) | FieldKind::Choices(_)
        )
    }

    pub fn takes_many(&self) -> bool {
        matches!(self.field.kind, FieldKind::Choices(_))
    }

    /// Whether this label is part of the answer.
    pub fn is_chosen(&self, index: usize) -> bool {
        if self.takes_many() {
            self.ticked.contains(&index)
        } else {
            self.picked == Some(index)
        }
    }

    pub fn picked(&self) -> Option<usize> {
        self.picked
    }

    pub fn typing(&self) -> &TextInput {
        &self.typing
    }

    pub fn value(&self) -> Result<Option<Value>, Rejection> {
        let typed = match (&self.field.kind, self.picked) {
            (FieldKind::Text { .. } | FieldKind::Number { .. }, _) => Some(self.typing.text().to_owned()),
            (FieldKind::Boolean, picked) => picked.map(|index| (index == 0).to_string()),
            (FieldKind::Choice(_), picked) => picked.map(|index| index.to_string()),
            (FieldKind::Choices(_), _) => Some(
                self.ticked
                    .iter()
                    .map(ToString::to_string)
                    .collect::<Vec<_>>()
                    .join(" "),
            ),
        };
        value_of(&self.field, typed.as_deref())
    }

    /// Whether a person entered a value that differs from the agent's default.
    pub fn is_filled_in(&self) -> bool {
        let is_given = |value: &Value| *value != json!([]) && Some(value) != self.field.default.as_ref();
        !self.field.read_only && self.value().map_or(true, |value| value.as_ref().is_some_and(is_given))
    }

    /// Whether the key was handled.
    pub fn key(&mut self, key: KeyEvent) -> bool {
        if self.field.read_only {
            return false;
        }
        self.faults.clear();
        if !self.is_picked() {
            return self.typing.key(key);
        }
        let count = self.labels().len();
        if self.takes_many() {
            return self.tick(key, count);
        }
        match key.code {
            KeyCode::Char(' ') | KeyCode::Right => self.picked = next(self.picked, count),
            KeyCode::Left => self.picked = previous(self.picked, count),
            KeyCode::Backspace | KeyCode::Delete => self.picked = None,
            _ => match numbered(key, count) {
                Some(index) => self.picked = Some(index),
                None => return false,
            },
        }
        true
    }

    /// Moves through the choices like rows; past the first and the last, the form takes over.
    fn tick(&mut self, key: KeyEvent, count: usize) -> bool {
        match key.code {
            KeyCode::Down | KeyCode::Right => {
                let next = self.picked.map_or(0, |at| at + 1);
                self.picked = (next < count).then_some(next);
                return self.picked.is_some();
            }
            KeyCode::Up | KeyCode::Left => {
                self.picked = self.picked.and_then(|at| at.checked_sub(1));
                return self.picked.is_some();
            }
            KeyCode::Char(' ') => {
                let at = *self.picked.get_or_insert(0);
                self.toggle(at);
            }
            KeyCode::Backspace | KeyCode::Delete => self.ticked.clear(),
            _ => match numbered(key, count) {
                Some(index) => {
                    self.picked = Some(index);
                    self.toggle(index);
                }
                None => return false,
            },
        }
        true
    }

    fn toggle(&mut self, index: usize) {
        if !self.ticked.remove(&index) {
            self.ticked.insert(index);
        }
    }

    pub fn paste(&mut self, text: &str) {
        if !self.is_picked() && !self.field.read_only {
            self.faults.clear();
            self.typing.paste(text);
        }
    }

    pub fn reset_cursor(&mut self) {
        self.faults.clear();
        self.typing.reset_cursor();
        if self.takes_many() {
            self.picked = None;
        }
    }

    /// A short description of the accepted input.
    pub fn hint(&self) -> String {
        match &self.field.kind {
            _ if self.field.read_only => "cannot be changed".to_owned(),
            FieldKind::Text {
                format: Some(format), ..
            } if format == "date" => "a date, like 2026-06-04".to_owned(),
            FieldKind::Text {
                format: Some(format), ..
            } => format.clone(),
            FieldKind::Text { multiline: true, .. } => "text, Ctrl-J for a new line".to_owned(),
            FieldKind::Text { .. } => "text".to_owned(),
            FieldKind::Number { integer: true, .. } => "a whole number".to_owned(),
            FieldKind::Number { integer: false, .. } => "a number".to_owned(),
            FieldKind::Boolean => "yes or no, with Space".to_owned(),
            FieldKind::Choice(_) => "one of these, with Space".to_owned(),
            FieldKind::Choices(_) => "any of these, with Space or their numbers".to_owned(),
        }
    }
}

/// Past the last option comes none, which clears the pick.
fn next(picked: Option<usize>, count: usize) -> Option<usize> {
    match picked {
        None => (count > 0).then_some(0),
        Some(index) => (index + 1 < count).then_some(index + 1),
    }
}

fn previous(picked: Option<usize>, count: usize) -> Option<usize> {
    match picked {
        None => count.checked_sub(1),
        Some(index) => index.checked_sub(1),
    }
}
