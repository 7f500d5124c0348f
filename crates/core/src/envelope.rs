//! Translates an A2H envelope into core content.
//!
//! The store keeps the original envelope and derives the content on every read, so an accepted envelope must stay
//! readable: put new validation rules into the door, not into this translation.

use countersign_protocol::a2h::{AskRequest, Envelope, EnvelopeError, EnvelopePayload, Mode, Version};
use serde::Deserialize;

use crate::access::Actor;
use crate::message::{A2hSource, Content, Payload, Source, Task};
use crate::question::{Ask, Question, approve_or_deny};

/// The first minor version with `allow_edit`.
const EDITING_SINCE: u32 = 6;

#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    Envelope(#[from] EnvelopeError),
}

/// The content of an accepted envelope.
pub fn read_content(wire: &str) -> Result<Content, Unreadable> {
    Ok(content(Envelope::from_value(serde_json::from_str(wire)?)?))
}

/// The resolvers that an accepted envelope names. Nothing else is read or checked.
pub fn read_resolvers(wire: &str) -> Option<Vec<Actor>> {
    #[derive(Deserialize)]
    struct Routed {
        #[serde(alias = "action")]
        request: Routing,
    }
    #[derive(Deserialize)]
    struct Routing {
        allowed_resolvers: Vec<Actor>,
    }
    let read: Routed = serde_json::from_str(wire).ok()?;
    Some(read.request.allowed_resolvers)
}

/// Only translates; `Content::check` validates the question.
pub fn content(envelope: Envelope) -> Content {
    let (payload, named) = match envelope.payload {
        EnvelopePayload::Notify => (Payload::Notify, None),
        EnvelopePayload::Ask(mut request) => {
            let named = request.routing.allowed_resolvers.take();
            (Payload::Ask(ask(request, envelope.version)), named)
        }
        EnvelopePayload::Task(action) => {
            let task = Task {
                instructions: action.instructions,
                checklist: action.checklist,
                verification: action.verification,
            };
            (Payload::Task(task), action.routing.allowed_resolvers)
        }
    };
    let resolvers = match named {
        Some(named) => named.into_iter().map(Actor::named).collect(),
        // Only the submitting agent may resolve.
        None => vec![Actor::agent(&envelope.agent.id)],
    };
    Content {
        resolvers,
        agent: envelope.agent,
        title: envelope.title,
        body: envelope.body,
        priority: envelope.priority,
        tags: envelope.tags,
        context: envelope.context,
        sensitive: envelope.sensitive,
        payload,
    }
}

fn ask(request: AskRequest, version: Version) -> Ask {
    let permissions = request.permissions;
    let allow_edit = version.minor >= EDITING_SINCE && permissions.allow_edit.unwrap_or(false);
    let question = match request.mode {
        Mode::Confirm => Question::Confirm {
            options: request.options.unwrap_or_else(approve_or_deny),
            allow_edit,
        },
        Mode::Select => Question::Select {
            options: request.options.unwrap_or_default(),
            allow_edit,
            many: false,
        },
        Mode::Input => Question::Form {
            schema: request.schema.unwrap_or_default(),
        },
    };
    Ask {
        question,
        may_respond: permissions.allow_respond.unwrap_or(true),
        may_decline: permissions.allow_ignore.unwrap_or(true),
        open_ended: false,
        may_be_empty: false,
        default_on_expire: request.default_on_expire,
    }
}

pub fn source(envelope: &Envelope) -> Source {
    Source::A2h(A2hSource {
        family: envelope.version.family.name().to_owned(),
        run_id: envelope.agent.run_id.clone(),
        version: envelope.version.text(),
    })
}
