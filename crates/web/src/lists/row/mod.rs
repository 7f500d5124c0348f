//! One row of a list. The same template renders it for pages and for live events.

mod parts;

use askama::Template;
use countersign_core::access::may_resolve;
use countersign_core::asker::asker_name;
use countersign_core::message::inbox_rank;
use countersign_core::outcome::describe;
use countersign_core::search::{SearchTerm, marked};
use countersign_core::vocabulary::Ending;
use countersign_core::{Content, Language, Payload, Resolution, State};
use countersign_hub::Hub;
use countersign_hub::inbox::item::UNREADABLE_TITLE;
use countersign_hub::messages::cue_waiters::{CueState, cue_kind};
use countersign_protocol::a2h::Priority;
use countersign_protocol::hap::CueKind;
use countersign_protocol::time::Timestamp;
use countersign_store::model::{ListEntry, PersonView, UnreadableItem};

use crate::agents::PresenceMark;
use crate::item::author_name;
use crate::language::t;
use crate::layout::avatar::Avatar;
use crate::layout::filters;
use crate::layout::formatting::{self, DisplayTime, Expiry};
use crate::layout::look::in_language;
use crate::layout::signed_in_user::SignedInUser;
use parts::{MAX_PEOPLE, MAX_TAGS, chip, chips, code_parts, excerpt, tags_joined};

pub use parts::{Chip, QuickAnswer, encoded, person_mark, quick_answers};

/// The list that a row belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListKind {
    Open,
    Notices,
    Snoozed,
    History,
    Search,
}

impl ListKind {
    /// The page that a name in a row links to: the same list, filtered by that name.
    fn filter_page(self) -> Option<&'static str> {
        match self {
            Self::Open => Some("/inbox"),
            Self::History => Some("/inbox/history"),
            Self::Notices | Self::Snoozed | Self::Search => None,
        }
    }

    fn is_selectable(self) -> bool {
        match self {
            Self::Open | Self::Notices | Self::Search => true,
            Self::Snoozed | Self::History => false,
        }
    }
}

/// A group of rows under one heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowGroup {
    pub id: String,
    pub heading: String,
    /// The first row of a group shows the heading.
    pub is_first: bool,
}

/// The outcome of a message, in the history and in search results.
pub struct RowOutcome {
    pub ending: Ending,
    /// The answer, or what happened instead of one.
    pub text: Option<String>,
    pub actor: String,
    pub at: DisplayTime,
    /// The time from arrival to decision.
    pub took: String,
    pub delivery_label: Option<DeliveryLabel>,
}

/// The state of the delivery to the agent.
pub struct DeliveryLabel {
    pub text: &'static str,
    /// `good`, `warn`, `bad` or nothing.
    pub badge_class: &'static str,
}

/// Values that a form in a row needs from its page. Live events have rows without them; the page's script fills them
/// in.
#[derive(Default)]
pub struct RowForm {
    pub csrf: String,
    pub back: String,
}

pub struct MessageRow {
    pub list: ListKind,
    pub is_selectable: bool,
    pub id: String,
    /// What the link to the item carries of its list.
    pub item_query: String,
    /// The group of the list that it belongs to.
    pub group: Option<RowGroup>,
    pub rank: i64,
    pub seq: i64,
    pub kind: &'static str,
    pub title: String,
    pub avatar: Avatar,
    /// The agent, with a link to all its items.
    pub asker: Chip,
    /// The start of the text; empty for a sensitive message.
    pub excerpt: String,
    pub agent: String,
    pub project: String,
    pub chips: Vec<Chip>,
    /// Number of tags that are not shown.
    pub more_tags: usize,
    /// Percent-encoded tags joined by spaces, for scripts.
    pub tags_joined: String,
    /// Marks of the people who may answer, joined by spaces.
    pub people_joined: String,
    pub priority: &'static str,
    pub since: DisplayTime,
    pub waited: String,
    pub freshness: &'static str,
    pub is_open: bool,
    pub expiry: Option<Expiry>,
    /// Presence of the agent of an open cue, or of an agent that waits by long-poll.
    pub presence: Option<PresenceMark>,
    /// Whether the user may answer; `None` in live events, which go to many users.
    pub may_answer: Option<bool>,
    /// The person whose decision is on hold.
    pub held_by: Option<String>,
    pub until: Option<DisplayTime>,
    pub outcome: Option<RowOutcome>,
    pub form: RowForm,
    /// The words of a search, which the row marks. A sensitive message has none.
    pub marks: Vec<SearchTerm>,
    /// The answers of a confirm, for the buttons in the row: value, label and role.
    pub quick: Vec<QuickAnswer>,
}

impl MessageRow {
    pub fn of(item: &PersonView, list: ListKind, now: Timestamp) -> Self {
        let message = &item.message;
        let content = &message.content;
        let kind = content.kind_word();
        let is_open = matches!(message.state, State::Open);
        let asker = asker_name(message, &item.agent_name);
        let people = content
            .resolvers
            .iter()
            .filter_map(|actor| actor.as_str().strip_prefix("human:"));
        Self {
            list,
            is_selectable: list.is_selectable(),
            id: message.id.to_string(),
            item_query: String::new(),
            group: None,
            rank: inbox_rank(content.priority),
            seq: item.seq,
            kind,
            title: content.title.clone(),
            avatar: Avatar::of(&content.agent.id, asker),
            asker: chip(list, "agent", &content.agent.id, asker),
            excerpt: excerpt(content),
            agent: content.agent.id.clone(),
            project: content.agent.project.clone().unwrap_or_default(),
            chips: chips(message, list),
            more_tags: content.tags.len().saturating_sub(MAX_TAGS),
            tags_joined: tags_joined(&content.tags),
            people_joined: people.take(MAX_PEOPLE).map(person_mark).collect::<Vec<_>>().join(" "),
            priority: content.priority.as_str(),
            since: formatting::display_time(message.received_at),
            waited: formatting::waited(message.received_at, now),
            freshness: formatting::freshness(message.received_at, now),
            is_open,
            expiry: if is_open {
                formatting::expiry(message, now)
            } else {
                None
            },
            presence: presence_on_arrival(item),
            may_answer: None,
            held_by: message.hold.as_ref().map(author_name),
            until: None,
            outcome: None,
            form: RowForm::default(),
            marks: Vec::new(),
            quick: quick_answers(message, list),
        }
    }

    /// A damaged message. It links to its page, which says what to do, and offers nothing else.
    pub fn unreadable(item: &UnreadableItem, now: Timestamp) -> Self {
        Self {
            list: ListKind::History,
            is_selectable: false,
            id: item.error.id.clone(),
            item_query: String::new(),
            group: None,
            rank: item.rank,
            seq: item.seq,
            kind: "unreadable",
            title: UNREADABLE_TITLE.to_owned(),
            avatar: Avatar::of(&item.agent_id, &item.agent_id),
            asker: chip(ListKind::Notices, "agent", &item.agent_id, &item.agent_id),
            excerpt: String::new(),
            agent: item.agent_id.clone(),
            project: String::new(),
            chips: Vec::new(),
            more_tags: 0,
            tags_joined: String::new(),
            people_joined: String::new(),
            priority: Priority::Normal.as_str(),
            since: formatting::display_time(item.received_at),
            waited: formatting::waited(item.received_at, now),
            freshness: formatting::freshness(item.received_at, now),
            is_open: false,
            expiry: None,
            presence: None,
            may_answer: None,
            held_by: None,
            until: None,
            outcome: None,
            form: RowForm::default(),
            marks: Vec::new(),
            quick: Vec::new(),
        }
    }

    /// The title in pieces: code in backticks, and text.
    pub fn title_parts(&self) -> Vec<(bool, &str)> {
        code_parts(&self.title)
    }

    /// A text of the row in pieces: words that the search matched, and the rest.
    pub fn marked<'t>(&self, text: &'t str) -> Vec<(bool, &'t str)> {
        marked(text, &self.marks)
    }

    /// The row as one user sees it. Only an open message can be answered.
    pub fn seen_by(hub: &Hub, item: &PersonView, list: ListKind, now: Timestamp, user: &SignedInUser) -> Self {
        let may_answer = may_answer(item, user);
        let row = Self::of(item, list, now);
        let presence = hub.cue_waiters.state_of(&item.message).map(PresenceMark::of);
        Self {
            may_answer: row.is_open.then_some(may_answer),
            presence,
            quick: if may_answer { row.quick } else { Vec::new() },
            ..row
        }
    }
}

/// The rows of a list: readable ones by `row`.
pub fn rows<'i>(
    entries: impl IntoIterator<Item = &'i ListEntry>,
    now: Timestamp,
    row: impl Fn(&PersonView) -> MessageRow,
) -> Vec<MessageRow> {
    let shown = |entry: &ListEntry| match entry {
        Ok(item) => row(item),
        Err(damaged) => MessageRow::unreadable(damaged, now),
    };
    entries.into_iter().map(shown).collect()
}

/// An agent that has just asked is present.
fn presence_on_arrival(item: &PersonView) -> Option<PresenceMark> {
    let kind = cue_kind(&item.message.source).filter(|_| matches!(item.message.state, State::Open))?;
    Some(PresenceMark::of(match kind {
        CueKind::Cue => CueState::Waiting,
        CueKind::Pause => CueState::Paused,
    }))
}

/// Whether the user may answer the message, if it is open.
pub fn may_answer(item: &PersonView, user: &SignedInUser) -> bool {
    user.may_decide() && may_resolve(&item.message.content, &user.actor())
}

#[derive(Template)]
#[template(path = "row.html")]
struct RowHtml {
    row: MessageRow,
}

/// The row of a message that has just arrived, the same for all users of a language.
pub fn html(item: &PersonView, now: Timestamp, language: Language) -> String {
    let list = match item.message.content.payload {
        Payload::Notify => ListKind::Notices,
        Payload::Ask(_) | Payload::Task(_) => ListKind::Open,
    };
    let rendered = in_language(language, || {
        let row = MessageRow::of(item, list, now);
        RowHtml { row }.render()
    });
    rendered.unwrap_or_else(|error| {
        tracing::error!(message_id = %item.message.id, %error, "rendering an inbox row failed");
        String::new()
    })
}

/// The outcome in a live event.
pub fn outcome_text(resolution: &Resolution, content: &Content, language: Language) -> String {
    in_language(language, || describe(resolution, content, t))
}

#[cfg(test)]
mod tests;
