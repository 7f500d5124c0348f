//! POST /v1/messages

use std::sync::Arc;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use countersign_config::LegacyPush;
use countersign_core::limits::check_idempotency_key;
use countersign_core::message::{Callback, CallbackCredential, Status};
use countersign_core::{Actor, Content, Rejection, envelope};
use countersign_protocol::a2h::{
    AuthScheme, CallbackAuth, CallbackMode, Envelope, Kind, PushSigning, Routing, payload_hash,
};
use countersign_protocol::id::MessageId;
use countersign_protocol::json;
use countersign_store::model::{DuplicateOf, Incoming, NewMessage, Submission};
use countersign_store::ops::admin::callbacks::IsApproved;
use countersign_store::ops::admin::secrets::HasSecret;
use countersign_store::ops::message::submit::FindDuplicate;
use serde::Serialize;
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::Hub;
use crate::delivery::callback_host;
use crate::http::body;
use crate::http::callers::AgentCaller;
use crate::problem::Problem;

/// Fields that the hub adds to a pulled envelope. They are removed from a submit.
const HUB_FIELDS: [&str; 5] = ["id", "status", "response", "delivery", "mailbox"];
const NOTICE_HEADER: &str = "countersign-notice";
/// The first minor version with `to`, `agent.session` and resolvers that name a session.
const ADDRESSED_SINCE: u32 = 5;
/// Keeps the error short on a hub with many people.
const MAX_LISTED_NAMES: usize = 10;
/// Of a name, because clients bound the size of headers.
const MAX_SHOWN_BYTES: usize = 80;

pub async fn submit(State(hub): State<Arc<Hub>>, agent: AgentCaller, body: Body) -> Result<Response, Problem> {
    hub.auth.request_limiter.check(&agent.id).await?;
    let (bytes, _permit) = body::read_budgeted(&hub, &agent.id, body, hub.config.limits.max_request_bytes).await?;
    let (wire, envelope) = body::offload_if_large(bytes.len(), move || read(&bytes)).await??;
    if envelope.agent.id != agent.id {
        let message = format!(
            "this credential belongs to agent {}, not to {}",
            agent.id, envelope.agent.id
        );
        return Err(Problem::AgentIdMismatch { message });
    }
    let incoming = IncomingSubmit {
        agent_id: agent.id,
        idempotency_key: envelope.idempotency_key.clone(),
        wire,
    };
    let (message, notice) = match prepare(&hub, envelope, &incoming).await {
        Ok(prepared) => prepared,
        Err(problem) => return replay(&hub, &incoming, problem).await,
    };
    let id = message.id.clone();
    let status = match message.kind {
        Kind::Notify => Status::Delivered,
        Kind::Ask | Kind::Task => Status::Open,
    };
    let max_open = hub.config.inbox_depth.map_or(i64::MAX, i64::from);
    let reply = match hub.messages.accept(message, max_open).await? {
        Submission::Created => ack(&hub, &id, status),
        Submission::Duplicate(earlier) => repeat_ack(&hub, &earlier, &incoming)?,
        Submission::TooManyOpen => {
            return Err(Problem::RateLimited {
                retry_after_seconds: 30,
                message: "too many open asks and tasks for this agent; wait until some are resolved".to_owned(),
            });
        }
    };
    Ok((notice, reply).into_response())
}

fn read(bytes: &Bytes) -> Result<(String, Envelope), Problem> {
    let parsed = json::parse(bytes)?;
    let text = std::str::from_utf8(bytes).unwrap_or_default().trim();
    let has_hub_fields = HUB_FIELDS.iter().any(|field| parsed.get(field).is_some());
    let wire = if has_hub_fields {
        json::without_fields(text, &HUB_FIELDS)?
    } else {
        text.to_owned()
    };
    Ok((wire, Envelope::from_value(parsed)?))
}

struct IncomingSubmit {
    agent_id: String,
    idempotency_key: Option<String>,
    /// The envelope as received, because `state` is returned byte for byte.
    wire: String,
}

/// A header of the reply, because the wire allows no further fields in its body.
type Notice = Option<[(&'static str, String); 1]>;

/// Validates a well-formed envelope. A failure is reported only after the look-up of the idempotency key, see `replay`.
async fn prepare(hub: &Hub, envelope: Envelope, incoming: &IncomingSubmit) -> Result<(NewMessage, Notice), Problem> {
    let received_at = hub.store.clock().now();
    let limits = &hub.config.limits;
    // `state` is part of the wire text, so a short wire needs no check of its own.
    if envelope.has_state && incoming.wire.len() > limits.max_state_bytes {
        let state = json::raw_field(&incoming.wire, "state")?;
        limits.check_state(state.map(RawValue::get).unwrap_or_default())?;
    }
    if let Some(key) = &envelope.idempotency_key {
        check_idempotency_key(key)?;
    }
    if envelope.expires_at.is_some_and(|expires_at| expires_at <= received_at) {
        return Err(Rejection::field("expires_at", "is in the past; give a time in the future").into());
    }
    check_destination(&envelope)?;
    let callback = push_callback(hub, &envelope).await?;
    let kind = envelope.payload.kind();
    let section = envelope.payload.routing().map(|routing| routing.section);
    let priority = envelope.priority;
    let expires_at = envelope.expires_at;
    let source = envelope::source(&envelope);
    let content = envelope::content(envelope);
    content.check()?;
    limits.check(&content, incoming.wire.len())?;
    let notice = check_resolvers(hub, section, &content).await?;
    let row = Incoming {
        id: MessageId::from_uuid(Uuid::now_v7()),
        agent_id: incoming.agent_id.clone(),
        kind,
        priority,
        received_at,
        recorded_at: received_at,
        event: "submitted",
        expires_at: expires_at.filter(|_| kind != Kind::Notify),
        idempotency_key: incoming.idempotency_key.clone(),
        source: &source,
        callback: callback.as_ref(),
        content: None,
        wire: incoming.wire.clone(),
    };
    Ok((row.into_row()?, notice))
}

/// Refuses an envelope that addresses an agent or a session. From MA2H 0.5 on it can; this hub delivers to people
/// only, and must not show them such an envelope.
fn check_destination(envelope: &Envelope) -> Result<(), Problem> {
    let is_addressable = envelope.version.minor >= ADDRESSED_SINCE;
    if let Some(to) = &envelope.to {
        if !is_addressable {
            return Err(too_early("to"));
        }
        if !to.as_str().is_some_and(is_agent_address) {
            return Err(Problem::validation("to", "`to` must be agent:ID or agent:ID#sess_…"));
        }
        let message = "this hub delivers to people only: leave out `to` and name them in allowed_resolvers".to_owned();
        return Err(Problem::NotAuthorized { message });
    }
    if let Some(session) = &envelope.session {
        if !is_addressable {
            return Err(too_early("agent.session"));
        }
        if !session.as_str().is_some_and(is_session_id) {
            return Err(Problem::validation("agent.session", "`agent.session` must be sess_…"));
        }
        return Err(Problem::invalid(
            "agent.session",
            "this hub has no sessions: leave it out",
        ));
    }
    let Some(routing) = envelope.payload.routing().filter(|_| is_addressable) else {
        return Ok(());
    };
    let field = format!("{}.allowed_resolvers", routing.section);
    let named = routing.allowed_resolvers.as_deref().unwrap_or_default();
    match named.iter().find(|actor| has_session(actor)) {
        Some(actor) if !is_agent_address(actor) => Err(Problem::validation(
            &field,
            format!("{actor} must be agent:ID or agent:ID#sess_…"),
        )),
        Some(actor) => Err(Problem::invalid(
            field,
            format!("{actor} names a session, and this hub has none: name the agent or a person"),
        )),
        None => Ok(()),
    }
}

fn too_early(field: &str) -> Problem {
    Problem::invalid(
        field,
        "needs ma2h_version 0.5 or later; this hub delivers to people only: leave it out",
    )
}

/// `#` separates an agent's id from its session.
fn has_session(actor: &str) -> bool {
    actor.starts_with("agent:") && actor.contains('#')
}

fn is_agent_address(text: &str) -> bool {
    let Some(address) = text.strip_prefix("agent:") else {
        return false;
    };
    match address.split_once('#') {
        Some((id, session)) => !id.is_empty() && is_session_id(session),
        None => !address.is_empty(),
    }
}

fn is_session_id(text: &str) -> bool {
    text.strip_prefix("sess_").is_some_and(|id| !id.is_empty())
}

/// The callback of a push request with all its checks; `None` for pull.
async fn push_callback(hub: &Hub, envelope: &Envelope) -> Result<Option<Callback>, Problem> {
    let Some(Routing {
        section,
        callback: Some(requested),
        ..
    }) = envelope.payload.routing()
    else {
        return Ok(None);
    };
    if requested.mode == CallbackMode::Pull {
        return Ok(None);
    }
    check_signing(envelope, hub.config.push.legacy)?;
    let bad_url = |reason: String| Problem::invalid(format!("{section}.callback.url"), reason);
    let url = requested.url.clone().unwrap_or_default();
    let host = callback_host(&url, hub.config.push.allow_loopback).map_err(bad_url)?;
    let agent_id = envelope.agent.id.clone();
    let approved = IsApproved {
        agent_id: agent_id.clone(),
        host: host.clone(),
    };
    if !hub.store.run(approved).await? {
        return Err(bad_url(format!(
            "{host} is not approved for agent {agent_id}; the owner approves it with \
             `countersign agent callback approve {agent_id} {host}`"
        )));
    }
    if let Some(auth) = &requested.auth {
        check_secret(hub, agent_id, auth, section).await?;
    }
    let auth = requested.auth.as_ref().map(|auth| CallbackCredential {
        scheme: auth.scheme,
        reference: auth.reference.clone(),
    });
    Ok(Some(Callback { url, host, auth }))
}

async fn check_secret(hub: &Hub, agent_id: String, auth: &CallbackAuth, section: &str) -> Result<(), Problem> {
    let name = &auth.reference;
    let registered = HasSecret {
        agent_id: agent_id.clone(),
        name: name.clone(),
    };
    if hub.store.run(registered).await? {
        return Ok(());
    }
    let field = if auth.scheme == AuthScheme::Hmac {
        "secret_ref"
    } else {
        "token_ref"
    };
    Err(Problem::invalid(
        format!("{section}.callback.auth.{field}"),
        format!("no secret {name} is registered; the owner sets it with `countersign secret set {agent_id} {name}`"),
    ))
}

fn check_signing(envelope: &Envelope, legacy: LegacyPush) -> Result<(), Problem> {
    let version = envelope.version;
    let refuse = |message: String| Err(Problem::VersionNotSupported { message });
    match (version.push_signing(), legacy) {
        (Some(PushSigning::Payload), _) => Ok(()),
        (Some(PushSigning::Context), LegacyPush::Negotiate) => {
            tracing::warn!(agent = envelope.agent.id, %version, "accepted a push request with a legacy signature that does not cover the answer");
            Ok(())
        }
        (Some(PushSigning::Context), LegacyPush::Reject) => refuse(format!(
            "this hub pushes only with signatures that cover the answer; use 0.3 instead of {version}, or pull"
        )),
        (None, _) => refuse(format!(
            "{version} has no safe push signature; use 0.3 or later, or pull"
        )),
    }
}

/// Refuses an ask or a task that no existing account can resolve: it would wait forever. Returns a notice that names the
/// missing accounts if others can, and one for a message that only its own agent can resolve: the wire demands
/// acceptance of an ask without `allowed_resolvers`, which means just that.
async fn check_resolvers(hub: &Hub, section: Option<&str>, content: &Content) -> Result<Notice, Problem> {
    let Some(section) = section else { return Ok(None) };
    let unknown = hub.auth.resolvers.unknown(&hub.store, content).await?;
    if unknown.names.is_empty() && !unknown.is_stranded {
        return Ok(None);
    }
    if unknown.is_stranded && content.resolvers.contains(&Actor::agent(&content.agent.id)) {
        let text = "no person can answer this, because allowed_resolvers names no other account that exists";
        return Ok(Some([(NOTICE_HEADER, text.to_owned())]));
    }
    let suggestion = suggestion(hub).await?;
    if unknown.is_stranded {
        let message = format!("names no account that may answer; names must match exactly; {suggestion}");
        return Err(Problem::invalid(format!("{section}.allowed_resolvers"), message));
    }
    let text = format!(
        "allowed_resolvers names accounts that cannot answer here: {}; names must match exactly; {suggestion}",
        list(unknown.names.iter().map(|actor| actor.as_str()))
    );
    // A header has ASCII only.
    Ok(Some([(NOTICE_HEADER, text.escape_default().to_string())]))
}

/// The people to name instead. An agent may know them: it has to name them, and answers carry their names.
async fn suggestion(hub: &Hub) -> Result<String, Problem> {
    let people = hub.auth.resolvers.people(&hub.store).await?;
    Ok(format!("who may answer: {}", list(people.iter().map(Actor::as_str))))
}

fn list<'n>(names: impl ExactSizeIterator<Item = &'n str>) -> String {
    let more = names.len().saturating_sub(MAX_LISTED_NAMES);
    let shown = names
        .take(MAX_LISTED_NAMES)
        .map(|name| &name[..name.floor_char_boundary(MAX_SHOWN_BYTES)]);
    let listed = shown.collect::<Vec<_>>().join(", ");
    match more {
        0 => listed,
        _ => format!("{listed} and {more} more"),
    }
}

/// Idempotent replay: a request that fails validation now may have passed it the first time, and then gets its ack
/// again.
async fn replay(hub: &Hub, incoming: &IncomingSubmit, problem: Problem) -> Result<Response, Problem> {
    let Some(key) = incoming.idempotency_key.clone() else {
        return Err(problem);
    };
    let agent_id = incoming.agent_id.clone();
    match hub.store.run(FindDuplicate { agent_id, key }).await? {
        Some(earlier) => repeat_ack(hub, &earlier, incoming),
        None => Err(problem),
    }
}

/// Payloads are hashed only here, so that a submit with a new key does not pay for it.
fn repeat_ack(hub: &Hub, earlier: &DuplicateOf, incoming: &IncomingSubmit) -> Result<Response, Problem> {
    let hash = |wire: &str| json::parse(wire.as_bytes()).map(|payload| payload_hash(&payload));
    if hash(&earlier.wire)? == hash(&incoming.wire)? {
        return Ok(ack(hub, &earlier.id, earlier.status));
    }
    Err(Problem::IdempotencyConflict)
}

fn ack(hub: &Hub, id: &MessageId, status: Status) -> Response {
    let poll_url = format!("{}/v1/messages/{id}", hub.agent_url());
    let review_url = format!("{}/inbox/items/{id}", hub.process.browser_url());
    (
        StatusCode::ACCEPTED,
        Json(SubmitAccepted {
            id,
            status: status.as_str(),
            poll_url,
            review_url,
        }),
    )
        .into_response()
}

#[derive(Serialize)]
struct SubmitAccepted<'a> {
    id: &'a MessageId,
    status: &'static str,
    poll_url: String,
    /// The page where a person decides.
    review_url: String,
}
