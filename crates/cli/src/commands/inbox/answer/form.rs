//! A form: one field after the other, then the row that sends it, then other words where the asker takes any text. What is wrong is told beside its field, first by the same
//! validator the hub uses, then by the hub.

mod entry;

use countersign_core::Rejection;
use countersign_core::answer::FILLED_IN_AND_WROTE;
use countersign_core::form::{check_all, fields};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use serde_json::{Map, Value};

use super::rows::moved;
use super::text::{OWN_WORDS, Words};
use super::{Pressed, Verdict};
use crate::item::Item;

pub use entry::Entry;

const FAULTY: &str = "something is still wrong: see beside the fields";

#[derive(Debug, Clone, PartialEq)]
pub struct FormEditor {
    schema: Value,
    entries: Vec<Entry>,
    /// One past the last entry is the row that sends, and one past that the row for other words.
    cursor: usize,
    editing: bool,
    other: Option<Words>,
    /// What is wrong with the answer as a whole.
    faults: Vec<String>,
}

impl FormEditor {
    pub fn of(schema: &Value, item: &Item) -> Self {
        let entries = fields(schema)
            .into_iter()
            .map(|field| Entry::of(field, item.sensitive))
            .collect();
        let other = Words::beside(item, false);
        Self {
            schema: schema.clone(),
            entries,
            cursor: 0,
            editing: false,
            other,
            faults: Vec::new(),
        }
    }

    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub fn cursor(&self) -> usize {
        self.cursor
    }

    pub fn is_editing(&self) -> bool {
        self.editing
    }

    pub fn other(&self) -> Option<&Words> {
        self.other.as_ref()
    }

    pub fn is_typing(&self) -> bool {
        self.other.as_ref().is_some_and(Words::is_typing)
    }

    fn rows(&self) -> usize {
        self.entries.len() + 1 + usize::from(self.other.is_some())
    }

    pub fn faults(&self) -> &[String] {
        &self.faults
    }

    pub fn key(&mut self, key: KeyEvent) -> Pressed {
        if let Some(other) = self.other.as_mut().filter(|other| other.is_typing()) {
            return match other.key(key) {
                Pressed::Send(_) if self.is_filled_in() => Pressed::Hint(FILLED_IN_AND_WROTE),
                pressed => pressed,
            };
        }
        if self.editing {
            self.edited(key)
        } else {
            self.visited(key)
        }
    }

    fn begin(&mut self) -> Pressed {
        let Some(other) = &mut self.other else {
            return Pressed::Passed;
        };
        other.begin();
        (self.cursor, self.editing) = (self.entries.len() + 1, false);
        Pressed::Taken
    }

    fn visited(&mut self, key: KeyEvent) -> Pressed {
        if let Some(row) = moved(key, Some(self.cursor), self.rows()) {
            self.cursor = row;
            return Pressed::Taken;
        }
        match key.code {
            KeyCode::Enter if self.cursor == self.entries.len() => self.send(),
            KeyCode::Enter if self.cursor > self.entries.len() => self.begin(),
            KeyCode::Char(OWN_WORDS) => self.begin(),
            KeyCode::Enter | KeyCode::Tab => {
                self.editing = true;
                Pressed::Taken
            }
            _ => Pressed::Passed,
        }
    }

    fn edited(&mut self, key: KeyEvent) -> Pressed {
        let is_enter = key.code == KeyCode::Enter && !key.modifiers.contains(KeyModifiers::ALT);
        match key.code {
            KeyCode::Esc => self.editing = false,
            KeyCode::Tab => self.cursor = (self.cursor + 1) % self.rows(),
            KeyCode::BackTab => self.cursor = self.cursor.checked_sub(1).unwrap_or(self.rows() - 1),
            _ if is_enter && self.cursor == self.entries.len() => return self.send(),
            _ if is_enter && self.cursor > self.entries.len() => return self.begin(),
            _ if is_enter => self.down(),
            _ if self.entries.get_mut(self.cursor).is_some_and(|entry| entry.key(key)) => {}
            KeyCode::Down => self.down(),
            KeyCode::Up => self.cursor = self.cursor.saturating_sub(1),
            _ => {}
        }
        Pressed::Taken
    }

    fn down(&mut self) {
        self.cursor = (self.cursor + 1).min(self.rows() - 1);
    }

    pub fn paste(&mut self, text: &str) {
        self.other.iter_mut().for_each(|other| other.paste(text));
        if let (true, Some(entry)) = (self.editing, self.entries.get_mut(self.cursor)) {
            entry.paste(text);
        }
    }

    pub fn leave(&mut self) {
        self.cursor = 0;
        self.faults.clear();
        for entry in &mut self.entries {
            entry.leave();
        }
    }

    pub fn rest(&mut self) {
        self.editing = false;
        self.other.iter_mut().for_each(Words::rest);
    }

    fn is_filled_in(&self) -> bool {
        self.entries.iter().any(Entry::is_filled_in)
    }

    /// Filled in or written, never both: nobody could say which was meant.
    fn send(&mut self) -> Pressed {
        if let Some(verdict) = self.other.as_ref().and_then(Words::verdict) {
            return if self.is_filled_in() {
                Pressed::Hint(FILLED_IN_AND_WROTE)
            } else {
                Pressed::Send(verdict)
            };
        }
        self.faults.clear();
        self.entries.iter_mut().for_each(|entry| entry.faults.clear());
        let answer = self.answer();
        if self.is_faulty() {
            return self.stay();
        }
        for (name, message) in check_all(&self.schema, &answer) {
            self.put(&name, message);
        }
        if self.is_faulty() {
            self.stay()
        } else {
            Pressed::Send(Verdict::Answered(answer))
        }
    }

    fn answer(&mut self) -> Value {
        let mut answer = Map::new();
        for entry in &mut self.entries {
            match entry.value() {
                Ok(Some(value)) => drop(answer.insert(entry.field.name.clone(), value)),
                Ok(None) => {}
                Err(Rejection::InvalidField { message, .. }) => entry.faults.push(message),
                Err(other) => entry.faults.push(other.to_string()),
            }
        }
        Value::Object(answer)
    }

    fn is_faulty(&self) -> bool {
        !self.faults.is_empty() || self.entries.iter().any(|entry| !entry.faults.is_empty())
    }

    fn stay(&mut self) -> Pressed {
        if let Some(row) = self.entries.iter().position(|entry| !entry.faults.is_empty()) {
            self.cursor = row;
            self.editing = true;
        }
        Pressed::Hint(FAULTY)
    }

    fn put(&mut self, name: &str, message: String) {
        match self.entries.iter_mut().find(|entry| entry.field.name == name) {
            Some(entry) => entry.faults.push(message),
            None => self.faults.push(if name.is_empty() {
                message
            } else {
                format!("{name}: {message}")
            }),
        }
    }

    /// `field` is spelled as the hub does: `value.` and the name.
    pub fn blame(&mut self, field: &str, message: &str) -> bool {
        let name = field.strip_prefix("value.").unwrap_or_default();
        let Some(row) = self.entries.iter().position(|entry| entry.field.name == name) else {
            return false;
        };
        let message = message
            .strip_prefix(field)
            .and_then(|rest| rest.strip_prefix(": "))
            .unwrap_or(message);
        self.entries[row].faults = vec![message.to_owned()];
        (self.cursor, self.editing) = (row, true);
        true
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::super::seen::tests::seen;
    use super::*;

    fn form() -> FormEditor {
        let schema = json!({
            "properties": {
                "reason": {"type": "string", "minLength": 3},
                "count": {"type": "integer", "default": 2},
                "force": {"type": "boolean"},
                "level": {"enum": ["low", 3]},
                "pin": {"type": "string", "x-a2h-sensitive": true, "default": "0000"},
            },
            "required": ["reason"],
        });
        FormEditor::of(&schema, &seen("a", &json!({})).item)
    }

    fn press(form: &mut FormEditor, codes: &[KeyCode]) {
        for code in codes {
            assert_eq!(form.key((*code).into()), Pressed::Taken, "{code:?}");
        }
    }

    fn type_in(form: &mut FormEditor, text: &str) {
        text.chars().for_each(|letter| press(form, &[KeyCode::Char(letter)]));
    }

    #[test]
    fn a_form_is_filled_in_from_field_to_field() {
        let mut form = form();
        press(&mut form, &[KeyCode::Enter]);
        type_in(&mut form, "tests pass");
        press(
            &mut form,
            &[
                KeyCode::Tab,
                KeyCode::Backspace,
                KeyCode::Char('7'),
                KeyCode::Enter,
                KeyCode::Char(' '),
            ],
        );
        press(&mut form, &[KeyCode::Down, KeyCode::Char('2'), KeyCode::Tab]);
        type_in(&mut form, "4711");
        press(&mut form, &[KeyCode::Tab]);
        let answer = json!({"reason": "tests pass", "count": 7, "force": true, "level": 3, "pin": "4711"});
        assert_eq!(
            form.key(KeyCode::Enter.into()),
            Pressed::Send(Verdict::Answered(answer))
        );
    }

    #[test]
    fn a_fault_is_told_beside_its_field_and_the_cursor_goes_there() {
        let mut form = form();
        press(&mut form, &[KeyCode::Enter]);
        type_in(&mut form, "no");
        press(&mut form, &[KeyCode::Tab, KeyCode::BackTab, KeyCode::BackTab]);
        assert_eq!(form.key(KeyCode::Enter.into()), Pressed::Hint(FAULTY));
        assert_eq!(form.cursor(), 0);
        assert_eq!(form.entries()[0].faults, ["write at least 3 characters"]);
        type_in(&mut form, "t");
        assert!(form.entries()[0].faults.is_empty(), "what is changed is looked at anew");
    }

    #[test]
    fn what_the_hub_refuses_goes_beside_its_field_too() {
        let mut form = form();
        assert!(form.blame("value.count", "value.count: give 1 or more"));
        assert_eq!(form.entries()[1].faults, ["give 1 or more"]);
        assert!(!form.blame("comment", "too long"));
        assert!(!form.blame("value", "not an object"));
    }

    #[test]
    fn a_secret_is_neither_shown_nor_filled_in_beforehand() {
        let mut form = form();
        let pin = form.entries.iter().position(|entry| entry.field.name == "pin").unwrap();
        assert_eq!(form.entries[pin].typing().text(), "");
        form.cursor = pin;
        press(&mut form, &[KeyCode::Enter]);
        type_in(&mut form, "47");
        assert_eq!(form.entries[pin].typing().shown().0, "••");
    }

    #[test]
    fn any_number_of_choices_is_ticked_by_number_or_space() {
        let days = json!({"type": "array", "items": {"enum": ["Mon", "Tue", "Wed"]}, "default": ["Wed"]});
        let schema = json!({"properties": {"days": days, "why": {"type": "string"}}});
        let mut form = FormEditor::of(&schema, &seen("a", &json!({})).item);
        press(&mut form, &[KeyCode::Enter, KeyCode::Char('3'), KeyCode::Char('1')]);
        press(&mut form, &[KeyCode::Down, KeyCode::Char(' ')]);
        assert_eq!(form.cursor(), 0, "the choices are gone through first");
        press(&mut form, &[KeyCode::Down, KeyCode::Down]);
        assert_eq!(form.cursor(), 1);
        press(&mut form, &[KeyCode::Tab]);
        let answer = json!({"days": ["Mon", "Tue"]});
        assert_eq!(
            form.key(KeyCode::Enter.into()),
            Pressed::Send(Verdict::Answered(answer))
        );
        form.cursor = 0;
        press(&mut form, &[KeyCode::Backspace, KeyCode::Tab, KeyCode::Tab]);
        assert_eq!(
            form.key(KeyCode::Enter.into()),
            Pressed::Send(Verdict::Answered(json!({})))
        );
    }

    #[test]
    fn a_form_can_be_answered_in_own_words_where_any_text_is_taken() {
        let schema = json!({"properties": {"why": {"type": "string"}}, "required": ["why"]});
        let item = seen("a", &json!({"open_ended": true})).item;
        for begin in [
            &[KeyCode::Char('o')][..],
            &[KeyCode::Enter, KeyCode::BackTab, KeyCode::Enter],
        ] {
            let mut form = FormEditor::of(&schema, &item);
            press(&mut form, begin);
            type_in(&mut form, "o, ask ann");
            let sent = Pressed::Send(Verdict::Answered(json!("o, ask ann")));
            assert_eq!(form.key(KeyCode::Enter.into()), sent);
            press(&mut form, &[KeyCode::Esc]);
            assert!(!form.is_typing() && !form.is_editing());
        }
        assert_eq!(self::form().key(KeyCode::Char('o').into()), Pressed::Passed);
    }

    #[test]
    fn a_form_that_is_filled_in_is_not_answered_in_own_words_too() {
        let schema = json!({"properties": {"why": {"type": "string"}, "zone": {"enum": ["eu"], "default": "eu"}}});
        let mut form = FormEditor::of(&schema, &seen("a", &json!({"open_ended": true})).item);
        press(&mut form, &[KeyCode::Enter]);
        type_in(&mut form, "load");
        press(&mut form, &[KeyCode::Esc, KeyCode::Char('o')]);
        type_in(&mut form, "ask ann");
        assert_eq!(form.key(KeyCode::Enter.into()), Pressed::Hint(FILLED_IN_AND_WROTE));
        press(&mut form, &[KeyCode::Esc]);
        form.cursor = form.entries.len();
        assert_eq!(form.key(KeyCode::Enter.into()), Pressed::Hint(FILLED_IN_AND_WROTE));
        assert_eq!(form.entries[0].typing().text(), "load", "nothing is lost");
        form.cursor = 0;
        press(&mut form, &[KeyCode::Enter]);
        (0..4).for_each(|_| press(&mut form, &[KeyCode::Backspace]));
        press(&mut form, &[KeyCode::Esc]);
        form.cursor = form.entries.len();
        let words = Pressed::Send(Verdict::Answered(json!("ask ann")));
        assert_eq!(
            form.key(KeyCode::Enter.into()),
            words,
            "a default is not a person's word"
        );
    }

    #[test]
    fn a_pick_can_be_taken_back() {
        let mut form = form();
        form.cursor = 2;
        press(&mut form, &[KeyCode::Enter, KeyCode::Char(' '), KeyCode::Right]);
        assert_eq!(form.entries()[2].picked(), Some(1));
        press(&mut form, &[KeyCode::Char(' ')]);
        assert_eq!(form.entries()[2].picked(), None);
        press(&mut form, &[KeyCode::Left, KeyCode::Backspace]);
        assert_eq!(form.entries()[2].picked(), None);
    }
}
