//! Unsent answers, kept while the person looks at other items.

use std::collections::VecDeque;

use crate::answer::Editor;
use crate::text_input::TextInput;

const MAX_DRAFTS: usize = 32;

#[derive(Default)]
pub struct Drafts(VecDeque<(String, Editor, TextInput)>);

impl Drafts {
    /// The oldest draft is dropped over the limit.
    pub fn keep(&mut self, id: &str, editor: Editor, comment: TextInput) {
        self.take(id);
        self.0.push_back((id.to_owned(), editor, comment));
        if self.0.len() > MAX_DRAFTS {
            self.0.pop_front();
        }
    }

    pub fn holds(&self, id: &str) -> bool {
        self.0.iter().any(|(known, _, _)| known == id)
    }

    pub fn take(&mut self, id: &str) -> Option<(Editor, TextInput)> {
        let index = self.0.iter().position(|(known, _, _)| known == id)?;
        self.0.remove(index).map(|(_, editor, comment)| (editor, comment))
    }
}
