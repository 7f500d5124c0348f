//! Several options: ticked one by one and sent together; or free text instead, if the asker allows it.

use countersign_client::item::ClientItem;
use countersign_core::question::PICKED_AND_WROTE;
use countersign_protocol::api::inbox::Choices;
use crossterm::event::{KeyCode, KeyEvent};

use super::rows::{moved, numbered};
use super::text::{FREE_TEXT_KEY, TextEditor};
use super::{KeyResult, PersonDecision};

#[derive(Debug, Clone, PartialEq)]
pub struct ManyEditor {
    values: Vec<String>,
    ticked: Vec<bool>,
    cursor: Option<usize>,
    /// The row after the options.
    other: Option<TextEditor>,
}

impl ManyEditor {
    pub fn of(choices: &Choices, item: &ClientItem) -> Self {
        let values: Vec<String> = choices.options.iter().map(|option| option.value.clone()).collect();
        // `allow_edit` does not apply where several options may be picked.
        Self {
            ticked: vec![false; values.len()],
            values,
            cursor: None,
            other: TextEditor::besides_options(item, false),
        }
    }

    pub fn other(&self) -> Option<&TextEditor> {
        self.other.as_ref()
    }

    pub fn is_typing(&self) -> bool {
        self.other.as_ref().is_some_and(TextEditor::is_typing)
    }

    pub fn paste(&mut self, text: &str) {
        self.other.iter_mut().for_each(|other| other.paste(text));
    }

    pub fn stop_typing(&mut self) {
        self.other.iter_mut().for_each(TextEditor::stop_typing);
    }

    pub fn cursor(&self) -> Option<usize> {
        self.cursor
    }

    pub fn is_ticked(&self, index: usize) -> bool {
        self.ticked.get(index).copied().unwrap_or_default()
    }

    pub fn reset_cursor(&mut self) {
        self.cursor = None;
    }

    pub fn key(&mut self, key: KeyEvent) -> KeyResult {
        if let Some(other) = self.other.as_mut().filter(|other| other.is_typing()) {
            return match other.key(key) {
                KeyResult::Send(_) if self.ticked.contains(&true) => KeyResult::Hint(PICKED_AND_WROTE),
                pressed => pressed,
            };
        }
        let count = self.values.len() + usize::from(self.other.is_some());
        if let Some(row) = moved(key, self.cursor, count) {
            self.cursor = Some(row);
            return KeyResult::Handled;
        }
        if let Some(row) = numbered(key, count) {
            self.cursor = Some(row);
            return self.toggle();
        }
        match key.code {
            KeyCode::Char(' ') => self.toggle(),
            KeyCode::Char(FREE_TEXT_KEY) => self.begin(),
            KeyCode::Enter if self.cursor == Some(self.values.len()) => self.begin(),
            KeyCode::Enter => self.send(),
            _ => KeyResult::Ignored,
        }
    }

    fn begin(&mut self) -> KeyResult {
        let Some(other) = &mut self.other else {
            return KeyResult::Ignored;
        };
        other.begin();
        self.cursor = Some(self.values.len());
        KeyResult::Handled
    }

    fn toggle(&mut self) -> KeyResult {
        if self.cursor == Some(self.values.len()) {
            return self.begin();
        }
        let Some(tick) = self.cursor.and_then(|row| self.ticked.get_mut(row)) else {
            return KeyResult::Hint("go to one first: its number, or j and k");
        };
        *tick = !*tick;
        KeyResult::Handled
    }

    fn send(&self) -> KeyResult {
        let picked: Vec<&str> = self
            .values
            .iter()
            .zip(&self.ticked)
            .filter(|(_, ticked)| **ticked)
            .map(|(value, _)| value.as_str())
            .collect();
        if picked.is_empty() {
            return KeyResult::Hint("tick at least one first, with Space or its number");
        }
        if self.other.as_ref().and_then(TextEditor::verdict).is_some() {
            return KeyResult::Hint(PICKED_AND_WROTE);
        }
        KeyResult::Send(PersonDecision::Answered(picked.into()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::inbox_entry::tests::entry;

    fn ticks(options: &[serde_json::Value], open_ended: bool) -> ManyEditor {
        let choices = serde_json::from_value(json!({"options": options, "many": true})).unwrap();
        ManyEditor::of(&choices, &entry("a", &json!({ "open_ended": open_ended })).item)
    }

    #[test]
    fn ticked_options_are_sent_in_the_order_offered() {
        let options = ["a", "b", "c"].map(|value| json!({"value": value, "label": value}));
        let mut ticks = ticks(&options, false);
        assert!(matches!(ticks.key(KeyCode::Enter.into()), KeyResult::Hint(_)));
        assert!(matches!(ticks.key(KeyCode::Char(' ').into()), KeyResult::Hint(_)));
        for code in [
            KeyCode::Char('3'),
            KeyCode::Char('2'),
            KeyCode::Char('2'),
            KeyCode::Up,
            KeyCode::Char(' '),
        ] {
            assert_eq!(ticks.key(code.into()), KeyResult::Handled);
        }
        assert_eq!(
            ticks.key(KeyCode::Enter.into()),
            KeyResult::Send(PersonDecision::Answered(json!(["a", "c"])))
        );
        assert_eq!(
            ticks.key(KeyCode::Char('o').into()),
            KeyResult::Ignored,
            "nothing else is taken"
        );
    }

    #[test]
    fn free_text_and_ticks_exclude_each_other() {
        let options = ["a", "b"].map(|value| json!({"value": value, "label": value}));
        for begin in [
            &[KeyCode::Char('o')][..],
            &[KeyCode::Char('3')],
            &[KeyCode::Up, KeyCode::Enter],
        ] {
            let mut ticks = ticks(&options, true);
            ticks.key(KeyCode::Char('1').into());
            ticks.reset_cursor();
            begin
                .iter()
                .for_each(|code| assert_eq!(ticks.key((*code).into()), KeyResult::Handled));
            assert!(ticks.is_typing(), "{begin:?}");
            "1 or 2"
                .chars()
                .for_each(|letter| assert_eq!(ticks.key(KeyCode::Char(letter).into()), KeyResult::Handled));
            assert_eq!(ticks.key(KeyCode::Enter.into()), KeyResult::Hint(PICKED_AND_WROTE));
            ticks.key(KeyCode::Esc.into());
            ticks.reset_cursor();
            assert_eq!(
                ticks.key(KeyCode::Enter.into()),
                KeyResult::Hint(PICKED_AND_WROTE),
                "the other way round"
            );
            assert!(ticks.is_ticked(0), "nothing entered is lost");
            ticks.key(KeyCode::Char('1').into());
            ticks.key(KeyCode::Char('o').into());
            assert_eq!(
                ticks.key(KeyCode::Enter.into()),
                KeyResult::Send(PersonDecision::Answered(json!("1 or 2")))
            );
        }
    }
}
