//! POST /v1/messages

use std::sync::Arc;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use countersign_core::Rejection;
use countersign_core::envelope;
use countersign_core::limits::check_idempotency_key;
use countersign_core::message::{Callback, Status};
use countersign_protocol::a2h::{AuthScheme, Envelope, Kind, payload_hash};
use countersign_protocol::id::MessageId;
use countersign_protocol::json;
use countersign_protocol::time::Timestamp;
use countersign_store::model::{DuplicateOf, Incoming, NewMessage, Submission};
use countersign_store::ops::admin::callbacks::IsApproved;
use countersign_store::ops::admin::secrets::HasSecret;
use countersign_store::ops::message::submit::FindDuplicate;
use serde::Serialize;
use serde_json::Value;
use url::Url;
use uuid::Uuid;

use super::{addressing, callback};
use crate::Hub;
use crate::delivery::guard::check_url;
use crate::http::body;
use crate::http::callers::AgentCaller;
use crate::problem::Problem;

/// Fields that the hub adds to a pulled envelope. They are removed from a submit.
const HUB_FIELDS: [&str; 5] = ["id", "status", "response", "delivery", "mailbox"];
const NOTICE_HEADER: &str = "countersign-notice";

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
    match prepare(&hub, envelope, &incoming).await {
        Ok((message, notice)) => Ok((notice, store(&hub, message, &incoming).await?).into_response()),
        Err(problem) => replay(&hub, &incoming, problem).await,
    }
}

fn read(bytes: &Bytes) -> Result<(String, Envelope), Problem> {
    let parsed = json::parse(bytes)?;
    Ok((wire(bytes, &parsed)?, Envelope::from_value(parsed)?))
}

struct IncomingSubmit {
    agent_id: String,
    idempotency_key: Option<String>,
    /// The envelope as received, because `state` is returned byte for byte.
    wire: String,
}

fn wire(bytes: &Bytes, parsed: &Value) -> Result<String, Problem> {
    let text = std::str::from_utf8(bytes).unwrap_or_default().trim();
    let has_hub_fields = HUB_FIELDS.iter().any(|field| parsed.get(field).is_some());
    Ok(if has_hub_fields {
        json::without_fields(text, &HUB_FIELDS)?
    } else {
        text.to_owned()
    })
}

/// A header of the ack, whose body is closed by the wire.
type Notice = Option<[(&'static str, &'static str); 1]>;

/// Validates a well-formed envelope. A failure is reported only after the look-up of the idempotency key, see `replay`.
async fn prepare(hub: &Hub, envelope: Envelope, incoming: &IncomingSubmit) -> Result<(NewMessage, Notice), Problem> {
    let received_at = hub.store.clock().now();
    check_envelope(hub, &envelope, incoming, received_at)?;
    addressing::check_destination(&envelope)?;
    let callback = callback::requested_callback(&envelope, hub.config.push.legacy)?;
    if let Some(callback) = &callback {
        check_callback(hub, &envelope, callback).await?;
    }
    let kind = envelope.kind;
    let priority = envelope.priority;
    let expires_at = envelope.expires_at;
    let source = envelope::source(&envelope);
    let content = envelope::content(envelope)?;
    content.check()?;
    hub.config.limits.check(&content, incoming.wire.len())?;
    let notice = addressing::check_resolvers(hub, kind, &content).await?;
    let notice = notice.map(|text| [(NOTICE_HEADER, text)]);
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

fn check_envelope(hub: &Hub, envelope: &Envelope, incoming: &IncomingSubmit, now: Timestamp) -> Result<(), Problem> {
    let limits = &hub.config.limits;
    // `state` is part of the wire text, so a short wire needs no check of its own.
    if envelope.has_state && incoming.wire.len() > limits.max_state_bytes {
        limits.check_state(json::raw_field(&incoming.wire, "state")?.unwrap_or_default())?;
    }
    if let Some(key) = &envelope.idempotency_key {
        check_idempotency_key(key)?;
    }
    if envelope.expires_at.is_some_and(|expires_at| expires_at <= now) {
        return Err(Rejection::field("expires_at", "is in the past; give a time in the future").into());
    }
    Ok(())
}

async fn check_callback(hub: &Hub, envelope: &Envelope, callback: &Callback) -> Result<(), Problem> {
    let section = if envelope.kind == Kind::Task {
        "action.callback"
    } else {
        "request.callback"
    };
    let bad_url = |reason: String| Problem::invalid(format!("{section}.url"), reason);
    let url = Url::parse(&callback.url).map_err(|error| bad_url(error.to_string()))?;
    check_url(&url, hub.config.push.allow_loopback).map_err(|refused| bad_url(refused.to_string()))?;
    let agent_id = envelope.agent.id.clone();
    let host = callback.host.clone();
    if !hub
        .store
        .run(IsApproved {
            agent_id: agent_id.clone(),
            host: host.clone(),
        })
        .await?
    {
        let message = format!(
            "{host} is not approved for agent {agent_id}; the owner approves it with \
             `countersign agent callback approve {agent_id} {host}`"
        );
        return Err(bad_url(message));
    }
    let Some(auth) = &callback.auth else { return Ok(()) };
    let name = auth.reference.clone();
    if !hub
        .store
        .run(HasSecret {
            agent_id: agent_id.clone(),
            name: name.clone(),
        })
        .await?
    {
        let message = format!(
            "no secret {name} is registered; the owner sets it with `countersign secret set {agent_id} {name}`"
        );
        let field = if auth.scheme == AuthScheme::Hmac {
            "secret_ref"
        } else {
            "token_ref"
        };
        return Err(Problem::invalid(format!("{section}.auth.{field}"), message));
    }
    Ok(())
}

async fn store(hub: &Hub, message: NewMessage, incoming: &IncomingSubmit) -> Result<Response, Problem> {
    let id = message.id.clone();
    let status = match message.kind {
        Kind::Notify => Status::Delivered,
        Kind::Ask | Kind::Task => Status::Open,
    };
    let max_open = hub.config.inbox_depth.map_or(i64::MAX, i64::from);
    match hub.messages.accept(message, max_open).await? {
        Submission::Created => Ok(ack(hub, &id, status)),
        Submission::Duplicate(earlier) => repeat_ack(hub, &earlier, incoming),
        Submission::TooManyOpen => Err(Problem::RateLimited {
            retry_after_seconds: 30,
            message: "too many open asks and tasks for this agent; wait until some are resolved".to_owned(),
        }),
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
    let poll_url = format!("{}/v1/messages/{id}", hub.process.url());
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
