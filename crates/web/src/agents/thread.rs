//! The conversation with an agent: its messages with their answers, oldest first.

use countersign_core::excerpt::without_title;
use countersign_core::kind::kind_label;
use countersign_core::outcome::{detail, ending};
use countersign_core::vocabulary::Ending;
use countersign_core::{Message, Outcome, Payload, Resolution, State};
use countersign_hub::Hub;
use countersign_hub::inbox::item::UNREADABLE_TITLE;
use countersign_protocol::time::Timestamp;
use countersign_store::model::{ListEntry, PersonView, UnreadableItem};
use countersign_store::ops::terminal::WRITTEN_AHEAD;

use super::presence_mark::PresenceMark;
use crate::item::{AnswerFile, AnswerView, HeldView, answer_files, answer_view};
use crate::language::t;
use crate::layout::avatar::Avatar;
use crate::layout::formatting::{self, DisplayTime, Expiry};
use crate::layout::page::PageError;
use crate::layout::signed_in_user::SignedInUser;
use crate::lists::history::delivery_label;
use crate::lists::row::{DeliveryLabel, ListKind, QuickAnswer, may_answer, quick_answers};
use crate::text::{self, SafeHtml};

/// A longer text is cut; the item's page has all of it.
const MAX_BODY_BYTES: usize = 4096;

/// A message of the agent, and what became of it.
pub struct ThreadEntry {
    pub id: String,
    /// Changes with everything that the entry shows.
    pub rev: String,
    pub kind_label: &'static str,
    pub priority: &'static str,
    pub title: SafeHtml,
    pub body: Option<SafeHtml>,
    pub is_cut: bool,
    pub received: DisplayTime,
    pub state: EntryState,
}

pub enum EntryState {
    /// A notify, or a message that cannot be read.
    Told,
    Open(OpenQuestion),
    Held(HeldView),
    Decided(Box<ThreadAnswer>),
}

pub struct OpenQuestion {
    pub waited: String,
    pub freshness: &'static str,
    pub expiry: Option<Expiry>,
    pub presence: Option<PresenceMark>,
    pub may_answer: bool,
    /// The buttons of a confirm.
    pub quick: Vec<QuickAnswer>,
}

pub struct ThreadAnswer {
    pub ending: Ending,
    /// The answer in words, or what happened instead of one.
    pub text: Option<String>,
    pub value: AnswerView,
    pub actor: String,
    pub avatar: Avatar,
    pub is_of_person: bool,
    pub at: DisplayTime,
    pub took: String,
    pub comment: Option<String>,
    pub files: Vec<AnswerFile>,
    /// A queued text answered it.
    pub was_queued: bool,
    pub delivery: Option<DeliveryLabel>,
}

impl ThreadEntry {
    pub async fn of(hub: &Hub, user: &SignedInUser, entry: &ListEntry, now: Timestamp) -> Result<Self, PageError> {
        let item = match entry {
            Ok(item) => item,
            Err(damaged) => return Ok(Self::unreadable(damaged)),
        };
        let message = &item.message;
        let content = &message.content;
        let (body, is_cut) = body(message);
        let state = state(hub, user, item, now).await?;
        Ok(Self {
            id: message.id.to_string(),
            rev: rev(message, &state),
            kind_label: t(kind_label(content.kind_word())),
            priority: content.priority.as_str(),
            title: text::title(&content.title),
            body,
            is_cut,
            received: formatting::display_time(message.received_at),
            state,
        })
    }

    fn unreadable(item: &UnreadableItem) -> Self {
        Self {
            id: item.error.id.clone(),
            rev: String::new(),
            kind_label: t("unreadable"),
            priority: "normal",
            title: text::title(t(UNREADABLE_TITLE)),
            body: None,
            is_cut: false,
            received: formatting::display_time(item.received_at),
            state: EntryState::Told,
        }
    }
}

/// The start of the text as Markdown, and whether there is more to read. The text of a sensitive message is only on its
/// own page.
fn body(message: &Message) -> (Option<SafeHtml>, bool) {
    let content = &message.content;
    let has_more = !content.context.is_empty() || matches!(content.payload, Payload::Task(_)) || content.sensitive;
    let body = content.body.as_deref().unwrap_or_default();
    let body = without_title(body, &content.title);
    if content.sensitive || body.trim().is_empty() {
        return (None, has_more);
    }
    let start = &body[..body.floor_char_boundary(MAX_BODY_BYTES)];
    (Some(text::markdown(start)), has_more || start.len() < body.len())
}

async fn state(hub: &Hub, user: &SignedInUser, item: &PersonView, now: Timestamp) -> Result<EntryState, PageError> {
    let message = &item.message;
    Ok(match &message.state {
        State::Delivered => EntryState::Told,
        State::Resolved(resolution) => EntryState::Decided(Box::new(answer(item, resolution))),
        State::Open => match HeldView::of(hub, message, user, now).await? {
            Some(held) => EntryState::Held(held),
            None => EntryState::Open(open(hub, user, item, now)),
        },
    })
}

fn open(hub: &Hub, user: &SignedInUser, item: &PersonView, now: Timestamp) -> OpenQuestion {
    let message = &item.message;
    let may_answer = may_answer(item, user);
    OpenQuestion {
        waited: formatting::waited(message.received_at, now),
        freshness: formatting::freshness(message.received_at, now),
        expiry: formatting::expiry(message, now),
        presence: hub.cue_waiters.presence_of(message).state.map(PresenceMark::of),
        may_answer,
        quick: if may_answer {
            quick_answers(message, ListKind::Open)
        } else {
            Vec::new()
        },
    }
}

fn answer(item: &PersonView, resolution: &Resolution) -> ThreadAnswer {
    let message = &item.message;
    let content = &message.content;
    let comment = resolution.comment.clone().filter(|_| !content.sensitive);
    let person = resolution.actor.person_name();
    let name = formatting::actor_name(&resolution.actor);
    let was_queued = comment.as_deref() == Some(WRITTEN_AHEAD);
    // The comment of a withdrawn question names the question that replaced it, which is in the conversation too.
    let is_note = was_queued || resolution.outcome == Outcome::Cancelled;
    ThreadAnswer {
        ending: ending(resolution, content),
        text: detail(resolution, content, t),
        value: answer_view(resolution, content, false),
        avatar: Avatar::of(name, name),
        is_of_person: person.is_some(),
        actor: name.to_owned(),
        at: formatting::display_time(resolution.resolved_at),
        took: formatting::span(resolution.resolved_at.since(message.received_at)),
        comment: comment.filter(|_| !is_note),
        files: if content.sensitive {
            Vec::new()
        } else {
            answer_files(item, resolution)
        },
        was_queued,
        delivery: delivery_label(item, resolution),
    }
}

fn rev(message: &Message, state: &EntryState) -> String {
    let mark = match state {
        EntryState::Told => "",
        EntryState::Open(open) => open.presence.map_or("", |presence| presence.state),
        EntryState::Held(_) => "held",
        EntryState::Decided(answer) => answer.delivery.as_ref().map_or("", |delivery| delivery.text),
    };
    format!("{}-{mark}", message.rev)
}
