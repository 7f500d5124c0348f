//! The item a person looks at, with what they have entered so far.

use std::sync::Arc;
use std::time::Duration;

use super::super::answer::{Editor, PersonDecision};
use super::super::seen::ItemDetails;
use super::super::typing::TextInput;
use super::GUARD;
use crate::client::ClientError;

/// How it came to its end, as far as the person in front of it is concerned.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ItemEnding {
    None,
    /// It was over before it was opened.
    Past,
    Mine,
    /// Somebody was faster, or it expired.
    Theirs {
        /// Whether this person had sent an answer too, which then lost.
        sent: bool,
    },
    /// An answer was sent and nothing came back; it may have been this one.
    Unclear,
}

#[derive(Debug)]
pub struct OpenItem {
    pub details: Arc<ItemDetails>,
    /// The editor as it was at first.
    blank: Editor,
    pub editor: Editor,
    pub comment: TextInput,
    /// A reason that was being typed when somebody else decided.
    pub reason: Option<TextInput>,
    pub scroll: usize,
    /// How many lines of the text are seen at once, known when it has been drawn.
    pub page: usize,
    pub sending: bool,
    pub ending: ItemEnding,
    /// The status the hub gave to what was sent, before the outcome has been read.
    pub taken: Option<String>,
    /// What the hub did not like, and where no field of the editor is meant.
    pub refusal: Option<String>,
    unsure: bool,
    appeared: Duration,
}

impl OpenItem {
    pub fn new(details: Arc<ItemDetails>, draft: Option<(Editor, TextInput)>, elapsed: Duration) -> Self {
        let blank = Editor::of(&details);
        let (editor, comment) = draft.unwrap_or_else(|| (blank.clone(), TextInput::lines()));
        let ending = if details.item.resolution.is_some() {
            ItemEnding::Past
        } else {
            ItemEnding::None
        };
        Self {
            details,
            blank,
            editor,
            comment,
            reason: None,
            scroll: 0,
            page: 0,
            sending: false,
            ending,
            taken: None,
            refusal: None,
            unsure: false,
            appeared: elapsed,
        }
    }

    pub fn id(&self) -> &str {
        self.details.id()
    }

    /// Whether the person may still enter something.
    pub fn takes_answers(&self) -> bool {
        self.ending == ItemEnding::None && !self.sending
    }

    /// What a no comes to here, if there is one.
    pub fn rejection(&self) -> Option<PersonDecision> {
        let declined = || self.details.may_decline().then_some(PersonDecision::Declined);
        self.editor.deny().or_else(declined)
    }

    pub fn is_typing(&self) -> bool {
        self.takes_answers() && self.editor.is_typing()
    }

    pub fn guard_left(&self, elapsed: Duration) -> Duration {
        if self.ending == ItemEnding::None {
            GUARD.saturating_sub(elapsed.saturating_sub(self.appeared))
        } else {
            Duration::ZERO
        }
    }

    /// Whether there is something in it that would be missed.
    pub fn is_begun(&self) -> bool {
        !self.comment.is_blank() || self.editor.without_cursor() != self.blank.without_cursor()
    }

    /// Whether the editor shows anything but its beginning.
    pub fn is_touched(&self) -> bool {
        self.editor != self.blank
    }

    /// The item as the hub has it now.
    pub fn update(&mut self, details: Arc<ItemDetails>) {
        self.details = details;
        if self.is_over() && self.ending == ItemEnding::None && !self.sending {
            self.end(if self.unsure {
                ItemEnding::Unclear
            } else {
                ItemEnding::Theirs { sent: false }
            });
        }
    }

    fn is_over(&self) -> bool {
        self.details.item.resolution.is_some()
    }

    fn end(&mut self, ending: ItemEnding) {
        self.ending = ending;
        self.editor.stop_typing();
        self.refusal = None;
    }

    /// Nothing of what was sent is kept: it may be a secret.
    pub fn accepted(&mut self, status: String) {
        self.sending = false;
        self.end(ItemEnding::Mine);
        self.taken = Some(status);
        (self.editor, self.blank) = (Editor::Nothing, Editor::Nothing);
        self.comment = TextInput::lines();
    }

    pub fn refused(&mut self, error: &ClientError) {
        self.sending = false;
        match error {
            _ if error.has_code("already_terminal") => {
                self.end(if self.unsure {
                    ItemEnding::Unclear
                } else {
                    ItemEnding::Theirs { sent: true }
                });
            }
            ClientError::Refused { field, message, .. } => {
                let blamed = field
                    .as_deref()
                    .is_some_and(|field| self.editor.show_fault(field, message));
                self.refusal = (!blamed).then(|| message.clone());
            }
            ClientError::Unreachable(_) | ClientError::UnexpectedResponse(_) => {
                self.unsure = true;
                if self.is_over() {
                    return self.end(ItemEnding::Unclear);
                }
                self.refusal = Some(format!(
                    "{error}. It is not known whether your answer arrived; sending it again is safe."
                ));
            }
        }
    }
}
