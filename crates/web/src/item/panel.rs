//! The panel of the page: the answer form, or the reason why there is none.

use countersign_core::decide::is_overdue_at;
use countersign_core::{Content, State};
use countersign_protocol::time::Timestamp;
use countersign_store::model::PersonView;

use super::answer::{AnswerForm, RefusedAttempt};
use super::outcome::OutcomeView;
use super::presence::AgentPresence;
use crate::layout::signed_in_user::SignedInUser;
use crate::lists::row::may_answer;

pub enum Panel {
    Answer(Box<AnswerForm>),
    /// Open, but only other people may decide.
    Watch(Watch),
    /// Expired, but the expiry is not yet applied.
    Ending,
    Notice,
    Outcome(Box<OutcomeView>),
}

pub struct Watch {
    pub is_viewer: bool,
    pub resolvers: Vec<String>,
    /// No account of this hub can answer: it waits until it expires or its agent ends it.
    pub is_stranded: bool,
}

pub struct PanelInput<'a> {
    pub item: &'a PersonView,
    pub user: &'a SignedInUser,
    pub presence: AgentPresence,
    pub presets: Vec<String>,
    pub is_stranded: bool,
    pub now: Timestamp,
}

impl Panel {
    pub fn is_answer(&self) -> bool {
        matches!(self, Self::Answer(_))
    }

    pub fn of(input: PanelInput<'_>, attempt: &RefusedAttempt<'_>) -> Self {
        let message = &input.item.message;
        match &message.state {
            State::Delivered => Self::Notice,
            State::Resolved(resolution) => {
                Self::Outcome(Box::new(OutcomeView::of(input.item, resolution, input.presence)))
            }
            State::Open if is_overdue_at(message.expires_at, input.now) => Self::Ending,
            State::Open if may_answer(input.item, input.user) => {
                let answer = AnswerForm::of(message, input.presets, attempt);
                answer.map_or(Self::Notice, |answer| Self::Answer(Box::new(answer)))
            }
            State::Open => Self::Watch(watch(&message.content, &input)),
        }
    }
}

fn watch(content: &Content, input: &PanelInput<'_>) -> Watch {
    Watch {
        is_viewer: !input.user.may_decide(),
        is_stranded: input.is_stranded,
        resolvers: content.resolvers.iter().map(ToString::to_string).collect(),
    }
}
