//! One thing that happened, in the words of those who look on.

use std::sync::Arc;

use bytes::Bytes;
use countersign_core::message::{State, inbox_rank};
use countersign_protocol::id::MessageId;
use countersign_protocol::visible::escape;
use countersign_store::model::Item;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::app::Hub;
use crate::inbox::asker::asker;
use crate::inbox::find::find;
use crate::inbox::outcome;
use crate::problem::Problem;

/// What whoever changed something has to say about it, after the commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    Opened(MessageId),
    /// A notify came.
    Noticed(MessageId),
    Resolved(MessageId),
    /// The answer moved on its way to the agent.
    Tracked(MessageId),
    /// A run began or ended. What it asks is told as everything else that is asked.
    Run(String),
}

#[derive(Debug)]
pub struct Event {
    pub id: u64,
    pub kind: &'static str,
    /// The id of what it is about: a message or a run.
    pub about: String,
    /// The whole record for pages, with HTML in it.
    pub web: Bytes,
    /// The whole record for terminals and scripts.
    pub api: Bytes,
}

#[derive(Debug, Clone)]
pub enum Heard {
    Event(Arc<Event>),
    /// Something was missed: look at everything again.
    Resync {
        id: u64,
    },
}

impl Heard {
    pub fn id(&self) -> u64 {
        match self {
            Self::Event(event) => event.id,
            Self::Resync { id } => *id,
        }
    }

    /// How much there is to keep.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Event(event) => event.web.len() + event.api.len(),
            Self::Resync { .. } => 0,
        }
    }
}

/// An event that has no number yet.
pub struct Draft {
    kind: &'static str,
    about: String,
    web: Value,
    api: Value,
}

impl Draft {
    /// Nothing, if the message is gone. One that was resolved meanwhile has opened all the same: whoever counts hears of
    /// both.
    pub async fn of(change: Change, hub: &Hub) -> Result<Option<Self>, Problem> {
        Ok(match change {
            Change::Opened(id) => load(hub, &id).await?.map(|item| arrived("opened", &item, hub)),
            Change::Noticed(id) => load(hub, &id).await?.map(|item| arrived("noticed", &item, hub)),
            Change::Resolved(id) => load(hub, &id).await?.and_then(|item| resolved(&item)),
            Change::Tracked(id) => Some(moved("tracked", id.to_string())),
            Change::Run(run_id) => Some(moved("run", run_id)),
        })
    }

    pub fn numbered(self, id: u64) -> Event {
        let web = record(id, self.kind, &self.web);
        let api = record(id, self.kind, &self.api);
        Event {
            id,
            kind: self.kind,
            about: self.about,
            web,
            api,
        }
    }
}

async fn load(hub: &Hub, id: &MessageId) -> Result<Option<Item>, Problem> {
    match find(hub, id).await {
        Ok(item) => Ok(Some(item)),
        Err(Problem::Gone | Problem::NotFound { .. }) => Ok(None),
        Err(problem) => Err(problem),
    }
}

fn arrived(kind: &'static str, item: &Item, hub: &Hub) -> Draft {
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
    // A page shows these two as they stand.
    let mut web = data(&escape(&content.title), &escape(asker(message)));
    if let Some(row) = hub.news.row_renderer() {
        web["html"] = row(item, hub.store.clock().now()).into();
    }
    Draft {
        kind,
        about: message.id.to_string(),
        web,
        api,
    }
}

fn resolved(item: &Item) -> Option<Draft> {
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
    Some(Draft {
        kind: "resolved",
        about: item.message.id.to_string(),
        web,
        api,
    })
}

fn moved(kind: &'static str, about: String) -> Draft {
    let data = json!({ "id": about });
    Draft {
        kind,
        about,
        web: data.clone(),
        api: data,
    }
}

/// JSON without line breaks is one line of data.
pub fn record(id: u64, kind: &str, data: &Value) -> Bytes {
    format!("id: {id}\nevent: {kind}\ndata: {data}\n\n").into()
}
