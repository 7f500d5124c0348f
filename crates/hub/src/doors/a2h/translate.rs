//! From an envelope to a message in the core's words, with the checks that only the hub can make.

use countersign_core::actor::ActorError;
use countersign_core::message::{Callback, CallbackAuth, Content, Door, Matter, Source, Task};
use countersign_core::question::{Ask, Question, approve_or_deny};
use countersign_core::{Actor, Rejection};
use countersign_protocol::a2h::{self, CallbackMode, Envelope, Mode, PushSigning, Version};

use crate::config::LegacyPush;
use crate::delivery::callback_host;
use crate::problem::Problem;

/// From this minor version on a resolver may be allowed to type an answer of their own.
const EDITING_SINCE: u32 = 6;

pub fn content(envelope: Envelope) -> Result<Content, Rejection> {
    let (matter, named) = match (envelope.request, envelope.action) {
        (Some(mut request), _) => {
            let named = request.allowed_resolvers.take();
            (Matter::Ask(ask(request, envelope.version)?), named)
        }
        (None, Some(action)) => (Matter::Task(task(&action)), action.allowed_resolvers),
        (None, None) => (Matter::Notify, None),
    };
    Ok(Content {
        resolvers: resolvers(named, &envelope.agent.id)?,
        agent: envelope.agent,
        title: envelope.title,
        body: envelope.body,
        priority: envelope.priority,
        tags: envelope.tags,
        context: envelope.context,
        sensitive: envelope.sensitive,
        matter,
    })
}

/// Nobody named means the submitting agent alone, never "anybody".
fn resolvers(named: Option<Vec<String>>, agent_id: &str) -> Result<Vec<Actor>, Rejection> {
    let Some(named) = named else { return Ok(vec![Actor::agent(agent_id)]) };
    let parsed: Result<Vec<Actor>, ActorError> = named.iter().map(|name| name.parse()).collect();
    parsed.map_err(|error| Rejection::field("allowed_resolvers", error.to_string()))
}

fn task(action: &a2h::Action) -> Task {
    Task {
        instructions: action.instructions.clone(),
        checklist: action.checklist.clone(),
        verification: action.verification.clone(),
    }
}

fn ask(request: a2h::Request, version: Version) -> Result<Ask, Rejection> {
    let permissions = request.permissions;
    let allow_edit = version.minor >= EDITING_SINCE && permissions.allow_edit.unwrap_or(false);
    let question = match request.mode {
        Mode::Confirm => Question::Confirm { options: request.options.unwrap_or_else(approve_or_deny), allow_edit },
        Mode::Select => Question::Select { options: request.options.unwrap_or_default(), allow_edit },
        Mode::Input => Question::Form { schema: request.schema.unwrap_or_default() },
    };
    let ask = Ask {
        question,
        may_respond: permissions.allow_respond.unwrap_or(true),
        may_decline: permissions.allow_ignore.unwrap_or(true),
        default_on_expire: request.default_on_expire,
    };
    ask.check()?;
    Ok(ask)
}

pub fn source(envelope: &Envelope) -> Source {
    let ids = [
        ("family", envelope.version.family.name().to_owned()),
        ("version", envelope.version.text()),
        ("run_id", envelope.agent.run_id.clone()),
    ];
    Source { door: Door::A2h, ids: ids.into_iter().map(|(key, id)| (key.to_owned(), id)).collect() }
}

/// The callback a push asks for; nothing for pull.
pub fn callback(envelope: &Envelope, legacy: LegacyPush) -> Result<Option<Callback>, Problem> {
    let (asked, place) = match (&envelope.request, &envelope.action) {
        (Some(request), _) => (request.callback.as_ref(), "request"),
        (None, Some(action)) => (action.callback.as_ref(), "action"),
        (None, None) => (None, ""),
    };
    let Some(asked) = asked.filter(|callback| callback.mode == CallbackMode::Push) else { return Ok(None) };
    check_signing(envelope, legacy)?;
    let url = asked.url.clone().unwrap_or_default();
    let host = callback_host(&url).map_err(|reason| Problem::invalid(format!("{place}.callback.url"), reason))?;
    let auth = asked.auth.as_ref();
    let auth = auth.map(|auth| CallbackAuth { scheme: auth.scheme, reference: auth.reference.clone() });
    Ok(Some(Callback { url, host, auth }))
}

fn check_signing(envelope: &Envelope, legacy: LegacyPush) -> Result<(), Problem> {
    let version = envelope.version;
    let refuse = |message: String| Err(Problem::VersionNotSupported { message });
    match (version.push_signing(), legacy) {
        (Some(PushSigning::Payload), _) => Ok(()),
        (Some(PushSigning::Context), LegacyPush::Negotiate) => {
            tracing::warn!(agent = envelope.agent.id, %version, "a push was asked for whose signature does not cover the answer");
            Ok(())
        }
        (Some(PushSigning::Context), LegacyPush::Reject) => refuse(format!(
            "this hub pushes only with signatures that cover the answer; use 0.3 instead of {version}, or pull"
        )),
        (None, _) => refuse(format!("{version} cannot be pushed safely; use 0.3 or later, or pull")),
    }
}
