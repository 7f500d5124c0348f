//! One line of a list. One template makes it, for the pages and for those who watch them.

use askama::Template;
use countersign_core::access::may_resolve;
use countersign_core::message::inbox_rank;
use countersign_core::{Content, Matter, State};
use countersign_protocol::time::Timestamp;
use countersign_store::model::Item;
use url::form_urlencoded::byte_serialize;

use super::filters;
use super::visitor::Visitor;
use super::words::{self, Expiry, Instant};

/// Which list a row stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List {
    Open,
    Notices,
    Aside,
    History,
    Search,
}

impl List {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Notices => "notices",
            Self::Aside => "aside",
            Self::History => "history",
            Self::Search => "search",
        }
    }

    /// Where a name in a row leads to: the same list, narrowed down to that name.
    fn narrowed(self) -> Option<&'static str> {
        match self {
            Self::Open => Some("/inbox"),
            Self::History => Some("/inbox/history"),
            Self::Notices | Self::Aside | Self::Search => None,
        }
    }

    fn has_picks(self) -> bool {
        match self {
            Self::Open | Self::Notices => true,
            Self::Aside | Self::History | Self::Search => false,
        }
    }
}

/// The kinds of messages as filters spell them and as people read them.
pub const KINDS: [(&str, &str); 7] = [
    ("confirm", "confirm"),
    ("select", "choose one"),
    ("many", "choose several"),
    ("text", "text"),
    ("form", "form"),
    ("task", "task"),
    ("notify", "notice"),
];

pub fn kind_words(kind: &str) -> &str {
    KINDS.iter().find(|(word, _)| *word == kind).map_or(kind, |(_, words)| words)
}

/// A name that may lead to everything else that has it.
pub struct Chip {
    /// `agent`, `project`, `kind` or `tag`.
    pub class: &'static str,
    pub text: String,
    pub href: Option<String>,
}

/// What became of a message, in the lists that tell.
pub struct Ending {
    pub words: String,
    pub actor: String,
    pub at: Instant,
    /// From arrival to decision.
    pub took: String,
    pub track: Option<Track>,
}

/// How far the answer is on its way to the agent.
pub struct Track {
    pub words: &'static str,
    /// `good`, `warn`, `bad` or nothing.
    pub mood: &'static str,
}

/// What a form in a row needs from the page it stands in. Those who watch get rows without it; their script fills it in.
#[derive(Default)]
pub struct Around {
    pub csrf: String,
    pub back: String,
}

pub struct Row {
    pub list: List,
    pub picks: bool,
    pub id: String,
    pub rank: i64,
    pub seq: i64,
    pub kind: &'static str,
    pub title: String,
    pub agent: String,
    pub project: String,
    pub chips: Vec<Chip>,
    /// Joined by spaces, percent-encoded, for scripts.
    pub tags_joined: String,
    /// The people who may answer, likewise.
    pub people_joined: String,
    pub priority: &'static str,
    pub since: Instant,
    pub waited: String,
    pub freshness: &'static str,
    pub is_open: bool,
    pub expiry: Option<Expiry>,
    /// Whether the reader may answer; unknown where many read.
    pub mine: Option<bool>,
    pub until: Option<Instant>,
    pub ending: Option<Ending>,
    pub around: Around,
}

impl Row {
    pub fn of(item: &Item, list: List, now: Timestamp) -> Self {
        let message = &item.message;
        let content = &message.content;
        let kind = content.kind_word();
        let is_open = matches!(message.state, State::Open);
        let people = content.resolvers.iter().filter_map(|actor| actor.as_str().strip_prefix("human:"));
        Self {
            list,
            picks: list.has_picks(),
            id: message.id.to_string(),
            rank: inbox_rank(content.priority),
            seq: item.seq,
            kind,
            title: content.title.clone(),
            agent: content.agent.id.clone(),
            project: content.agent.project.clone().unwrap_or_default(),
            chips: chips(content, list),
            tags_joined: joined(content.tags.iter().map(String::as_str)),
            people_joined: joined(people),
            priority: content.priority.as_str(),
            since: words::instant(message.received_at),
            waited: words::waited(message.received_at, now),
            freshness: words::freshness(message.received_at, now),
            is_open,
            expiry: if is_open { words::expiry(message, now) } else { None },
            mine: None,
            until: None,
            ending: None,
            around: Around::default(),
        }
    }

    /// As one reader sees it. Only what is open is anybody's to answer.
    pub fn seen_by(item: &Item, list: List, now: Timestamp, visitor: &Visitor) -> Self {
        let mine = may_answer(item, visitor);
        let row = Self::of(item, list, now);
        Self { mine: row.is_open.then_some(mine), ..row }
    }
}

/// Whether the reader may answer what is open.
pub fn may_answer(item: &Item, visitor: &Visitor) -> bool {
    visitor.may_decide() && may_resolve(&item.message.content, &visitor.actor())
}

#[derive(Template)]
#[template(path = "row.html")]
struct RowHtml {
    row: Row,
}

/// The row of a message that has just come in, the same for everybody who watches.
pub fn html(item: &Item, now: Timestamp) -> String {
    let list = match item.message.content.matter {
        Matter::Notify => List::Notices,
        Matter::Ask(_) | Matter::Task(_) => List::Open,
    };
    let page = RowHtml { row: Row::of(item, list, now) };
    page.render().unwrap_or_else(|error| {
        tracing::error!(%error, "a row could not be rendered");
        String::new()
    })
}

fn chips(content: &Content, list: List) -> Vec<Chip> {
    let chip = |class: &'static str, value: &str, text: &str| Chip {
        class,
        text: text.to_owned(),
        href: list.narrowed().map(|page| format!("{page}?{class}={}", encoded(value))),
    };
    let (agent, kind) = (&content.agent.id, content.kind_word());
    let mut chips = vec![chip("agent", agent, agent)];
    chips.extend(content.agent.project.as_deref().map(|project| chip("project", project, project)));
    chips.push(chip("kind", kind, kind_words(kind)));
    chips.extend(content.tags.iter().map(|tag| chip("tag", tag, tag)));
    chips
}

fn joined<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(encoded).collect::<Vec<_>>().join(" ")
}

/// As `decodeURIComponent` reads it, to which a plus sign is no space.
pub fn encoded(text: &str) -> String {
    byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
}
