//! One row of a list. The same template renders it for pages and for live events.

use askama::Template;
use countersign_core::access::may_resolve;
use countersign_core::message::inbox_rank;
use countersign_core::{Digest, Message, Payload, State};
use countersign_hub::Hub;
use countersign_hub::inbox::asker::{RunOrigin, asker_name};
use countersign_hub::inbox::item::UNREADABLE_TITLE;
use countersign_hub::inbox::kind::kind_label;
use countersign_hub::messages::cue_waiters::{CueState, cue_kind};
use countersign_protocol::a2h::Priority;
use countersign_protocol::hap::CueKind;
use countersign_protocol::time::Timestamp;
use countersign_store::model::{ListEntry, PersonView, UnreadableItem};
use url::form_urlencoded::byte_serialize;

use crate::layout::filters;
use crate::layout::formatting::{self, DisplayTime, Expiry};
use crate::layout::signed_in_user::SignedInUser;
use crate::terminals::PresenceMark;

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
            Self::Open | Self::Notices => true,
            Self::Snoozed | Self::History | Self::Search => false,
        }
    }
}

/// Limits that keep a row short, although an agent may send many long tags and name many people.
const MAX_TAGS: usize = 8;
const MAX_TAG_BYTES: usize = 8 * 1024;
const MAX_PEOPLE: usize = 200;

/// A name, with an optional link to all items that have it.
pub struct Chip {
    /// `agent`, `project`, `kind`, `run` or `tag`.
    pub class: &'static str,
    pub text: String,
    pub href: Option<String>,
}

/// The outcome of a message, in the history and in search results.
pub struct RowOutcome {
    pub text: String,
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
    pub rank: i64,
    pub seq: i64,
    pub kind: &'static str,
    pub title: String,
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
    /// Presence of the agent of an open cue.
    pub presence: Option<PresenceMark>,
    /// Whether the user may answer; `None` in live events, which go to many users.
    pub may_answer: Option<bool>,
    pub until: Option<DisplayTime>,
    pub outcome: Option<RowOutcome>,
    pub form: RowForm,
}

impl MessageRow {
    pub fn of(item: &PersonView, list: ListKind, now: Timestamp) -> Self {
        let message = &item.message;
        let content = &message.content;
        let kind = content.kind_word();
        let is_open = matches!(message.state, State::Open);
        let people = content
            .resolvers
            .iter()
            .filter_map(|actor| actor.as_str().strip_prefix("human:"));
        Self {
            list,
            is_selectable: list.is_selectable(),
            id: message.id.to_string(),
            rank: inbox_rank(content.priority),
            seq: item.seq,
            kind,
            title: content.title.clone(),
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
            until: None,
            outcome: None,
            form: RowForm::default(),
        }
    }

    /// A damaged message. It links to its page, which says what to do, and offers nothing else.
    pub fn unreadable(item: &UnreadableItem, now: Timestamp) -> Self {
        Self {
            list: ListKind::History,
            is_selectable: false,
            id: item.error.id.clone(),
            rank: item.rank,
            seq: item.seq,
            kind: "unreadable",
            title: UNREADABLE_TITLE.to_owned(),
            agent: item.agent_id.clone(),
            project: String::new(),
            chips: vec![Chip {
                class: "agent",
                text: item.agent_id.clone(),
                href: None,
            }],
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
            until: None,
            outcome: None,
            form: RowForm::default(),
        }
    }

    /// The row as one user sees it. Only an open message can be answered.
    pub fn seen_by(hub: &Hub, item: &PersonView, list: ListKind, now: Timestamp, user: &SignedInUser) -> Self {
        let may_answer = may_answer(item, user);
        let row = Self::of(item, list, now);
        let presence = hub.cue_waiters.presence_of(&item.message).state.map(PresenceMark::of);
        Self {
            may_answer: row.is_open.then_some(may_answer),
            presence,
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

/// The row of a message that has just arrived, the same for all users.
pub fn html(item: &PersonView, now: Timestamp) -> String {
    let list = match item.message.content.payload {
        Payload::Notify => ListKind::Notices,
        Payload::Ask(_) | Payload::Task(_) => ListKind::Open,
    };
    let page = RowHtml {
        row: MessageRow::of(item, list, now),
    };
    page.render().unwrap_or_else(|error| {
        tracing::error!(message_id = %item.message.id, %error, "rendering an inbox row failed");
        String::new()
    })
}

fn chips(message: &Message, list: ListKind) -> Vec<Chip> {
    let content = &message.content;
    let chip = |class: &'static str, value: &str, text: &str| Chip {
        class,
        text: text.to_owned(),
        href: list
            .filter_page()
            .map(|page| format!("{page}?{class}={}", encoded(value))),
    };
    let kind = content.kind_word();
    let mut chips = vec![chip("agent", &content.agent.id, asker_name(message))];
    chips.extend(
        content
            .agent
            .project
            .as_deref()
            .map(|project| chip("project", project, project)),
    );
    chips.push(chip("kind", kind, kind_label(kind)));
    chips.extend(RunOrigin::of(&message.source).map(|run| run_chip(&run)));
    chips.extend(content.tags.iter().take(MAX_TAGS).map(|tag| chip("tag", tag, tag)));
    chips
}

fn run_chip(run: &RunOrigin<'_>) -> Chip {
    Chip {
        class: "run",
        text: "run".to_owned(),
        href: Some(run.href()),
    }
}

/// As many tags as fit. A live row is missing from a list filtered by a tag that did not fit, until the list is
/// reloaded.
fn tags_joined(tags: &[String]) -> String {
    let mut joined = String::new();
    for tag in tags.iter().map(|tag| encoded(tag)) {
        if joined.len() + tag.len() >= MAX_TAG_BYTES {
            break;
        }
        if !joined.is_empty() {
            joined.push(' ');
        }
        joined.push_str(&tag);
    }
    joined
}

/// A short hash that stands for a person in a row, so that a page recognizes its own user.
pub fn person_mark(person: &str) -> String {
    let mut digest = Digest::of(person.as_bytes()).to_string();
    digest.truncate(8);
    digest
}

/// Percent-encodes for `decodeURIComponent`, which does not read a plus sign as a space.
pub fn encoded(text: &str) -> String {
    byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
}

#[cfg(test)]
mod tests {

    use countersign_core::envelope::read_content;
    use countersign_core::message::{A2hSource, Message, Source};
    use countersign_protocol::id::MessageId;
    use serde_json::json;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn person_mark_is_short_and_stable() {
        assert_eq!(person_mark("owner"), "4c102969");
        assert_eq!(person_mark(&"x".repeat(255)).len(), 8);
    }

    #[test]
    fn row_stays_short_for_any_message() {
        let name = |number: usize| format!("{number}{}", "\u{1f980}".repeat(250));
        let wire = json!({
            "a2h_version": "0.3", "type": "ask", "created_at": "2026-01-02T03:04:05Z", "title": "Deploy?",
            "idempotency_key": "idem_1",
            "agent": {"id": "bot", "run_id": "run-1", "runtime": "cli"}, "tags": (0..64).map(name).collect::<Vec<_>>(),
            "request": {"mode": "confirm", "allowed_resolvers": (0..200).map(|n| format!("human:{}", name(n)))
                .chain(["human:owner".to_owned()]).collect::<Vec<_>>()[1..]},
        });
        let message = Message {
            id: MessageId::from_uuid(Uuid::from_u128(7)),
            received_at: Timestamp::from_millis(0),
            expires_at: None,
            state: State::Open,
            rev: 1,
            source: Source::A2h(A2hSource::default()),
            callback: None,
            content: read_content(&wire.to_string()).unwrap(),
        };
        let item = PersonView {
            seq: 1,
            message,
            delivery: None,
            fetched_at: None,
        };
        let html = html(&item, Timestamp::from_millis(1000));
        assert!(html.len() < 64 * 1024, "{}", html.len());
        assert!(
            html.contains(" · +56") && html.contains(&person_mark("owner")),
            "{html}"
        );
    }

    #[test]
    fn joined_tags_are_limited_in_size() {
        let tags: Vec<_> = (0..64)
            .map(|number| format!("{number}{}", "\u{1f980}".repeat(250)))
            .collect();
        let joined = tags_joined(&tags);
        assert!(
            joined.len() < MAX_TAG_BYTES && joined.split(' ').count() == 2,
            "{}",
            joined.len()
        );
        assert_eq!(tags_joined(&["a".to_owned(), "two words".to_owned()]), "a two%20words");
    }
}
