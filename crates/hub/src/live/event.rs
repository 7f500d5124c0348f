//! Live events: a change in the inbox, rendered for pages and for API clients.

use std::sync::Arc;

use bytes::Bytes;
use countersign_core::message::{State, inbox_rank};
use countersign_protocol::id::MessageId;
use countersign_protocol::visible::escape;
use countersign_store::model::PersonView;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::app::Hub;
use crate::inbox::asker::asker_name;
use crate::inbox::find::find;
use crate::inbox::outcome;
use crate::problem::Problem;

/// A committed change. The code that made the change publishes it after the commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LiveChange {
    Opened(MessageId),
    /// A notify arrived.
    Noticed(MessageId),
    Resolved(MessageId),
    /// The delivery of the answer made progress.
    Tracked(MessageId),
    /// A run began or ended. Asks of a run are published as `Opened` and `Resolved`, like all others.
    Run(String),
}

#[derive(Debug)]
pub struct RenderedEvent {
    pub id: u64,
    pub kind: &'static str,
    /// The id of the message or run that changed.
    pub about: String,
    /// The complete SSE record for pages, with HTML in it.
    pub web: Bytes,
    /// The complete SSE record for terminals and scripts.
    pub api: Bytes,
}

#[derive(Debug, Clone)]
pub enum LiveEvent {
    Rendered(Arc<RenderedEvent>),
    /// Events were lost: the client must read its lists again.
    Resync {
        id: u64,
    },
}

impl LiveEvent {
    pub fn id(&self) -> u64 {
        match self {
            Self::Rendered(event) => event.id,
            Self::Resync { id } => *id,
        }
    }

    /// Size in the replay buffer.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Rendered(event) => event.web.len() + event.api.len(),
            Self::Resync { .. } => 0,
        }
    }
}

/// A rendered event that has no id yet.
pub struct EventDraft {
    kind: &'static str,
    about: String,
    web: Value,
    api: Value,
}

impl EventDraft {
    /// Returns `None` if the message was purged. A message that was resolved meanwhile still gets its `opened` event,
    /// so that clients which keep counts see both events.
    pub async fn of(change: LiveChange, hub: &Hub) -> Result<Option<Self>, Problem> {
        Ok(match change {
            LiveChange::Opened(id) => load(hub, &id).await?.map(|item| arrived("opened", &item, hub)),
            LiveChange::Noticed(id) => load(hub, &id).await?.map(|item| arrived("noticed", &item, hub)),
            LiveChange::Resolved(id) => load(hub, &id).await?.and_then(|item| resolved(&item)),
            LiveChange::Tracked(id) => Some(moved("tracked", id.to_string())),
            LiveChange::Run(run_id) => Some(moved("run", run_id)),
        })
    }

    pub fn numbered(self, id: u64) -> RenderedEvent {
        let web = record(id, self.kind, &self.web);
        let api = record(id, self.kind, &self.api);
        RenderedEvent {
            id,
            kind: self.kind,
            about: self.about,
            web,
            api,
        }
    }
}

async fn load(hub: &Hub, id: &MessageId) -> Result<Option<PersonView>, Problem> {
    match find(hub, id).await {
        Ok(item) => Ok(Some(item)),
        Err(Problem::Gone | Problem::NotFound { .. }) => Ok(None),
        Err(problem) => Err(problem),
    }
}

fn arrived(kind: &'static str, item: &PersonView, hub: &Hub) -> EventDraft {
    let message = &item.message;
    let content = &item.message.content;
    let data = |title: &str, agent: &str| {
        json!({
            "id": message.id,
            "rank": inbox_rank(content.priority),
            "seq": item.seq,
            "kind": content.kind_word(),
            "title": title,
            "agent": agent,
            "sensitive": content.sensitive,
        })
    };
    let api = data(&content.title, &content.agent.id);
    // Pages show title and agent as plain text, so hidden characters are escaped here.
    let mut web = data(&escape(&content.title), &escape(asker_name(message)));
    if let Some(row) = hub.news.row_renderer() {
        web["html"] = row(item, hub.store.clock().now()).into();
    }
    EventDraft {
        kind,
        about: message.id.to_string(),
        web,
        api,
    }
}

fn resolved(item: &PersonView) -> Option<EventDraft> {
    let State::Resolved(resolution) = &item.message.state else {
        return None;
    };
    let words = outcome::in_words(resolution, &item.message.content);
    let data = |words: &str| {
        json!({
            "id": item.message.id,
            "words": words,
            "actor": resolution.actor,
            "at_ms": resolution.resolved_at.as_millis(),
        })
    };
    let web = data(&escape(&words));
    let api = data(&words);
    Some(EventDraft {
        kind: "resolved",
        about: item.message.id.to_string(),
        web,
        api,
    })
}

fn moved(kind: &'static str, about: String) -> EventDraft {
    let data = json!({ "id": about });
    EventDraft {
        kind,
        about,
        web: data.clone(),
        api: data,
    }
}

/// Formats one SSE record. Compact JSON has no line breaks, so it fits one `data:` line.
pub fn record(id: u64, kind: &str, data: &Value) -> Bytes {
    format!("id: {id}\nevent: {kind}\ndata: {data}\n\n").into()
}
