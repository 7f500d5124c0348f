//! One of several options, or free text if the asker allows it.

use countersign_client::item::ClientItem;
use countersign_core::question::yes_and_no;
use countersign_protocol::api::inbox::Choices;
use crossterm::event::{KeyCode, KeyEvent};

use super::rows::{moved, numbered};
use super::text::{FREE_TEXT_KEY, TextEditor};
use super::{KeyResult, PersonDecision};

#[derive(Debug, Clone, PartialEq)]
pub struct ChoiceEditor {
    values: Vec<String>,
    cursor: Option<usize>,
    /// The row after the options: free text.
    other: Option<TextEditor>,
    approve: Option<usize>,
    deny: Option<usize>,
}

impl ChoiceEditor {
    pub fn select(choices: &Choices, item: &ClientItem) -> Self {
        let values: Vec<String> = choices.options.iter().map(|option| option.value.clone()).collect();
        let other = TextEditor::besides_options(item, choices.allow_edit);
        Self {
            values,
            cursor: None,
            other,
            approve: None,
            deny: None,
        }
    }

    pub fn confirm(choices: &Choices, item: &ClientItem) -> Self {
        let pick = Self::select(choices, item);
        let (approve, deny) = yes_and_no(&pick.values);
        Self { approve, deny, ..pick }
    }

    pub fn cursor(&self) -> Option<usize> {
        self.cursor
    }

    pub fn other(&self) -> Option<&TextEditor> {
        self.other.as_ref()
    }

    pub fn is_typing(&self) -> bool {
        self.other.as_ref().is_some_and(TextEditor::is_typing)
    }

    /// The option's single key, shown beside it, so that a person need not guess what `a` means.
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

    fn answer(&self, index: usize) -> Option<PersonDecision> {
        self.values
            .get(index)
            .map(|value| PersonDecision::Answered(value.as_str().into()))
    }

    pub fn approve(&self) -> Option<PersonDecision> {
        self.answer(self.approve?)
    }

    pub fn deny(&self) -> Option<PersonDecision> {
        self.answer(self.deny?)
    }

    pub fn reset_cursor(&mut self) {
        self.cursor = None;
    }

    pub fn key(&mut self, key: KeyEvent) -> KeyResult {
        if let Some(other) = self.other.as_mut().filter(|other| other.is_typing()) {
            return other.key(key);
        }
        let count = self.count();
        if let Some(row) = moved(key, self.cursor, count).or_else(|| numbered(key, count)) {
            self.cursor = Some(row);
            return KeyResult::Handled;
        }
        match (key.code, self.cursor) {
            (KeyCode::Enter, None) => KeyResult::Hint("pick one first: its number, or j and k"),
            (KeyCode::Enter, Some(row)) => match self.answer(row) {
                Some(verdict) => KeyResult::Send(verdict),
                None => self.begin(),
            },
            (KeyCode::Char(FREE_TEXT_KEY), _) => self.begin(),
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

    pub fn paste(&mut self, text: &str) {
        self.other.iter_mut().for_each(|other| other.paste(text));
    }

    pub fn stop_typing(&mut self) {
        self.other.iter_mut().for_each(TextEditor::stop_typing);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::inbox_entry::tests::entry;

    fn choices(values: &[&str], allow_edit: bool) -> Choices {
        let options: Vec<_> = values
            .iter()
            .map(|value| json!({"value": value, "label": value}))
            .collect();
        serde_json::from_value(json!({"options": options, "allow_edit": allow_edit})).unwrap()
    }

    fn item(open_ended: bool) -> ClientItem {
        entry("a", &json!({ "open_ended": open_ended })).item
    }

    fn press(pick: &mut ChoiceEditor, code: KeyCode) -> KeyResult {
        pick.key(code.into())
    }

    fn answered(value: &str) -> KeyResult {
        KeyResult::Send(PersonDecision::Answered(json!(value)))
    }

    #[test]
    fn nothing_is_chosen_until_a_person_chooses() {
        let mut pick = ChoiceEditor::confirm(&choices(&["approve", "deny"], false), &item(false));
        assert!(matches!(press(&mut pick, KeyCode::Enter), KeyResult::Hint(_)));
        assert_eq!(press(&mut pick, KeyCode::Char('2')), KeyResult::Handled);
        assert_eq!(press(&mut pick, KeyCode::Enter), answered("deny"));
        press(&mut pick, KeyCode::Char('k'));
        assert_eq!(press(&mut pick, KeyCode::Enter), answered("approve"));
        assert_eq!(press(&mut pick, KeyCode::Char('3')), KeyResult::Ignored);
    }

    #[test]
    fn one_key_means_yes_only_where_that_is_clear() {
        let roles = |values: &[&str]| {
            let pick = ChoiceEditor::confirm(&choices(values, false), &item(false));
            (
                pick.approve.map(|at| pick.values[at].clone()),
                pick.deny.map(|at| pick.values[at].clone()),
            )
        };
        let named = |yes: Option<&str>, no: Option<&str>| (yes.map(str::to_owned), no.map(str::to_owned));
        assert_eq!(roles(&["approve", "deny"]), named(Some("approve"), Some("deny")));
        assert_eq!(roles(&["deny", "approve"]), named(Some("approve"), Some("deny")));
        assert_eq!(
            roles(&["ship", "hold"]),
            named(None, None),
            "the position has no meaning"
        );
        assert_eq!(roles(&["deny", "ship"]), named(None, Some("deny")));
        assert_eq!(roles(&["approve", "later"]), named(Some("approve"), None));
        assert_eq!(roles(&["a", "b", "c"]), named(None, None));
        assert_eq!(
            ChoiceEditor::select(&choices(&["approve", "deny"], false), &item(false)).approve(),
            None
        );
    }

    #[test]
    fn other_words_are_typed_in_the_row_after_the_options() {
        let mut pick = ChoiceEditor::select(&choices(&["blue", "green"], true), &item(false));
        press(&mut pick, KeyCode::Char('3'));
        press(&mut pick, KeyCode::Enter);
        assert!(pick.is_typing());
        assert!(matches!(press(&mut pick, KeyCode::Enter), KeyResult::Hint(_)));
        "a2 q"
            .chars()
            .for_each(|letter| assert_eq!(press(&mut pick, KeyCode::Char(letter)), KeyResult::Handled));
        assert_eq!(press(&mut pick, KeyCode::Enter), answered("a2 q"));
        press(&mut pick, KeyCode::Esc);
        assert!(!pick.is_typing());
        assert_eq!(pick.other().map(|other| other.input().text()), Some("a2 q"));
    }

    #[test]
    fn one_key_begins_free_text_where_it_is_allowed() {
        let mut pick = ChoiceEditor::confirm(&choices(&["approve", "deny"], false), &item(true));
        assert_eq!(press(&mut pick, KeyCode::Char('o')), KeyResult::Handled);
        "o no"
            .chars()
            .for_each(|letter| assert_eq!(press(&mut pick, KeyCode::Char(letter)), KeyResult::Handled));
        assert_eq!(press(&mut pick, KeyCode::Enter), answered("o no"));
        let mut strict = ChoiceEditor::confirm(&choices(&["approve", "deny"], false), &item(false));
        assert_eq!(press(&mut strict, KeyCode::Char('o')), KeyResult::Ignored);
    }
}
