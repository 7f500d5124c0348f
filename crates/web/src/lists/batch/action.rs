//! The actions of a batch, and the items they apply to.

use countersign_core::vocabulary::Action;
use countersign_hub::problem::Problem;
use countersign_protocol::id::MessageId;

use crate::language::say;
use crate::layout::form::FormFields;
use crate::layout::page::PageSection;

const MAX_ITEMS: usize = 200;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchAction {
    Approve,
    Deny,
    Decline,
    /// Marks tasks as done.
    Complete,
    /// Answers selects of one agent that have the same choices.
    Answer,
    Snooze,
    Archive,
}

impl BatchAction {
    const ALL: [Self; 7] = [
        Self::Approve,
        Self::Deny,
        Self::Decline,
        Self::Complete,
        Self::Answer,
        Self::Snooze,
        Self::Archive,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Deny => "deny",
            Self::Decline => "decline",
            Self::Complete => "complete",
            Self::Answer => "answer",
            Self::Snooze => "aside",
            Self::Archive => "archive",
        }
    }

    /// The label of the button.
    pub fn verb(self) -> &'static str {
        self.in_words().label()
    }

    /// What happened to the items: `Denied`.
    pub fn past(self) -> &'static str {
        self.in_words().past()
    }

    fn in_words(self) -> Action {
        match self {
            Self::Approve => Action::Approve,
            Self::Deny => Action::Deny,
            Self::Decline => Action::Skip,
            Self::Complete => Action::Done,
            Self::Answer => Action::Send,
            Self::Snooze => Action::Snooze,
            Self::Archive => Action::Archive,
        }
    }

    /// True if the action resolves the items, so that the agents can read a reason.
    pub fn decides(self) -> bool {
        match self {
            Self::Approve | Self::Deny | Self::Decline | Self::Complete | Self::Answer => true,
            Self::Snooze | Self::Archive => false,
        }
    }

    pub fn section(self) -> PageSection {
        match self {
            Self::Archive => PageSection::Notices,
            _ => PageSection::List,
        }
    }

    /// The list the items were picked from.
    pub fn list(self) -> &'static str {
        match self {
            Self::Archive => "/inbox/notices",
            _ => "/inbox",
        }
    }
}

/// The batch that a form asks for.
#[derive(Debug)]
pub struct BatchRequest {
    pub action: BatchAction,
    /// Each id once, in the order of selection. Invalid ids are dropped.
    pub ids: Vec<MessageId>,
}

impl BatchRequest {
    pub fn of(fields: &FormFields) -> Result<Self, Problem> {
        let action = BatchAction::ALL
            .into_iter()
            .find(|action| action.as_str() == fields.text("verdict"));
        let message = "choose approve, deny, decline, complete, answer, aside or archive";
        let action = action.ok_or_else(|| Problem::invalid("verdict", message))?;
        let mut ids: Vec<MessageId> = Vec::new();
        for id in fields.all("id").filter_map(|text| text.parse().ok()) {
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        if ids.len() > MAX_ITEMS {
            return Err(Problem::invalid(
                "id",
                say!("select at most {count} items at once", count = MAX_ITEMS),
            ));
        }
        Ok(Self { action, ids })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(nth: u128) -> String {
        MessageId::from_uuid(uuid::Uuid::from_u128(nth)).to_string()
    }

    #[test]
    fn repeated_and_invalid_ids_are_dropped() {
        let query = format!("verdict=deny&id={}&id={}&id={}&id=nonsense", id(2), id(1), id(2));
        let batch = BatchRequest::of(&FormFields::parse(query.as_bytes())).expect("a batch");
        assert_eq!(batch.action, BatchAction::Deny);
        assert_eq!(
            batch.ids.iter().map(MessageId::as_str).collect::<Vec<_>>(),
            [id(2), id(1)]
        );
    }

    #[test]
    fn too_many_items_and_unknown_actions_are_refused() {
        let many: String = (0..=MAX_ITEMS).map(|nth| format!("&id={}", id(nth as u128))).collect();
        let refused =
            BatchRequest::of(&FormFields::parse(format!("verdict=approve{many}").as_bytes())).expect_err("too many");
        assert_eq!(refused.field(), Some("id"));
        let refused = BatchRequest::of(&FormFields::parse(b"verdict=delete")).expect_err("unknown");
        assert_eq!(refused.field(), Some("verdict"));
    }
}
