//! The box at the end of a conversation: it answers the newest open question.

use countersign_core::question::Ask;
use countersign_core::{Payload, Question, State};
use countersign_store::model::{ListEntry, PersonView};

use crate::item::takes_own_words;
use crate::layout::signed_in_user::SignedInUser;
use crate::lists::row::may_answer;

pub struct ReplyBox {
    /// The question that the text answers.
    pub message_id: String,
    pub title: String,
    /// The field of the decision form that takes the text.
    pub field: &'static str,
}

impl ReplyBox {
    /// The newest open question, if this user may answer it with a text. `entries` are newest first.
    pub fn of(entries: &[ListEntry], user: &SignedInUser) -> Option<Self> {
        let mut items = entries.iter().flatten();
        let item = items.find(|item| item.message.state == State::Open)?;
        let field = text_field(item).filter(|_| item.message.hold.is_none() && may_answer(item, user))?;
        Some(Self {
            message_id: item.message.id.to_string(),
            title: item.message.content.title.clone(),
            field,
        })
    }
}

/// A sensitive answer is typed hidden, on the page of the item.
fn text_field(item: &PersonView) -> Option<&'static str> {
    let content = &item.message.content;
    let Payload::Ask(ask) = &content.payload else {
        return None;
    };
    match ask {
        _ if content.sensitive => None,
        Ask {
            question: Question::Text,
            may_respond: true,
            ..
        } => Some("value"),
        ask => (ask.may_respond && takes_own_words(ask)).then_some("typed"),
    }
}
