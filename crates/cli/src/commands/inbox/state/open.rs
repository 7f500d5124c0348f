//! The item a person looks at, with what they have entered so far.

use std::sync::Arc;
use std::time::Duration;

use super::super::answer::{Editor, Verdict};
use super::super::seen::Seen;
use super::super::typing::Typing;
use super::GUARD;
use crate::client::HubError;

/// How it came to its end, as far as the person in front of it is concerned.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ending {
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
pub struct Open {
    pub seen: Arc<Seen>,
    /// The editor as it was at first.
    blank: Editor,
    pub editor: Editor,
    pub comment: Typing,
    /// A reason that was being typed when somebody else decided.
    pub reason: Option<Typing>,
    pub scroll: usize,
    /// How many lines of the text are seen at once, known when it has been drawn.
    pub page: usize,
    pub sending: bool,
    pub ending: Ending,
    /// The status the hub gave to what was sent, before the outcome has been read.
    pub taken: Option<String>,
    /// What the hub did not like, and where no field of the editor is meant.
    pub refusal: Option<String>,
    unsure: bool,
    appeared: Duration,
}

impl Open {
    pub fn new(seen: Arc<Seen>, draft: Option<(Editor, Typing)>, elapsed: Duration) -> Self {
        let blank = Editor::of(&seen);
        let (editor, comment) = draft.unwrap_or_else(|| (blank.clone(), Typing::lines()));
        let ending = if seen.item.resolution.is_some() {
            Ending::Past
        } else {
            Ending::None
        };
        Self {
            seen,
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
        self.seen.id()
    }

    /// Whether the person may still enter something.
    pub fn takes_answers(&self) -> bool {
        self.ending == Ending::None && !self.sending
    }

    /// What a no comes to here, if there is one.
    pub fn rejection(&self) -> Option<Verdict> {
        let declined = || self.seen.may_decline().then_some(Verdict::Declined);
        self.editor.deny().or_else(declined)
    }

    pub fn is_typing(&self) -> bool {
        self.takes_answers() && self.editor.is_typing()
    }

    pub fn guard_left(&self, elapsed: Duration) -> Duration {
        if self.ending == Ending::None {
            GUARD.saturating_sub(elapsed.saturating_sub(self.appeared))
        } else {
            Duration::ZERO
        }
    }

    /// Whether there is something in it that would be missed.
    pub fn is_begun(&self) -> bool {
        !self.comment.is_blank() || self.editor.bare() != self.blank.bare()
    }

    /// Whether the editor shows anything but its beginning.
    pub fn is_touched(&self) -> bool {
        self.editor != self.blank
    }

    /// The item as the hub has it now.
    pub fn see(&mut self, seen: Arc<Seen>) {
        self.seen = seen;
        if self.is_over() && self.ending == Ending::None && !self.sending {
            self.end(if self.unsure {
                Ending::Unclear
            } else {
                Ending::Theirs { sent: false }
            });
        }
    }

    fn is_over(&self) -> bool {
        self.seen.item.resolution.is_some()
    }

    fn end(&mut self, ending: Ending) {
        self.ending = ending;
        self.editor.rest();
        self.refusal = None;
    }

    /// Nothing of what was sent is kept: it may be a secret.
    pub fn won(&mut self, status: String) {
        self.sending = false;
        self.end(Ending::Mine);
        self.taken = Some(status);
        (self.editor, self.blank) = (Editor::Nothing, Editor::Nothing);
        self.comment = Typing::lines();
    }

    pub fn refused(&mut self, error: &HubError) {
        self.sending = false;
        match error {
            _ if error.has_code("already_terminal") => {
                self.end(if self.unsure {
                    Ending::Unclear
                } else {
                    Ending::Theirs { sent: true }
                });
            }
            HubError::Refused { field, message, .. } => {
                let blamed = field.as_deref().is_some_and(|field| self.editor.blame(field, message));
                self.refusal = (!blamed).then(|| message.clone());
            }
            HubError::Unreachable(_) | HubError::Strange(_) => {
                self.unsure = true;
                if self.is_over() {
                    return self.end(Ending::Unclear);
                }
                self.refusal = Some(format!(
                    "{error}. Whether your answer arrived is not known; sending it again is safe."
                ));
            }
        }
    }
}
