//! What stands above the answer: what it is about, who asks, how pressing it is.

use countersign_core::State;
use countersign_core::excerpt::MAX_SHOWN_BYTES;
use countersign_core::message::{Door, Task};
use countersign_core::{Content, Matter, Message};
use countersign_hub::inbox::asker::{OfRun, asker};
use countersign_hub::inbox::kind::kind_words;
use countersign_protocol::a2h::CheckItem;
use countersign_protocol::time::Timestamp;

use super::cue::Cue;
use super::part::{Part, part};
use super::presence::Presence;
use crate::frame::format::{self, Expiry, Instant};
use crate::lists::row::encoded;
use crate::text::{self, Safe};

pub struct Head {
    pub id: String,
    pub status: &'static str,
    pub kind: &'static str,
    pub kind_words: &'static str,
    pub rev: i64,
    pub title: String,
    pub priority: &'static str,
    pub sensitive: bool,
    pub is_open: bool,
    pub received: Instant,
    pub waited: String,
    pub freshness: &'static str,
    /// Of what is open.
    pub expiry: Option<Expiry>,
    pub expires_ms: Option<i64>,
    pub tags: Vec<Narrower>,
    pub agent: Agent,
    /// The page shows the start of its text only.
    pub is_cut: bool,
    /// Of what came from a terminal.
    pub cue: Option<Cue>,
    /// Of what a run asks: where that is shown.
    pub run_href: Option<String>,
}

pub struct Agent {
    pub id: Narrower,
    pub run_id: String,
    pub runtime: String,
    pub project: Option<Narrower>,
    pub labels: Vec<(String, String)>,
    pub presence: Presence,
}

/// A name that leads to everything else that has it.
pub struct Narrower {
    pub text: String,
    pub href: String,
}

fn narrower(filter: &str, text: &str) -> Narrower {
    Narrower {
        text: text.to_owned(),
        href: format!("/inbox?{filter}={}", encoded(text)),
    }
}

impl Head {
    pub fn of(message: &Message, presence: Presence, cue: Option<Cue>, now: Timestamp) -> Self {
        let content = &message.content;
        let is_open = matches!(message.state, State::Open);
        Self {
            id: message.id.to_string(),
            status: message.state.status().as_str(),
            kind: content.kind_word(),
            kind_words: kind_words(content.kind_word()),
            rev: message.rev,
            title: content.title.clone(),
            priority: content.priority.as_str(),
            sensitive: content.sensitive,
            is_open,
            received: format::instant(message.received_at),
            waited: format::waited(message.received_at, now),
            freshness: format::freshness(message.received_at, now),
            expiry: if is_open { format::expiry(message, now) } else { None },
            expires_ms: message.expires_at.filter(|_| is_open).map(Timestamp::as_millis),
            tags: content.tags.iter().map(|tag| narrower("tag", tag)).collect(),
            agent: agent(message, presence),
            is_cut: is_cut(message),
            cue,
            run_href: OfRun::of(&message.source).map(|run| run.href()),
        }
    }
}

/// Where the wire has more than a page takes.
fn is_cut(message: &Message) -> bool {
    match message.source.door {
        Door::Hap | Door::Runs => message
            .content
            .body
            .as_ref()
            .is_some_and(|body| body.len() > MAX_SHOWN_BYTES),
        Door::A2h => false,
    }
}

fn agent(message: &Message, presence: Presence) -> Agent {
    let agent = &message.content.agent;
    Agent {
        id: Narrower {
            text: asker(message).to_owned(),
            ..narrower("agent", &agent.id)
        },
        run_id: agent.run_id.clone(),
        runtime: agent.runtime.clone(),
        project: agent.project.as_deref().map(|project| narrower("project", project)),
        labels: agent.labels.clone().into_iter().collect(),
        presence,
    }
}

/// What the agent wrote, below the title.
pub struct Said {
    pub body: Option<Safe>,
    pub parts: Vec<Part>,
    pub work: Option<Work>,
}

pub struct Work {
    pub instructions: Safe,
    pub checklist: Vec<CheckItem>,
    pub verification: Option<Safe>,
}

impl Said {
    /// Nothing but a title.
    pub fn is_silent(&self) -> bool {
        self.body.is_none() && self.parts.is_empty() && self.work.is_none()
    }

    pub fn of(content: &Content) -> Self {
        Self {
            body: content
                .body
                .as_deref()
                .filter(|body| !body.is_empty())
                .map(text::markdown),
            parts: content.context.iter().map(part).collect(),
            work: match &content.matter {
                Matter::Task(task) => Some(work(task)),
                Matter::Ask(_) | Matter::Notify => None,
            },
        }
    }
}

fn work(task: &Task) -> Work {
    Work {
        instructions: text::markdown(&task.instructions),
        checklist: task.checklist.clone(),
        verification: task.verification.as_deref().map(text::markdown),
    }
}
