//! A form: its fields, then the row that sends it, then a free text row if the asker allows it. Faults are shown
//! beside their field, found first by the hub's own validator run locally, then by the hub.

mod entry;

use countersign_client::item::ClientItem;
use countersign_core::Rejection;
use countersign_core::form::{check_all, fields};
use countersign_core::question::FILLED_IN_AND_WROTE;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use serde_json::{Map, Value};

use super::rows::moved;
use super::text::{FREE_TEXT_KEY, TextEditor};
use super::{KeyResult, PersonDecision};

pub use entry::FormEntry;

const INVALID_FIELDS: &str = "some fields are not valid yet: see the notes beside them";

#[derive(Debug, Clone, PartialEq)]
pub struct FormEditor {
    schema: Value,
    entries: Vec<FormEntry>,
    /// The row after the last entry sends the form; the row after that is for free text.
    cursor: usize,
    editing: bool,
    other: Option<TextEditor>,
    /// Faults of the answer as a whole.
    faults: Vec<String>,
}

impl FormEditor {
    pub fn of(schema: &Value, item: &ClientItem) -> Self {
        let entries = fields(schema)
            .into_iter()
            .map(|field| FormEntry::of(field, item.sensitive))
            .collect();
        let other = TextEditor::besides_options(item, false);
        Self {
            schema: schema.clone(),
            entries,
            cursor: 0,
            editing: false,
            other,
            faults: Vec::new(),
        }
    }

    pub fn entries(&self) -> &[FormEntry] {
        &self.entries
    }

    pub fn cursor(&self) -> usize {
        self.cursor
    }

    pub fn is_editing(&self) -> bool {
        self.editing
    }

    pub fn other(&self) -> Option<&TextEditor> {
        self.other.as_ref()
    }

    pub fn is_typing(&self) -> bool {
        self.other.as_ref().is_some_and(TextEditor::is_typing)
    }

    fn rows(&self) -> usize {
        self.entries.len() + 1 + usize::from(self.other.is_some())
    }

    pub fn faults(&self) -> &[String] {
        &self.faults
    }

    pub fn key(&mut self, key: KeyEvent) -> KeyResult {
        if let Some(other) = self.other.as_mut().filter(|other| other.is_typing()) {
            return match other.key(key) {
                KeyResult::Send(_) if self.is_filled_in() => KeyResult::Hint(FILLED_IN_AND_WROTE),
                pressed => pressed,
            };
        }
        if self.editing {
            self.edit_key(key)
        } else {
            self.navigate_key(key)
        }
    }

    fn begin(&mut self) -> KeyResult {
        let Some(other) = &mut self.other else {
            return KeyResult::Ignored;
        };
        other.begin();
        (self.cursor, self.editing) = (self.entries.len() + 1, false);
        KeyResult::Handled
    }

    fn navigate_key(&mut self, key: KeyEvent) -> KeyResult {
        if let Some(row) = moved(key, Some(self.cursor), self.rows()) {
            self.cursor = row;
            return KeyResult::Handled;
        }
        match key.code {
            KeyCode::Enter if self.cursor == self.entries.len() => self.send(),
            KeyCode::Enter if self.cursor > self.entries.len() => self.begin(),
            KeyCode::Char(FREE_TEXT_KEY) => self.begin(),
            KeyCode::Enter | KeyCode::Tab => {
                self.editing = true;
                KeyResult::Handled
            }
            _ => KeyResult::Ignored,
        }
    }

    fn edit_key(&mut self, key: KeyEvent) -> KeyResult {
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
        KeyResult::Handled
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

    pub fn reset_cursor(&mut self) {
        self.cursor = 0;
        self.faults.clear();
        for entry in &mut self.entries {
            entry.reset_cursor();
        }
    }

    pub fn stop_typing(&mut self) {
        self.editing = false;
        self.other.iter_mut().for_each(TextEditor::stop_typing);
    }

    fn is_filled_in(&self) -> bool {
        self.entries.iter().any(FormEntry::is_filled_in)
    }

    /// A form is filled in or answered in free text, never both: the meaning would be ambiguous.
    fn send(&mut self) -> KeyResult {
        if let Some(verdict) = self.other.as_ref().and_then(TextEditor::verdict) {
            return if self.is_filled_in() {
                KeyResult::Hint(FILLED_IN_AND_WROTE)
            } else {
                KeyResult::Send(verdict)
            };
        }
        self.faults.clear();
        self.entries.iter_mut().for_each(|entry| entry.faults.clear());
        let answer = self.answer();
        if self.is_faulty() {
            return self.go_to_fault();
        }
        for (name, message) in check_all(&self.schema, &answer) {
            self.add_fault(&name, message);
        }
        if self.is_faulty() {
            self.go_to_fault()
        } else {
            KeyResult::Send(PersonDecision::Answered(answer))
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

    fn go_to_fault(&mut self) -> KeyResult {
        if let Some(row) = self.entries.iter().position(|entry| !entry.faults.is_empty()) {
            self.cursor = row;
            self.editing = true;
        }
        KeyResult::Hint(INVALID_FIELDS)
    }

    fn add_fault(&mut self, name: &str, message: String) {
        match self.entries.iter_mut().find(|entry| entry.field.name == name) {
            Some(entry) => entry.faults.push(message),
            None => self.faults.push(if name.is_empty() {
                message
            } else {
                format!("{name}: {message}")
            }),
        }
    }

    /// `field` has the hub's spelling: `value.` and the name.
    pub fn show_fault(&mut self, field: &str, message: &str) -> bool {
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

    use super::*;
    use crate::inbox_entry::tests::entry;

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
        FormEditor::of(&schema, &entry("a", &json!({})).item)
    }

    fn press(form: &mut FormEditor, codes: &[KeyCode]) {
        for code in codes {
            assert_eq!(form.key((*code).into()), KeyResult::Handled, "{code:?}");
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
            KeyResult::Send(PersonDecision::Answered(answer))
        );
    }

    #[test]
    fn a_fault_is_told_beside_its_field_and_the_cursor_goes_there() {
        let mut form = form();
        press(&mut form, &[KeyCode::Enter]);
        type_in(&mut form, "no");
        press(&mut form, &[KeyCode::Tab, KeyCode::BackTab, KeyCode::BackTab]);
        assert_eq!(form.key(KeyCode::Enter.into()), KeyResult::Hint(INVALID_FIELDS));
        assert_eq!(form.cursor(), 0);
        assert_eq!(form.entries()[0].faults, ["write at least 3 characters"]);
        type_in(&mut form, "t");
        assert!(form.entries()[0].faults.is_empty(), "a change clears the fault");
    }

    #[test]
    fn a_fault_found_by_the_hub_is_shown_beside_its_field() {
        let mut form = form();
        assert!(form.show_fault("value.count", "value.count: give 1 or more"));
        assert_eq!(form.entries()[1].faults, ["give 1 or more"]);
        assert!(!form.show_fault("comment", "too long"));
        assert!(!form.show_fault("value", "not an object"));
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
        let mut form = FormEditor::of(&schema, &entry("a", &json!({})).item);
        press(&mut form, &[KeyCode::Enter, KeyCode::Char('3'), KeyCode::Char('1')]);
        press(&mut form, &[KeyCode::Down, KeyCode::Char(' ')]);
        assert_eq!(form.cursor(), 0, "the cursor moves through the choices first");
        press(&mut form, &[KeyCode::Down, KeyCode::Down]);
        assert_eq!(form.cursor(), 1);
        press(&mut form, &[KeyCode::Tab]);
        let answer = json!({"days": ["Mon", "Tue"]});
        assert_eq!(
            form.key(KeyCode::Enter.into()),
            KeyResult::Send(PersonDecision::Answered(answer))
        );
        form.cursor = 0;
        press(&mut form, &[KeyCode::Backspace, KeyCode::Tab, KeyCode::Tab]);
        assert_eq!(
            form.key(KeyCode::Enter.into()),
            KeyResult::Send(PersonDecision::Answered(json!({})))
        );
    }

    #[test]
    fn a_form_can_be_answered_in_free_text_where_it_is_allowed() {
        let schema = json!({"properties": {"why": {"type": "string"}}, "required": ["why"]});
        let item = entry("a", &json!({"open_ended": true})).item;
        for begin in [
            &[KeyCode::Char('o')][..],
            &[KeyCode::Enter, KeyCode::BackTab, KeyCode::Enter],
        ] {
            let mut form = FormEditor::of(&schema, &item);
            press(&mut form, begin);
            type_in(&mut form, "o, ask ann");
            let sent = KeyResult::Send(PersonDecision::Answered(json!("o, ask ann")));
            assert_eq!(form.key(KeyCode::Enter.into()), sent);
            press(&mut form, &[KeyCode::Esc]);
            assert!(!form.is_typing() && !form.is_editing());
        }
        assert_eq!(self::form().key(KeyCode::Char('o').into()), KeyResult::Ignored);
    }

    #[test]
    fn a_filled_in_form_takes_no_free_text() {
        let schema = json!({"properties": {"why": {"type": "string"}, "zone": {"enum": ["eu"], "default": "eu"}}});
        let mut form = FormEditor::of(&schema, &entry("a", &json!({"open_ended": true})).item);
        press(&mut form, &[KeyCode::Enter]);
        type_in(&mut form, "load");
        press(&mut form, &[KeyCode::Esc, KeyCode::Char('o')]);
        type_in(&mut form, "ask ann");
        assert_eq!(form.key(KeyCode::Enter.into()), KeyResult::Hint(FILLED_IN_AND_WROTE));
        press(&mut form, &[KeyCode::Esc]);
        form.cursor = form.entries.len();
        assert_eq!(form.key(KeyCode::Enter.into()), KeyResult::Hint(FILLED_IN_AND_WROTE));
        assert_eq!(form.entries[0].typing().text(), "load", "nothing is lost");
        form.cursor = 0;
        press(&mut form, &[KeyCode::Enter]);
        (0..4).for_each(|_| press(&mut form, &[KeyCode::Backspace]));
        press(&mut form, &[KeyCode::Esc]);
        form.cursor = form.entries.len();
        let text = KeyResult::Send(PersonDecision::Answered(json!("ask ann")));
        assert_eq!(
            form.key(KeyCode::Enter.into()),
            text,
            "a default does not count as filled in"
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
