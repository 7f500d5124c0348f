//! One message as people, terminals and scripts see it.

use countersign_core::access::{Principal, may_resolve};
use countersign_core::hold::Hold;
use countersign_core::message::{FileNote, Payload, Status, Task};
use countersign_core::outcome::redacted;
use countersign_core::question::{Ask, Question};
use countersign_core::{Content, Resolution, State};
use countersign_protocol::a2h::{Agent, CheckItem, Kind, Priority};
use countersign_protocol::api::inbox::{
    self as api, Choices, ItemDelivery, ItemHold, ItemPermissions, ItemPresence, ItemQuestion, ItemResolution,
    SentFile, TaskDetails,
};
use countersign_store::model::{Delivery, ListEntry, PersonView, UnreadableItem};
use serde_json::Value;

use crate::messages::cue_waiters::{CuePresence, CueState};

/// An item with its context and source as they are stored.
pub type HubItem = api::Item<Value, Value>;

/// One entry of a list.
pub fn render_entry(entry: ListEntry, viewer: &Principal) -> HubItem {
    match entry {
        Ok(item) => render(item, viewer),
        Err(damaged) => unreadable(damaged),
    }
}

pub const UNREADABLE_TITLE: &str = "This message cannot be read";

/// A damaged message, with the fields that every item has, so that clients can list it.
fn unreadable(item: UnreadableItem) -> HubItem {
    let is_notify = item.status == Status::Delivered.as_str();
    HubItem {
        id: item.error.id,
        unreadable: true,
        verb: if is_notify { Kind::Notify } else { Kind::Ask }.as_str().to_owned(),
        status: item.status.parse().unwrap_or(Status::Open).to_string(),
        title: UNREADABLE_TITLE.to_owned(),
        body: Some("It is damaged in the hub's database. `countersign doctor` says more.".to_owned()),
        agent_name: item.agent_id.clone(),
        agent: Agent {
            id: item.agent_id,
            ..Agent::default()
        },
        priority: Priority::Normal.as_str().to_owned(),
        permissions: ItemPermissions {
            respond: false,
            ignore: false,
        },
        created_at: item.received_at.into(),
        ..HubItem::default()
    }
}

pub fn render(item: PersonView, viewer: &Principal) -> HubItem {
    let message = item.message;
    let content = message.content;
    // An agent lists its own messages too, and must not learn of a hold.
    let hold = message.hold.filter(|_| matches!(viewer, Principal::Person { .. }));
    let can_answer = hold.is_none() && can_answer(&message.state, &content, viewer);
    let status = message.state.status().to_string();
    let default_on_expire = match &content.payload {
        Payload::Ask(ask) => ask
            .default_on_expire
            .as_ref()
            .and_then(|value| redacted(value, &content)),
        Payload::Task(_) | Payload::Notify => None,
    };
    let resolution = match message.state {
        State::Resolved(resolution) => Some(shown_resolution(resolution, &content)),
        State::Open | State::Delivered => None,
    };
    let verb = content.payload.kind().as_str().to_owned();
    let (ask, action) = match content.payload {
        Payload::Ask(ask) => (Some(ask), None),
        Payload::Task(task) => (None, Some(task)),
        Payload::Notify => (None, None),
    };
    HubItem {
        id: message.id.to_string(),
        verb,
        status,
        title: content.title,
        body: content.body,
        agent: content.agent,
        agent_name: item.agent_name,
        priority: content.priority.as_str().to_owned(),
        tags: content.tags,
        context: content.context,
        sensitive: content.sensitive,
        permissions: ask.as_ref().map(permissions).unwrap_or_default(),
        open_ended: ask.as_ref().is_some_and(|ask| ask.open_ended),
        may_be_empty: ask.as_ref().is_some_and(|ask| ask.may_be_empty),
        question: ask.map(|ask| shown_question(ask.question)),
        action: action.map(shown_task),
        resolvers: content.resolvers.iter().map(ToString::to_string).collect(),
        can_answer,
        held: hold.as_ref().map(shown_hold),
        created_at: message.received_at.into(),
        expires_at: message.expires_at.map(Into::into),
        default_on_expire,
        source: serde_json::to_value(message.source).ok(),
        fetched_at: item.fetched_at.map(Into::into),
        resolution,
        delivery: item.delivery.map(shown_delivery),
        ..HubItem::default()
    }
}

fn shown_question(question: Question) -> ItemQuestion {
    match question {
        Question::Confirm { options, allow_edit } => ItemQuestion::Confirm(Choices {
            options,
            allow_edit,
            many: false,
        }),
        Question::Select {
            options,
            allow_edit,
            many,
        } => ItemQuestion::Select(Choices {
            options,
            allow_edit,
            many,
        }),
        Question::Text => ItemQuestion::Text,
        Question::Form { schema } => ItemQuestion::Form { schema },
    }
}

fn shown_task(task: Task) -> TaskDetails {
    TaskDetails {
        instructions: task.instructions,
        checklist: Some(task.checklist.into_iter().map(Into::into).collect()),
        verification: task.verification,
    }
}

fn permissions(ask: &Ask) -> ItemPermissions {
    ItemPermissions {
        respond: ask.may_respond,
        ignore: ask.may_decline,
    }
}

fn can_answer(state: &State, content: &Content, viewer: &Principal) -> bool {
    let is_open = state.status() == Status::Open;
    is_open && viewer.resolver().is_ok_and(|actor| may_resolve(content, &actor))
}

pub fn shown_hold(hold: &Hold) -> ItemHold {
    ItemHold {
        by: hold.by.to_string(),
        until: hold.until.into(),
    }
}

fn shown_resolution(resolution: Resolution, content: &Content) -> ItemResolution {
    let steps = |steps: Vec<CheckItem>| steps.into_iter().map(Into::into).collect();
    let files = resolution.files.into_iter().filter(|_| !content.sensitive);
    ItemResolution {
        resolution_id: resolution.id.to_string(),
        resolution: resolution.outcome.to_string(),
        defaulted: resolution.defaulted,
        value: resolution.value.and_then(|value| redacted(&value, content)),
        edited: resolution.edited,
        actor: resolution.actor.to_string(),
        resolved_at: resolution.resolved_at.into(),
        comment: resolution.comment.filter(|_| !content.sensitive),
        checklist: resolution.checklist.map(steps),
        files: files.map(shown_file).collect(),
    }
}

fn shown_file(file: FileNote) -> SentFile {
    SentFile {
        name: file.name,
        media_type: file.media_type,
        size: file.size,
        sha256: file.sha256,
    }
}

pub fn shown_presence(presence: CuePresence) -> ItemPresence {
    let word = |state| match state {
        CueState::Waiting => "waiting",
        CueState::Paused => "paused",
        CueState::Gone => "gone",
    };
    ItemPresence {
        state: presence.state.map(word).map(str::to_owned),
        since: presence.since.map(Into::into),
    }
}

fn shown_delivery(delivery: Delivery) -> ItemDelivery {
    ItemDelivery {
        state: delivery.state.as_str().to_owned(),
        attempts: delivery.attempts.into(),
        next_attempt_at: delivery.next_attempt_at.map(Into::into),
        delivered_at: delivery.delivered_at.map(Into::into),
        last_error: delivery.last_error,
    }
}
