//! The panel of the page: the answer form, or the reason why there is none.

use countersign_core::decide::is_overdue_at;
use countersign_core::message::Source;
use countersign_core::{Content, Message, State};
use countersign_protocol::time::Timestamp;
use countersign_store::model::PersonView;

use super::answer::{AnswerForm, RefusedAttempt};
use super::outcome::OutcomeView;
use super::presence::AgentPresence;
use super::undo::held::HeldView;
use crate::language::{say, t};
use crate::layout::formatting::actor_name;
use crate::layout::signed_in_user::SignedInUser;
use crate::lists::row::may_answer;

pub enum Panel {
    Answer(Box<AnswerForm>),
    /// Open, but only other people may decide.
    Watch(Watch),
    /// A decision is on hold.
    Held(HeldView),
    /// Expired, but the expiry is not yet applied.
    Ending,
    Notice,
    Outcome(Box<OutcomeView>),
}

pub struct Watch {
    pub is_viewer: bool,
    /// The people and agents who can answer, as a list in words.
    pub resolvers: String,
    /// No account of this hub can answer: it waits until it expires or its agent ends it.
    pub is_stranded: bool,
}

pub struct PanelInput<'a> {
    pub item: &'a PersonView,
    pub user: &'a SignedInUser,
    pub presence: AgentPresence,
    pub presets: Vec<String>,
    pub held: Option<HeldView>,
    pub is_stranded: bool,
    pub now: Timestamp,
}

impl Panel {
    pub fn is_answer(&self) -> bool {
        matches!(self, Self::Answer(_))
    }

    /// True if the answer form gets the wide column of the page.
    pub fn is_wide(&self) -> bool {
        matches!(self, Self::Answer(answer) if answer.is_wide())
    }

    pub fn with_preview(mut self, preview: Option<String>) -> Self {
        if let Self::Answer(answer) = &mut self {
            answer.preview = preview;
        }
        self
    }

    pub fn of(input: PanelInput<'_>, attempt: &RefusedAttempt<'_>) -> Self {
        let message = &input.item.message;
        match &message.state {
            State::Delivered => Self::Notice,
            State::Resolved(resolution) => {
                Self::Outcome(Box::new(OutcomeView::of(input.item, resolution, input.presence)))
            }
            State::Open if let Some(held) = input.held => Self::Held(held),
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
        resolvers: in_words(content.resolvers.iter().map(actor_name)),
    }
}

/// Why the item is in this person's inbox, for an open item.
pub fn why(message: &Message, user: &SignedInUser) -> String {
    let me = user.actor();
    let resolvers = &message.content.resolvers;
    let others = resolvers.iter().filter(|actor| **actor != me).map(actor_name);
    let is_run = match &message.source {
        Source::Runs(_) => true,
        Source::A2h(_) | Source::Hap(_) => false,
    };
    let people = in_words(others);
    match (resolvers.contains(&me), resolvers.len()) {
        (true, 1) if is_run => t("The run asks you, and only you can answer.").to_owned(),
        (true, 1) => t("The agent asks you, and only you can answer.").to_owned(),
        (true, _) if is_run => say!(
            "The run asks you and {people}. The first answer counts.",
            people = people
        ),
        (true, _) => say!(
            "The agent asks you and {people}. The first answer counts.",
            people = people
        ),
        (false, 0) => t("The agent named no one who can answer.").to_owned(),
        (false, _) if is_run => say!("The run asks {people}.", people = people),
        (false, _) => say!("The agent asks {people}.", people = people),
    }
}

/// Longer lists of people end with a number.
const MAX_NAMED: usize = 5;

/// `ann, bob and 3 others`.
pub fn in_words<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<&str> = names.collect();
    match names[..] {
        [] => String::new(),
        [one] => one.to_owned(),
        [ref first @ .., last] if names.len() <= MAX_NAMED => {
            say!("{people} and {last}", people = first.join(", "), last = last)
        }
        _ => say!(
            "{people} and {count} others",
            people = names[..MAX_NAMED].join(", "),
            count = names.len() - MAX_NAMED
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::in_words;

    #[test]
    fn long_lists_of_people_end_with_a_number() {
        let words = |count: usize| in_words(["ann", "bob", "cy", "di", "ed", "flo", "guy"].into_iter().take(count));
        assert_eq!([words(0), words(1), words(2)], ["", "ann", "ann and bob"]);
        assert_eq!(words(5), "ann, bob, cy, di and ed");
        assert_eq!(words(7), "ann, bob, cy, di, ed and 2 others");
    }
}
