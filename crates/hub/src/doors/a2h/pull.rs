//! GET /v1/messages/{id}, with long-poll and conditional requests.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use countersign_core::State as MessageState;
use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;
use countersign_store::model::{AgentView, Lookup};
use countersign_store::ops::message::pull::Pull;
use countersign_store::waiters::WaiterKind;
use http_body::{Frame, SizeHint};
use serde::Deserialize;

use crate::Hub;
use crate::delivery::respond;
use crate::http::callers::AgentCaller;
use crate::http::extract::{MessagePath, Params, parse_wait};
use crate::http::long_poll::{Polled, long_poll};
use crate::problem::Problem;

#[derive(Debug, Deserialize)]
pub struct PullQuery {
    wait: Option<String>,
    since: Option<String>,
}

pub async fn pull(
    State(hub): State<Arc<Hub>>,
    agent: AgentCaller,
    MessagePath(id): MessagePath,
    Params(query): Params<PullQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let known = KnownVersion {
        // Copied, because a header value would keep the whole head in memory during the wait.
        etag: headers
            .get(header::IF_NONE_MATCH)
            .and_then(|value| value.to_str().ok())
            .map(str::to_owned),
        since: query.since.as_deref().map(parse_since).transpose()?,
    };
    let wait = parse_wait(query.wait.as_deref())?;
    drop((query, headers));
    let view = if wait.is_zero() {
        Box::pin(load(&hub, &agent.id, &id)).await?
    } else {
        let mut polled = PolledMessage {
            hub: &hub,
            agent: &agent,
            id: &id,
        };
        long_poll(&hub, &id, wait, &mut polled).await?
    };
    if known.is_current(&view) {
        return Ok((StatusCode::NOT_MODIFIED, [(header::ETAG, etag(&view))]).into_response());
    }
    render(hub, &view)
}

/// The version that the caller already has, by `If-None-Match` or `since`.
struct KnownVersion {
    etag: Option<String>,
    since: Option<Timestamp>,
}

fn parse_since(text: &str) -> Result<Timestamp, Problem> {
    // An unescaped `+` of an offset arrives as a space.
    Timestamp::parse_rfc3339(&text.replace(' ', "+"))
        .ok_or_else(|| Problem::validation("since", "since must be an RFC 3339 date-time"))
}

impl KnownVersion {
    fn is_current(&self, view: &AgentView) -> bool {
        let current = etag_text(view);
        let tags = self.etag.as_deref().unwrap_or_default().split(',').map(str::trim);
        let has_current = tags
            .into_iter()
            .any(|tag| tag == "*" || tag.trim_start_matches("W/") == current);
        has_current || self.since.is_some_and(|since| view.changed_at() <= since)
    }
}

/// A message of this agent. The wake-up brings all that a pull needs, so nothing is read again.
struct PolledMessage<'p> {
    hub: &'p Hub,
    agent: &'p AgentCaller,
    id: &'p MessageId,
}

impl Polled for PolledMessage<'_> {
    const WAITER: WaiterKind = WaiterKind::Agent;
    type Found = AgentView;

    async fn read(&mut self) -> Result<AgentView, Problem> {
        load(self.hub, &self.agent.id, self.id).await
    }

    fn is_open(found: &AgentView) -> bool {
        matches!(found.state, MessageState::Open)
    }

    async fn recheck(&self) -> Result<(), Problem> {
        self.agent.recheck(self.hub).await
    }

    fn resolved(message: AgentView) -> Option<AgentView> {
        Some(message)
    }
}

/// Another agent's message gives the same 404 as a missing one.
async fn load(hub: &Hub, agent_id: &str, id: &MessageId) -> Result<AgentView, Problem> {
    loop {
        let view = match hub.store.run(Pull(id.clone())).await? {
            Some(Lookup::Present(view)) if view.agent_id == agent_id => view,
            Some(Lookup::Purged { agent_id: owner }) if owner == agent_id => return Err(Problem::Gone),
            Some(Lookup::Present(_) | Lookup::Purged { .. }) | None => return Err(Problem::no_message()),
        };
        if !hub.messages.expire_if_overdue(&view).await? {
            return Ok(view);
        }
    }
}

fn etag_text(view: &AgentView) -> String {
    format!("\"{}-{}\"", view.id, view.rev)
}

fn etag(view: &AgentView) -> HeaderValue {
    HeaderValue::from_str(&etag_text(view)).unwrap_or_else(|_| HeaderValue::from_static("\"\""))
}

/// The envelope as received, with the hub's fields in front.
fn render(hub: Arc<Hub>, view: &AgentView) -> Result<Response, Problem> {
    let members = view.wire.strip_prefix('{').unwrap_or_default();
    let status = view.state.status();
    let body = match &view.state {
        MessageState::Open | MessageState::Delivered => {
            Body::from(format!("{{\"id\":\"{}\",\"status\":\"{status}\",{members}", view.id))
        }
        MessageState::Resolved(resolution) => {
            let response = respond::compose(view, resolution)?.text;
            let text = format!(
                "{{\"id\":\"{}\",\"status\":\"{status}\",\"response\":{response},{members}",
                view.id
            );
            Body::new(ReceiptBody {
                text: Some(text.into()),
                hub,
                id: view.id.clone(),
            })
        }
    };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache")),
        (header::ETAG, etag(view)),
    ];
    Ok((headers, body).into_response())
}

/// A response body that records the answer as fetched when the connection reads it: not for a client that has
/// disconnected, and not for a HEAD request.
struct ReceiptBody {
    /// The body in one chunk, until it is read.
    text: Option<Bytes>,
    hub: Arc<Hub>,
    id: MessageId,
}

impl http_body::Body for ReceiptBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let Some(text) = self.text.take() else {
            return Poll::Ready(None);
        };
        // Recorded here, because a connection that knows the length does not poll for the end.
        self.hub.background.receipts.record(&self.id);
        Poll::Ready(Some(Ok(Frame::data(text))))
    }

    fn is_end_stream(&self) -> bool {
        self.text.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.text.as_ref().map_or(0, |text| text.len() as u64))
    }
}
