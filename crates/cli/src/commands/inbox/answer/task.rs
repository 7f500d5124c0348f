//! A task: steps to tick off, then complete or dismiss.

use crossterm::event::{KeyCode, KeyEvent};

use super::rows::{moved, numbered};
use super::{Pressed, Verdict};
use crate::item::{Action, Step};

#[derive(Debug, Clone, PartialEq)]
pub struct Steps {
    steps: Vec<Step>,
    /// After the steps come two more rows: complete, and dismiss.
    cursor: Option<usize>,
}

impl Steps {
    pub fn of(action: &Action) -> Self {
        Self {
            steps: action.checklist.clone().unwrap_or_default(),
            cursor: None,
        }
    }

    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    pub fn cursor(&self) -> Option<usize> {
        self.cursor
    }

    pub fn complete(&self) -> Verdict {
        Verdict::Completed(self.steps.clone())
    }

    pub fn dismiss(&self) -> Verdict {
        Verdict::Dismissed(self.steps.clone())
    }

    pub fn leave(&mut self) {
        self.cursor = None;
    }

    pub fn key(&mut self, key: KeyEvent) -> Pressed {
        if let Some(row) = moved(key, self.cursor, self.steps.len() + 2) {
            self.cursor = Some(row);
            return Pressed::Taken;
        }
        if let Some(row) = numbered(key, self.steps.len()) {
            self.cursor = Some(row);
            return self.toggle(row);
        }
        match (key.code, self.cursor) {
            (KeyCode::Enter | KeyCode::Char(' '), None) => Pressed::Hint("go to a row first, with j and k"),
            (KeyCode::Enter, Some(row)) if row == self.steps.len() => Pressed::Send(self.complete()),
            (KeyCode::Enter, Some(row)) if row > self.steps.len() => Pressed::Send(self.dismiss()),
            (KeyCode::Enter | KeyCode::Char(' '), Some(row)) => self.toggle(row),
            _ => Pressed::Passed,
        }
    }

    fn toggle(&mut self, row: usize) -> Pressed {
        if let Some(step) = self.steps.get_mut(row) {
            step.done = !step.done;
        }
        Pressed::Taken
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn steps() -> Steps {
        let checklist = json!([{"text": "a", "done": true}, {"text": "b"}]);
        Steps::of(&serde_json::from_value(json!({"instructions": "do", "checklist": checklist})).unwrap())
    }

    fn done(steps: &Steps) -> Vec<bool> {
        steps.steps().iter().map(|step| step.done).collect()
    }

    #[test]
    fn steps_are_ticked_and_sent_back() {
        let mut steps = steps();
        assert!(matches!(steps.key(KeyCode::Enter.into()), Pressed::Hint(_)));
        steps.key(KeyCode::Char('2').into());
        assert_eq!(done(&steps), [true, true]);
        steps.key(KeyCode::Char(' ').into());
        assert_eq!(done(&steps), [true, false]);
        steps.key(KeyCode::Down.into());
        assert_eq!(steps.key(KeyCode::Enter.into()), Pressed::Send(steps.complete()));
        steps.key(KeyCode::Down.into());
        assert_eq!(steps.key(KeyCode::Enter.into()), Pressed::Send(steps.dismiss()));
    }

    #[test]
    fn space_never_ends_a_task() {
        let mut steps = steps();
        steps.key(KeyCode::Up.into());
        assert_eq!(steps.key(KeyCode::Char(' ').into()), Pressed::Taken);
    }
}
