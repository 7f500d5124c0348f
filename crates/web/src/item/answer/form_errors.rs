//! Errors in a submitted form.

use crate::language::error_text;

/// Error messages by the name of the input they belong to; form-wide errors have an empty name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FormErrors(Vec<(String, String)>);

impl FormErrors {
    pub fn single(control: &str, message: impl Into<String>) -> Self {
        Self(vec![(control.to_owned(), message.into())])
    }

    pub fn add(&mut self, control: impl Into<String>, message: impl Into<String>) {
        self.0.push((control.into(), message.into()));
    }

    pub fn of(&self, control: &str) -> Vec<String> {
        self.0
            .iter()
            .filter(|(name, _)| name == control)
            .map(|(_, message)| error_text(message))
            .collect()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
