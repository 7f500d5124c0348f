//! A task: steps to tick off, then say that it is done, or that it can't be done.

use countersign_protocol::api::inbox::{ChecklistStep, TaskDetails};
use crossterm::event::{KeyCode, KeyEvent};

use super::rows::{moved, numbered};
use super::{KeyResult, PersonDecision};

#[derive(Debug, Clone, PartialEq)]
pub struct TaskEditor {
    steps: Vec<ChecklistStep>,
    /// Two rows follow the steps: Done and Can't do.
    cursor: Option<usize>,
}

impl TaskEditor {
    pub fn of(action: &TaskDetails) -> Self {
        Self {
            steps: action.checklist.clone().unwrap_or_default(),
            cursor: None,
        }
    }

    pub fn steps(&self) -> &[ChecklistStep] {
        &self.steps
    }

    pub fn cursor(&self) -> Option<usize> {
        self.cursor
    }

    pub fn complete(&self) -> PersonDecision {
        PersonDecision::Completed(self.steps.clone())
    }

    pub fn dismiss(&self) -> PersonDecision {
        PersonDecision::Dismissed(self.steps.clone())
    }

    pub fn reset_cursor(&mut self) {
        self.cursor = None;
    }

    pub fn key(&mut self, key: KeyEvent) -> KeyResult {
        if let Some(row) = moved(key, self.cursor, self.steps.len() + 2) {
            self.cursor = Some(row);
            return KeyResult::Handled;
        }
        if let Some(row) = numbered(key, self.steps.len()) {
            self.cursor = Some(row);
            return self.toggle(row);
        }
        match (key.code, self.cursor) {
            (KeyCode::Enter | KeyCode::Char(' '), None) => KeyResult::Hint("go to a row first, with j and k"),
            (KeyCode::Enter, Some(row)) if row == self.steps.len() => KeyResult::Send(self.complete()),
            (KeyCode::Enter, Some(row)) if row > self.steps.len() => KeyResult::Send(self.dismiss()),
            (KeyCode::Enter | KeyCode::Char(' '), Some(row)) => self.toggle(row),
            _ => KeyResult::Ignored,
        }
    }

    fn toggle(&mut self, row: usize) -> KeyResult {
        if let Some(step) = self.steps.get_mut(row) {
            step.done = !step.done;
        }
        KeyResult::Handled
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn steps() -> TaskEditor {
        let checklist = json!([{"text": "a", "done": true}, {"text": "b"}]);
        TaskEditor::of(&serde_json::from_value(json!({"instructions": "do", "checklist": checklist})).unwrap())
    }

    fn done(steps: &TaskEditor) -> Vec<bool> {
        steps.steps().iter().map(|step| step.done).collect()
    }

    #[test]
    fn steps_are_ticked_and_sent_back() {
        let mut steps = steps();
        assert!(matches!(steps.key(KeyCode::Enter.into()), KeyResult::Hint(_)));
        steps.key(KeyCode::Char('2').into());
        assert_eq!(done(&steps), [true, true]);
        steps.key(KeyCode::Char(' ').into());
        assert_eq!(done(&steps), [true, false]);
        steps.key(KeyCode::Down.into());
        assert_eq!(steps.key(KeyCode::Enter.into()), KeyResult::Send(steps.complete()));
        steps.key(KeyCode::Down.into());
        assert_eq!(steps.key(KeyCode::Enter.into()), KeyResult::Send(steps.dismiss()));
    }

    #[test]
    fn space_never_ends_a_task() {
        let mut steps = steps();
        steps.key(KeyCode::Up.into());
        assert_eq!(steps.key(KeyCode::Char(' ').into()), KeyResult::Handled);
    }
}
