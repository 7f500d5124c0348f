//! The live events of the inbox: each change is read once and rendered for pages and for API clients.

use std::sync::Arc;

use countersign_core::asker::asker_name;
use countersign_core::message::{State, inbox_rank};
use countersign_core::{Language, outcome};
use countersign_protocol::escape::escape;
use countersign_protocol::id::MessageId;
use countersign_store::model::PersonView;
use serde_json::{Value, json};

use super::find::find;
use super::item::shown_hold;
use crate::Hub;
use crate::cluster::LiveChange;
use crate::live::{EventDraft, LiveRenderer};
use crate::problem::Problem;

/// Renders and broadcasts changes until the future is dropped.
pub async fn run(hub: Arc<Hub>) {
    let mut changes = hub.live.changes().await;
    while let Some(change) = changes.next().await {
        match draft(change, &hub).await {
            Ok(Some(draft)) => hub.live.broadcast(draft),
            Ok(None) => {}
            // The store error is already logged.
            Err(_) => hub.live.push_resync(),
        }
    }
}

/// Returns `None` if the message was purged or is damaged. A message that was resolved meanwhile still gets its `opened` event, so that
/// clients which keep counts see both events.
async fn draft(change: LiveChange, hub: &Hub) -> Result<Option<EventDraft>, Problem> {
    Ok(match change {
        LiveChange::Opened(id) => load(hub, &id).await?.map(|item| arrived("opened", &item, hub)),
        LiveChange::Noticed(id) => load(hub, &id).await?.map(|item| arrived("noticed", &item, hub)),
        LiveChange::Resolved(id) => load(hub, &id).await?.and_then(|item| resolved(&item, hub)),
        LiveChange::Held(id) => load(hub, &id).await?.and_then(|item| held(&item, hub)),
        LiveChange::Tracked(id) => Some(moved("tracked", id.to_string())),
        LiveChange::Run(run_id) => Some(moved("run", run_id)),
    })
}

async fn load(hub: &Hub, id: &MessageId) -> Result<Option<PersonView>, Problem> {
    match find(hub, id).await {
        Ok(item) => Ok(Some(item)),
        Err(Problem::Gone | Problem::NotFound { .. } | Problem::Unreadable { .. }) => Ok(None),
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
    let plain = data(&escape(&content.title), &escape(asker_name(message, &item.agent_name)));
    EventDraft {
        kind,
        about: message.id.to_string(),
        web: in_languages(hub, |language, renderer| {
            let mut web = plain.clone();
            if let Some(renderer) = renderer {
                web["html"] = (renderer.row)(item, hub.store.clock().now(), language).into();
            }
            web
        }),
        api,
    }
}

/// The data of an event in each language that pages are open in.
fn in_languages(hub: &Hub, data: impl Fn(Language, Option<LiveRenderer>) -> Value) -> Vec<(Language, Value)> {
    let renderer = hub.live.renderer();
    let languages = hub.live.languages();
    languages.map(|language| (language, data(language, renderer))).collect()
}

/// A decision is on hold, or was taken back. `None` once the message is resolved: that has an event of its own.
fn held(item: &PersonView, hub: &Hub) -> Option<EventDraft> {
    let State::Open = item.message.state else { return None };
    let mut draft = arrived("held", item, hub);
    let held = json!(item.message.hold.as_ref().map(shown_hold));
    for (_, data) in &mut draft.web {
        data["held"] = held.clone();
    }
    draft.api["held"] = held;
    Some(draft)
}

fn resolved(item: &PersonView, hub: &Hub) -> Option<EventDraft> {
    let State::Resolved(resolution) = &item.message.state else {
        return None;
    };
    let content = &item.message.content;
    let text = outcome::describe(resolution, content, outcome::ENGLISH);
    let data = |text: &str| {
        json!({
            "id": item.message.id,
            "words": text,
            "actor": resolution.actor,
            "at_ms": resolution.resolved_at.as_millis(),
        })
    };
    let web = in_languages(hub, |language, renderer| match renderer {
        Some(renderer) => data(&escape(&(renderer.outcome)(resolution, content, language))),
        None => data(&escape(&text)),
    });
    let api = data(&text);
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
        web: vec![(Language::English, data.clone())],
        api: data,
    }
}
