//! The head of an item's page: title, asker, age and expiry, and below it the text of the message.

use countersign_core::State;
use countersign_core::asker::{RunOrigin, asker_name};
use countersign_core::excerpt::{MAX_SHOWN_BYTES, without_title};
use countersign_core::kind::kind_label;
use countersign_core::message::{Door, Task};
use countersign_core::{Content, Message, Payload};
use countersign_protocol::a2h::CheckItem;
use countersign_protocol::time::Timestamp;
use countersign_store::model::PersonView;

use super::cue::CueDetails;
use super::part::{ContextPart, images, part};
use super::presence::AgentPresence;
use crate::agents::agent_href;
use crate::layout::formatting::{self, DisplayTime, Expiry};
use crate::lists::row::encoded;
use crate::text::{self, SafeHtml};

/// Longer text gets the whole width of the page, and a long form comes below it.
const MAX_SHORT_BYTES: usize = 1200;

pub struct Head {
    pub id: String,
    pub status: &'static str,
    pub kind: &'static str,
    pub kind_label: &'static str,
    /// Changes with everything that the panel depends on.
    pub rev: String,
    /// The end of the hold, if a decision is on hold.
    pub held_until_ms: Option<i64>,
    pub title: SafeHtml,
    pub priority: &'static str,
    pub sensitive: bool,
    pub is_open: bool,
    pub received: DisplayTime,
    pub waited: String,
    pub freshness: &'static str,
    /// For open messages only.
    pub expiry: Option<Expiry>,
    pub expires_ms: Option<i64>,
    pub tags: Vec<FilterLink>,
    pub agent: AgentDetails,
    /// The page shows only the start of the text.
    pub is_cut: bool,
    /// For cues from a terminal.
    pub cue: Option<CueDetails>,
    /// The page of the run that asks.
    pub run_href: Option<String>,
}

pub struct AgentDetails {
    pub id: String,
    /// The display name.
    pub name: String,
    /// The page of the agent.
    pub href: String,
    pub run_id: String,
    pub runtime: String,
    pub project: Option<FilterLink>,
    pub labels: Vec<(String, String)>,
    pub presence: AgentPresence,
}

/// A name with a link to all items that have it.
pub struct FilterLink {
    pub text: String,
    pub href: String,
}

fn filter_link(filter: &str, text: &str) -> FilterLink {
    FilterLink {
        text: text.to_owned(),
        href: format!("/inbox?{filter}={}", encoded(text)),
    }
}

/// A hold does not change the revision of the message, which its agent sees.
fn panel_rev(message: &Message) -> String {
    match &message.hold {
        Some(hold) => format!("{}-{}", message.rev, hold.until.as_millis()),
        None => message.rev.to_string(),
    }
}

impl Head {
    pub fn of(item: &PersonView, presence: AgentPresence, cue: Option<CueDetails>, now: Timestamp) -> Self {
        let message = &item.message;
        let content = &message.content;
        let is_open = matches!(message.state, State::Open);
        Self {
            id: message.id.to_string(),
            status: message.state.status().as_str(),
            kind: content.kind_word(),
            kind_label: kind_label(content.kind_word()),
            rev: panel_rev(message),
            held_until_ms: message.hold.as_ref().map(|hold| hold.until.as_millis()),
            title: text::title(&content.title),
            priority: content.priority.as_str(),
            sensitive: content.sensitive,
            is_open,
            received: formatting::display_time(message.received_at),
            waited: formatting::waited(message.received_at, now),
            freshness: formatting::freshness(message.received_at, now),
            expiry: if is_open {
                formatting::expiry(message, now)
            } else {
                None
            },
            expires_ms: message.expires_at.filter(|_| is_open).map(Timestamp::as_millis),
            tags: content.tags.iter().map(|tag| filter_link("tag", tag)).collect(),
            agent: agent(item, presence),
            is_cut: is_cut(message),
            cue,
            run_href: RunOrigin::of(&message.source).map(|run| run.href()),
        }
    }
}

/// True if the stored prompt is longer than the page shows.
fn is_cut(message: &Message) -> bool {
    match message.source.door() {
        Door::Hap | Door::Runs => message
            .content
            .body
            .as_ref()
            .is_some_and(|body| body.len() > MAX_SHOWN_BYTES),
        Door::A2h => false,
    }
}

fn agent(item: &PersonView, presence: AgentPresence) -> AgentDetails {
    let agent = &item.message.content.agent;
    AgentDetails {
        id: agent.id.clone(),
        name: asker_name(&item.message, &item.agent_name).to_owned(),
        href: agent_href(&agent.id),
        run_id: agent.run_id.clone(),
        runtime: agent.runtime.clone(),
        project: agent.project.as_deref().map(|project| filter_link("project", project)),
        labels: agent.labels.clone().into_iter().collect(),
        presence,
    }
}

/// The text of the agent below the title.
pub struct MessageText {
    pub body: Option<SafeHtml>,
    pub parts: Vec<ContextPart>,
    pub work: Option<TaskText>,
}

pub struct TaskText {
    pub instructions: SafeHtml,
    pub checklist: Vec<CheckItem>,
    pub verification: Option<SafeHtml>,
}

impl MessageText {
    /// True if the message has only a title.
    pub fn is_empty(&self) -> bool {
        self.body.is_none() && self.parts.is_empty() && self.work.is_none()
    }

    /// True if the text fits in a narrow column beside a form.
    pub fn is_short(&self) -> bool {
        let body = self.body.as_ref().map_or(0, |body| body.as_str().len());
        self.parts.is_empty() && self.work.is_none() && body < MAX_SHORT_BYTES
    }

    /// The address of the image that a button of this text names.
    pub fn image_address(content: &Content, key: &str) -> Option<String> {
        let task = match &content.payload {
            Payload::Task(task) => Some(task),
            Payload::Ask(_) | Payload::Notify => None,
        };
        let texts = [
            content.body.as_deref(),
            task.map(|task| task.instructions.as_str()),
            task.and_then(|task| task.verification.as_deref()),
        ];
        let in_texts = texts.into_iter().flatten().flat_map(text::image_addresses);
        let mut addresses = in_texts.chain(content.context.iter().flat_map(images));
        addresses.find(|address| text::image_key(address) == key)
    }

    pub fn of(content: &Content) -> Self {
        Self {
            body: content
                .body
                .as_deref()
                .map(|body| without_title(body, &content.title))
                .filter(|body| !body.is_empty())
                .map(text::markdown_with_images),
            parts: content.context.iter().map(part).collect(),
            work: match &content.payload {
                Payload::Task(task) => Some(work(task)),
                Payload::Ask(_) | Payload::Notify => None,
            },
        }
    }
}

fn work(task: &Task) -> TaskText {
    TaskText {
        instructions: text::markdown_with_images(&task.instructions),
        checklist: task.checklist.clone(),
        verification: task.verification.as_deref().map(text::markdown_with_images),
    }
}
