//! The open item, with the input so far.

use std::sync::Arc;
use std::time::Duration;

use countersign_client::hub::ClientError;

use super::GUARD;
use crate::answer::{Editor, PersonDecision};
use crate::inbox_entry::InboxEntry;
use crate::text_input::TextInput;

/// The status of a message while a decision about it is on hold.
pub const ON_HOLD: &str = "open";

/// How the item ended, from this person's point of view.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ItemEnding {
    None,
    /// The item had ended before it was opened.
    Past,
    Mine,
    /// Another person decided, or the item expired.
    Theirs {
        /// Whether this person had sent an answer, which came too late.
        sent: bool,
    },
    /// An answer was sent without a reply; it may or may not be the one that counts.
    Unclear,
}

#[derive(Debug)]
pub struct OpenItem {
    pub entry: Arc<InboxEntry>,
    /// The editor in its initial state.
    blank: Editor,
    pub editor: Editor,
    pub comment: TextInput,
    /// An unfinished reason, kept when another person decided.
    pub reason: Option<TextInput>,
    pub scroll: usize,
    /// The number of visible text lines, known after drawing.
    pub page: usize,
    pub sending: bool,
    pub ending: ItemEnding,
    /// The status in the hub's reply, before the outcome is read.
    pub taken: Option<String>,
    /// The hub's refusal, unless it is shown beside a field.
    pub refusal: Option<String>,
    unsure: bool,
    appeared: Duration,
}

impl OpenItem {
    pub fn new(entry: Arc<InboxEntry>, draft: Option<(Editor, TextInput)>, elapsed: Duration) -> Self {
        let blank = Editor::of(&entry);
        let (editor, comment) = draft.unwrap_or_else(|| (blank.clone(), TextInput::lines()));
        let ending = if entry.item.resolution.is_some() {
            ItemEnding::Past
        } else {
            ItemEnding::None
        };
        Self {
            entry,
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
        self.entry.id()
    }

    /// Whether input is still possible.
    pub fn takes_answers(&self) -> bool {
        self.ending == ItemEnding::None && !self.sending
    }

    /// The decision that a rejection makes here, if any.
    pub fn rejection(&self) -> Option<PersonDecision> {
        let declined = || self.entry.may_decline().then_some(PersonDecision::Declined);
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

    /// Whether there is input worth keeping.
    pub fn is_begun(&self) -> bool {
        !self.comment.is_blank() || self.editor.without_cursor() != self.blank.without_cursor()
    }

    /// Whether the editor differs from its initial state.
    pub fn is_touched(&self) -> bool {
        self.editor != self.blank
    }

    /// Updates the item with the hub's current version. Once a decision is taken back, the item begins anew.
    pub fn update(&mut self, entry: Arc<InboxEntry>, elapsed: Duration) {
        let was_held = self.entry.item.held.is_some() || self.is_on_hold();
        let is_free = entry.is_open() && entry.item.held.is_none();
        if was_held && is_free && self.editor == Editor::Nothing {
            *self = Self::new(entry, None, elapsed);
            return;
        }
        self.entry = entry;
        if self.is_over() && self.ending == ItemEnding::None && !self.sending {
            self.end(if self.unsure {
                ItemEnding::Unclear
            } else {
                ItemEnding::Theirs { sent: false }
            });
        }
    }

    /// This person's decision is on hold, and can be taken back.
    pub fn is_on_hold(&self) -> bool {
        !self.is_over() && self.taken.as_deref() == Some(ON_HOLD)
    }

    fn is_over(&self) -> bool {
        self.entry.item.resolution.is_some()
    }

    fn end(&mut self, ending: ItemEnding) {
        self.ending = ending;
        self.editor.stop_typing();
        self.refusal = None;
    }

    /// The sent input is dropped, because it may be a secret.
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
