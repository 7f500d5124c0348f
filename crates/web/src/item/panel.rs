//! The side of the page where one decides, or sees why one cannot.

use countersign_core::decide::is_overdue_at;
use countersign_core::{Content, State};
use countersign_protocol::time::Timestamp;
use countersign_store::model::Item;

use super::answer::{Again, Answer};
use super::outcome::Outcome;
use super::presence::Presence;
use crate::frame::signed_in::Visitor;
use crate::lists::row::may_answer;

pub enum Panel {
    Answer(Box<Answer>),
    /// Open, and for others to decide.
    Watch(Watch),
    /// Its time is over, and the hub is about to say so.
    Ending,
    Notice,
    Outcome(Box<Outcome>),
}

pub struct Watch {
    pub is_viewer: bool,
    pub resolvers: Vec<String>,
}

pub struct Seen<'a> {
    pub item: &'a Item,
    pub visitor: &'a Visitor,
    pub presence: Presence,
    pub presets: Vec<String>,
    pub now: Timestamp,
}

impl Panel {
    pub fn is_answer(&self) -> bool {
        matches!(self, Self::Answer(_))
    }

    pub fn of(seen: Seen<'_>, again: &Again<'_>) -> Self {
        let message = &seen.item.message;
        match &message.state {
            State::Delivered => Self::Notice,
            State::Resolved(resolution) => Self::Outcome(Box::new(Outcome::of(seen.item, resolution, seen.presence))),
            State::Open if is_overdue_at(message.expires_at, seen.now) => Self::Ending,
            State::Open if may_answer(seen.item, seen.visitor) => {
                let answer = Answer::of(message, seen.presets, again);
                answer.map_or(Self::Notice, |answer| Self::Answer(Box::new(answer)))
            }
            State::Open => Self::Watch(watch(&message.content, seen.visitor)),
        }
    }
}

fn watch(content: &Content, visitor: &Visitor) -> Watch {
    Watch {
        is_viewer: !visitor.may_decide(),
        resolvers: content.resolvers.iter().map(ToString::to_string).collect(),
    }
}
