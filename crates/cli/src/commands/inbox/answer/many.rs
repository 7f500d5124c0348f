//! Several of the options: ticked one by one, sent together.

use crossterm::event::{KeyCode, KeyEvent};

use super::rows::{moved, numbered};
use super::{Pressed, Verdict};
use crate::item::Choices;

#[derive(Debug, Clone, PartialEq)]
pub struct Ticks {
    values: Vec<String>,
    ticked: Vec<bool>,
    cursor: Option<usize>,
}

impl Ticks {
    pub fn of(choices: &Choices) -> Self {
        let values: Vec<String> = choices.options.iter().map(|option| option.value.clone()).collect();
        Self { ticked: vec![false; values.len()], values, cursor: None }
    }

    pub fn cursor(&self) -> Option<usize> {
        self.cursor
    }

    pub fn is_ticked(&self, index: usize) -> bool {
        self.ticked.get(index).copied().unwrap_or_default()
    }

    pub fn leave(&mut self) {
        self.cursor = None;
    }

    pub fn key(&mut self, key: KeyEvent) -> Pressed {
        let count = self.values.len();
        if let Some(row) = moved(key, self.cursor, count) {
            self.cursor = Some(row);
            return Pressed::Taken;
        }
        if let Some(row) = numbered(key, count) {
            self.cursor = Some(row);
            return self.toggle();
        }
        match key.code {
            KeyCode::Char(' ') => self.toggle(),
            KeyCode::Enter => self.send(),
            _ => Pressed::Passed,
        }
    }

    fn toggle(&mut self) -> Pressed {
        let Some(tick) = self.cursor.and_then(|row| self.ticked.get_mut(row)) else {
            return Pressed::Hint("go to one first: its number, or j and k");
        };
        *tick = !*tick;
        Pressed::Taken
    }

    fn send(&self) -> Pressed {
        let picked: Vec<&str> = self
            .values
            .iter()
            .zip(&self.ticked)
            .filter(|(_, ticked)| **ticked)
            .map(|(value, _)| value.as_str())
            .collect();
        if picked.is_empty() {
            return Pressed::Hint("tick at least one first, with Space or its number");
        }
        Pressed::Send(Verdict::Answered(picked.into()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_ticked_is_sent_in_the_order_it_was_offered() {
        let options = ["a", "b", "c"].map(|value| json!({"value": value, "label": value}));
        let mut ticks = Ticks::of(&serde_json::from_value(json!({"options": options, "many": true})).unwrap());
        assert!(matches!(ticks.key(KeyCode::Enter.into()), Pressed::Hint(_)));
        assert!(matches!(ticks.key(KeyCode::Char(' ').into()), Pressed::Hint(_)));
        for code in [KeyCode::Char('3'), KeyCode::Char('2'), KeyCode::Char('2'), KeyCode::Up, KeyCode::Char(' ')] {
            assert_eq!(ticks.key(code.into()), Pressed::Taken);
        }
        assert_eq!(ticks.key(KeyCode::Enter.into()), Pressed::Send(Verdict::Answered(json!(["a", "c"]))));
    }
}
