//! One of several options, or other words where the asker allows them.

use countersign_core::question::yes_and_no;
use crossterm::event::{KeyCode, KeyEvent};

use super::rows::{moved, numbered};
use super::text::{OWN_WORDS, Words};
use super::{Pressed, Verdict};
use crate::item::{Choices, Item};

#[derive(Debug, Clone, PartialEq)]
pub struct Pick {
    values: Vec<String>,
    cursor: Option<usize>,
    /// The row after the options: an answer in other words.
    other: Option<Words>,
    approve: Option<usize>,
    deny: Option<usize>,
}

impl Pick {
    pub fn select(choices: &Choices, item: &Item) -> Self {
        let values: Vec<String> = choices.options.iter().map(|option| option.value.clone()).collect();
        let other = Words::beside(item, choices.allow_edit);
        Self {
            values,
            cursor: None,
            other,
            approve: None,
            deny: None,
        }
    }

    pub fn confirm(choices: &Choices, item: &Item) -> Self {
        let pick = Self::select(choices, item);
        let (approve, deny) = yes_and_no(&pick.values);
        Self { approve, deny, ..pick }
    }

    pub fn cursor(&self) -> Option<usize> {
        self.cursor
    }

    pub fn other(&self) -> Option<&Words> {
        self.other.as_ref()
    }

    pub fn is_typing(&self) -> bool {
        self.other.as_ref().is_some_and(Words::is_typing)
    }

    /// The single key of an option, to be shown beside it: nobody should have to guess which one `a` means.
    pub fn key_of(&self, index: usize) -> Option<char> {
        match index {
            _ if self.approve == Some(index) => Some('a'),
            _ if self.deny == Some(index) => Some('r'),
            _ => None,
        }
    }

    fn count(&self) -> usize {
        self.values.len() + usize::from(self.other.is_some())
    }

    fn answer(&self, index: usize) -> Option<Verdict> {
        self.values
            .get(index)
            .map(|value| Verdict::Answered(value.as_str().into()))
    }

    pub fn approve(&self) -> Option<Verdict> {
        self.answer(self.approve?)
    }

    pub fn deny(&self) -> Option<Verdict> {
        self.answer(self.deny?)
    }

    pub fn leave(&mut self) {
        self.cursor = None;
    }

    pub fn key(&mut self, key: KeyEvent) -> Pressed {
        if let Some(other) = self.other.as_mut().filter(|other| other.is_typing()) {
            return other.key(key);
        }
        let count = self.count();
        if let Some(row) = moved(key, self.cursor, count).or_else(|| numbered(key, count)) {
            self.cursor = Some(row);
            return Pressed::Taken;
        }
        match (key.code, self.cursor) {
            (KeyCode::Enter, None) => Pressed::Hint("pick one first: its number, or j and k"),
            (KeyCode::Enter, Some(row)) => match self.answer(row) {
                Some(verdict) => Pressed::Send(verdict),
                None => self.begin(),
            },
            (KeyCode::Char(OWN_WORDS), _) => self.begin(),
            _ => Pressed::Passed,
        }
    }

    fn begin(&mut self) -> Pressed {
        let Some(other) = &mut self.other else {
            return Pressed::Passed;
        };
        other.begin();
        self.cursor = Some(self.values.len());
        Pressed::Taken
    }

    pub fn paste(&mut self, text: &str) {
        self.other.iter_mut().for_each(|other| other.paste(text));
    }

    pub fn rest(&mut self) {
        self.other.iter_mut().for_each(Words::rest);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::super::seen::tests::seen;
    use super::*;

    fn choices(values: &[&str], allow_edit: bool) -> Choices {
        let options: Vec<_> = values
            .iter()
            .map(|value| json!({"value": value, "label": value}))
            .collect();
        serde_json::from_value(json!({"options": options, "allow_edit": allow_edit})).unwrap()
    }

    fn item(open_ended: bool) -> Item {
        seen("a", &json!({ "open_ended": open_ended })).item
    }

    fn press(pick: &mut Pick, code: KeyCode) -> Pressed {
        pick.key(code.into())
    }

    fn answered(value: &str) -> Pressed {
        Pressed::Send(Verdict::Answered(json!(value)))
    }

    #[test]
    fn nothing_is_chosen_until_a_person_chooses() {
        let mut pick = Pick::confirm(&choices(&["approve", "deny"], false), &item(false));
        assert!(matches!(press(&mut pick, KeyCode::Enter), Pressed::Hint(_)));
        assert_eq!(press(&mut pick, KeyCode::Char('2')), Pressed::Taken);
        assert_eq!(press(&mut pick, KeyCode::Enter), answered("deny"));
        press(&mut pick, KeyCode::Char('k'));
        assert_eq!(press(&mut pick, KeyCode::Enter), answered("approve"));
        assert_eq!(press(&mut pick, KeyCode::Char('3')), Pressed::Passed);
    }

    #[test]
    fn one_key_means_yes_only_where_that_is_clear() {
        let roles = |values: &[&str]| {
            let pick = Pick::confirm(&choices(values, false), &item(false));
            (
                pick.approve.map(|at| pick.values[at].clone()),
                pick.deny.map(|at| pick.values[at].clone()),
            )
        };
        let named = |yes: Option<&str>, no: Option<&str>| (yes.map(str::to_owned), no.map(str::to_owned));
        assert_eq!(roles(&["approve", "deny"]), named(Some("approve"), Some("deny")));
        assert_eq!(roles(&["deny", "approve"]), named(Some("approve"), Some("deny")));
        assert_eq!(roles(&["ship", "hold"]), named(None, None), "a place says nothing");
        assert_eq!(roles(&["deny", "ship"]), named(None, Some("deny")));
        assert_eq!(roles(&["approve", "later"]), named(Some("approve"), None));
        assert_eq!(roles(&["a", "b", "c"]), named(None, None));
        assert_eq!(
            Pick::select(&choices(&["approve", "deny"], false), &item(false)).approve(),
            None
        );
    }

    #[test]
    fn other_words_are_typed_in_the_row_after_the_options() {
        let mut pick = Pick::select(&choices(&["blue", "green"], true), &item(false));
        press(&mut pick, KeyCode::Char('3'));
        press(&mut pick, KeyCode::Enter);
        assert!(pick.is_typing());
        assert!(matches!(press(&mut pick, KeyCode::Enter), Pressed::Hint(_)));
        "a2 q"
            .chars()
            .for_each(|letter| assert_eq!(press(&mut pick, KeyCode::Char(letter)), Pressed::Taken));
        assert_eq!(press(&mut pick, KeyCode::Enter), answered("a2 q"));
        press(&mut pick, KeyCode::Esc);
        assert!(!pick.is_typing());
        assert_eq!(pick.other().map(|other| other.words().text()), Some("a2 q"));
    }

    #[test]
    fn one_key_begins_own_words_where_any_text_is_taken() {
        let mut pick = Pick::confirm(&choices(&["approve", "deny"], false), &item(true));
        assert_eq!(press(&mut pick, KeyCode::Char('o')), Pressed::Taken);
        "o no"
            .chars()
            .for_each(|letter| assert_eq!(press(&mut pick, KeyCode::Char(letter)), Pressed::Taken));
        assert_eq!(press(&mut pick, KeyCode::Enter), answered("o no"));
        let mut strict = Pick::confirm(&choices(&["approve", "deny"], false), &item(false));
        assert_eq!(press(&mut strict, KeyCode::Char('o')), Pressed::Passed);
    }
}
