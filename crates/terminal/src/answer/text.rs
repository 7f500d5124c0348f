//! A free text answer.

use countersign_client::item::ClientItem;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::{KeyResult, PersonDecision};
use crate::text_input::TextInput;

/// The key that begins a free text answer.
pub const FREE_TEXT_KEY: char = 'o';

#[derive(Debug, Clone, PartialEq)]
pub struct TextEditor {
    input: TextInput,
    typing: bool,
    /// An empty text is allowed, but needs a second Enter, because the first may be accidental.
    allow_empty: bool,
    warned: bool,
}

impl TextEditor {
    pub fn new(sensitive: bool) -> Self {
        Self {
            input: TextInput::lines().hidden(sensitive),
            typing: false,
            allow_empty: false,
            warned: false,
        }
    }

    pub fn allow_empty(self, allow_empty: bool) -> Self {
        Self { allow_empty, ..self }
    }

    /// A free text row beside the options, if the asker allows one.
    pub fn besides_options(item: &ClientItem, allow_edit: bool) -> Option<Self> {
        (item.open_ended || allow_edit).then(|| Self::new(item.sensitive))
    }

    pub fn begin(&mut self) {
        self.typing = true;
    }

    pub fn input(&self) -> &TextInput {
        &self.input
    }

    pub fn is_typing(&self) -> bool {
        self.typing
    }

    pub fn key(&mut self, key: KeyEvent) -> KeyResult {
        let is_enter = key.code == KeyCode::Enter && !key.modifiers.contains(KeyModifiers::ALT);
        let was_warned = std::mem::take(&mut self.warned);
        match (self.typing, key.code) {
            (false, KeyCode::Enter | KeyCode::Tab) => self.typing = true,
            (false, _) => return KeyResult::Ignored,
            (true, KeyCode::Esc) => self.typing = false,
            (true, _) if is_enter && self.input.is_blank() && self.allow_empty && !was_warned => {
                self.warned = true;
                return KeyResult::Hint("Enter again sends an empty answer");
            }
            (true, _) if is_enter && self.input.is_blank() && !self.allow_empty => {
                return KeyResult::Hint("type an answer first");
            }
            (true, _) if is_enter => return KeyResult::Send(self.answer()),
            (true, _) => {
                self.input.key(key);
            }
        }
        KeyResult::Handled
    }

    fn answer(&self) -> PersonDecision {
        PersonDecision::Answered(self.input.text().into())
    }

    /// The typed answer, if there is any text.
    pub fn verdict(&self) -> Option<PersonDecision> {
        (!self.input.is_blank()).then(|| self.answer())
    }

    pub fn paste(&mut self, text: &str) {
        if self.typing {
            self.input.paste(text);
        }
    }

    pub fn stop_typing(&mut self) {
        (self.typing, self.warned) = (false, false);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn typing_begins_with_enter_and_keys_are_letters_then() {
        let mut editor = TextEditor::new(false);
        assert_eq!(editor.key(KeyCode::Char('q').into()), KeyResult::Ignored);
        editor.key(KeyCode::Enter.into());
        "qa".chars()
            .for_each(|letter| assert_eq!(editor.key(KeyCode::Char(letter).into()), KeyResult::Handled));
        editor.key(KeyEvent::new(KeyCode::Char('j'), KeyModifiers::CONTROL));
        editor.paste("r\r\ns");
        let sent = PersonDecision::Answered(json!("qa\nr\ns"));
        assert_eq!(editor.key(KeyCode::Enter.into()), KeyResult::Send(sent));
    }

    #[test]
    fn an_empty_answer_needs_permission_and_a_second_enter() {
        let mut editor = TextEditor::new(false).allow_empty(true);
        let mut press = |code: KeyCode| editor.key(code.into());
        press(KeyCode::Enter);
        assert!(matches!(press(KeyCode::Enter), KeyResult::Hint(text) if text.contains("again")));
        press(KeyCode::Left);
        assert!(
            matches!(press(KeyCode::Enter), KeyResult::Hint(_)),
            "another key was pressed in between"
        );
        assert_eq!(
            press(KeyCode::Enter),
            KeyResult::Send(PersonDecision::Answered(json!("")))
        );
        let mut strict = TextEditor::new(false);
        for _ in 0..3 {
            strict.key(KeyCode::Enter.into());
        }
        assert!(matches!(
            strict.key(KeyCode::Enter.into()),
            KeyResult::Hint("type an answer first")
        ));
    }

    #[test]
    fn esc_ends_the_typing_and_keeps_the_words() {
        let mut editor = TextEditor::new(false);
        editor.key(KeyCode::Enter.into());
        editor.paste("kept");
        assert_eq!(editor.key(KeyCode::Esc.into()), KeyResult::Handled);
        assert!(!editor.is_typing());
        assert_eq!(editor.input().text(), "kept");
    }
}
