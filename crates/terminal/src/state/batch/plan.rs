//! The effect of a batch on one item, or the reason why the item is left out.

use countersign_protocol::api::inbox::ItemQuestion;
use jiff::Timestamp;

use super::super::{Effect, InboxState, SnoozeAction};
use super::BatchAction;
use crate::answer::{Editor, PersonDecision};
use crate::inbox_entry::InboxEntry;

/// What is the same for all items of a batch.
#[derive(Debug, Clone, PartialEq)]
pub enum BatchStep {
    Approve,
    /// With the reason for the agent; it may be empty.
    Deny(String),
    Snooze(Timestamp),
    Archive,
}

impl BatchStep {
    pub fn action(&self) -> BatchAction {
        match self {
            Self::Approve => BatchAction::Approve,
            Self::Deny(_) => BatchAction::Deny,
            Self::Snooze(_) => BatchAction::Snooze,
            Self::Archive => BatchAction::Archive,
        }
    }

    /// The call for one item.
    pub fn effect(&self, entry: &InboxEntry) -> Result<Effect, String> {
        let id = entry.id().to_owned();
        let put = |id, away| Effect::Put { id, away };
        Ok(match self {
            Self::Approve => Effect::Resolve {
                id,
                body: decision(entry, BatchAction::Approve)?.body(""),
            },
            Self::Deny(reason) => Effect::Resolve {
                id,
                body: decision(entry, BatchAction::Deny)?.body(reason),
            },
            Self::Snooze(until) => put(id, SnoozeAction::Until(*until)),
            Self::Archive => put(id, SnoozeAction::Archived),
        })
    }
}

impl InboxState {
    /// Whether the item fits the action. An answer that was begun is not passed over.
    pub(super) fn check_fits(&self, entry: &InboxEntry, action: BatchAction) -> Result<(), String> {
        match action {
            BatchAction::Snooze | BatchAction::Archive => Ok(()),
            BatchAction::Approve | BatchAction::Deny if self.drafts.holds(entry.id()) => {
                Err("you began an answer; open it".to_owned())
            }
            BatchAction::Approve | BatchAction::Deny => decision(entry, action).map(drop),
        }
    }
}

/// Only for a confirm that offers exactly this value: nothing is guessed from labels or positions.
fn decision(entry: &InboxEntry, action: BatchAction) -> Result<PersonDecision, String> {
    let item = &entry.item;
    if let Some(held) = item.held_text() {
        return Err(held);
    }
    if !item.can_answer {
        return Err("only other people can answer it".to_owned());
    }
    match &item.question {
        None => return Err("it is a task; open it".to_owned()),
        Some(ItemQuestion::Confirm(_)) => {}
        Some(_) => return Err(format!("it asks for something else ({}); open it", item.kind())),
    }
    if !entry.may_respond() {
        return Err("its agent accepts no answer".to_owned());
    }
    let editor = Editor::of(entry);
    let decision = if action == BatchAction::Approve {
        editor.approve()
    } else {
        editor.deny()
    };
    let word = action.in_words().word();
    decision.ok_or_else(|| format!("it does not offer “{word}”; open it"))
}
