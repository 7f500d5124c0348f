//! An answer in the person's own words.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::super::typing::Typing;
use super::{Pressed, Verdict};
use crate::item::Item;

/// Begins an answer in other words than those offered, wherever one is taken.
pub const OWN_WORDS: char = 'o';

#[derive(Debug, Clone, PartialEq)]
pub struct Words {
    words: Typing,
    typing: bool,
    /// No words at all are an answer too, but not by one key that may have been pressed once too often.
    or_nothing: bool,
    is_warned: bool,
}

impl Words {
    pub fn new(sensitive: bool) -> Self {
        Self {
            words: Typing::lines().hidden(sensitive),
            typing: false,
            or_nothing: false,
            is_warned: false,
        }
    }

    pub fn or_nothing(self, or_nothing: bool) -> Self {
        Self { or_nothing, ..self }
    }

    /// Beside what is offered, where the asker takes other words too.
    pub fn beside(item: &Item, allow_edit: bool) -> Option<Self> {
        (item.open_ended || allow_edit).then(|| Self::new(item.sensitive))
    }

    pub fn begin(&mut self) {
        self.typing = true;
    }

    pub fn words(&self) -> &Typing {
        &self.words
    }

    pub fn is_typing(&self) -> bool {
        self.typing
    }

    pub fn key(&mut self, key: KeyEvent) -> Pressed {
        let is_enter = key.code == KeyCode::Enter && !key.modifiers.contains(KeyModifiers::ALT);
        let was_warned = std::mem::take(&mut self.is_warned);
        match (self.typing, key.code) {
            (false, KeyCode::Enter | KeyCode::Tab) => self.typing = true,
            (false, _) => return Pressed::Passed,
            (true, KeyCode::Esc) => self.typing = false,
            (true, _) if is_enter && self.words.is_blank() && self.or_nothing && !was_warned => {
                self.is_warned = true;
                return Pressed::Hint("Enter again sends an empty answer");
            }
            (true, _) if is_enter && self.words.is_blank() && !self.or_nothing => {
                return Pressed::Hint("type an answer first");
            }
            (true, _) if is_enter => return Pressed::Send(self.answer()),
            (true, _) => {
                self.words.key(key);
            }
        }
        Pressed::Taken
    }

    fn answer(&self) -> Verdict {
        Verdict::Answered(self.words.text().into())
    }

    /// What was written, if anything was.
    pub fn verdict(&self) -> Option<Verdict> {
        (!self.words.is_blank()).then(|| self.answer())
    }

    pub fn paste(&mut self, text: &str) {
        if self.typing {
            self.words.paste(text);
        }
    }

    pub fn rest(&mut self) {
        (self.typing, self.is_warned) = (false, false);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn typing_begins_with_enter_and_keys_are_letters_then() {
        let mut words = Words::new(false);
        assert_eq!(words.key(KeyCode::Char('q').into()), Pressed::Passed);
        words.key(KeyCode::Enter.into());
        "qa".chars()
            .for_each(|letter| assert_eq!(words.key(KeyCode::Char(letter).into()), Pressed::Taken));
        words.key(KeyEvent::new(KeyCode::Char('j'), KeyModifiers::CONTROL));
        words.paste("r\r\ns");
        let sent = Verdict::Answered(json!("qa\nr\ns"));
        assert_eq!(words.key(KeyCode::Enter.into()), Pressed::Send(sent));
    }

    #[test]
    fn nothing_is_an_answer_only_where_it_may_be_and_only_when_meant() {
        let mut words = Words::new(false).or_nothing(true);
        let mut press = |code: KeyCode| words.key(code.into());
        press(KeyCode::Enter);
        assert!(matches!(press(KeyCode::Enter), Pressed::Hint(said) if said.contains("again")));
        press(KeyCode::Left);
        assert!(
            matches!(press(KeyCode::Enter), Pressed::Hint(_)),
            "another key came between"
        );
        assert_eq!(press(KeyCode::Enter), Pressed::Send(Verdict::Answered(json!(""))));
        let mut strict = Words::new(false);
        for _ in 0..3 {
            strict.key(KeyCode::Enter.into());
        }
        assert!(matches!(
            strict.key(KeyCode::Enter.into()),
            Pressed::Hint("type an answer first")
        ));
    }

    #[test]
    fn esc_ends_the_typing_and_keeps_the_words() {
        let mut words = Words::new(false);
        words.key(KeyCode::Enter.into());
        words.paste("kept");
        assert_eq!(words.key(KeyCode::Esc.into()), Pressed::Taken);
        assert!(!words.is_typing());
        assert_eq!(words.words().text(), "kept");
    }
}
