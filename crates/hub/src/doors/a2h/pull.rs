//! GET /v1/messages/{id}, with long-poll and conditions.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use countersign_core::State as MessageState;
use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;
use countersign_store::model::{Found, Pulled};
use countersign_store::ops::pull::Pull;
use serde::Deserialize;
use tokio::time::Instant;

use super::receipted::Receipted;
use super::respond;
use crate::app::Hub;
use crate::auth::AgentCaller;
use crate::extract::{MessagePath, Params, wait_of};
use crate::problem::Problem;
use crate::wake::BEFORE_ANOTHER_LOOK;

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
    let known = Known::from_request(&query, &headers)?;
    let wait = wait_of(query.wait.as_deref())?;
    drop((query, headers));
    let pulled = if wait.is_zero() {
        Box::pin(look(&hub, &agent.id, &id)).await?
    } else {
        look_until_terminal(&hub, &agent, &id, wait).await?
    };
    if known.covers(&pulled) {
        return Ok((StatusCode::NOT_MODIFIED, [(header::ETAG, etag(&pulled))]).into_response());
    }
    render(hub, &pulled)
}

/// What the caller says it has already.
struct Known {
    etag: Option<String>,
    since: Option<Timestamp>,
}

impl Known {
    fn from_request(query: &PullQuery, headers: &HeaderMap) -> Result<Self, Problem> {
        let since = query.since.as_deref().map(|text| {
            // A `+` of an offset arrives as a space when it was not escaped.
            Timestamp::parse_rfc3339(&text.replace(' ', "+"))
                .ok_or_else(|| Problem::validation("since", "since must be an RFC 3339 date-time"))
        });
        let etag = headers
            .get(header::IF_NONE_MATCH)
            .and_then(|value| value.to_str().ok())
            .map(str::to_owned);
        Ok(Self {
            etag,
            since: since.transpose()?,
        })
    }

    fn covers(&self, pulled: &Pulled) -> bool {
        let current = etag_text(pulled);
        let tags = self.etag.as_deref().unwrap_or_default().split(',').map(str::trim);
        let has_current = tags
            .into_iter()
            .any(|tag| tag == "*" || tag.trim_start_matches("W/") == current);
        has_current || self.since.is_some_and(|since| pulled.changed_at() <= since)
    }
}

/// Registers first and looks then, so that no resolution falls between the two.
async fn look_until_terminal(
    hub: &Arc<Hub>,
    agent: &AgentCaller,
    id: &MessageId,
    wait: Duration,
) -> Result<Pulled, Problem> {
    let deadline = Instant::now() + wait;
    let mut stopping = hub.stopping.clone();
    let mut endings = hub.credentials.endings();
    let mut has_looked = false;
    loop {
        let mut waiter = hub.wake.register(id);
        // On the heap and gone while the agent waits: what a look needs is many times what waiting needs.
        let pulled = match Box::pin(look(hub, &agent.id, id)).await {
            // Whoever waits already goes on waiting while the store is away.
            Err(Problem::Unavailable { .. }) if has_looked && Instant::now() < deadline && !*stopping.borrow() => {
                tokio::time::sleep(BEFORE_ANOTHER_LOOK).await;
                continue;
            }
            looked => looked?,
        };
        has_looked = true;
        if !matches!(pulled.state, MessageState::Open) || *stopping.borrow() || Instant::now() >= deadline {
            return Ok(pulled);
        }
        drop(pulled);
        tokio::select! {
            // In this order: whoever may not hear any more hears nothing that came after.
            biased;
            _ = endings.changed() => Box::pin(agent.check_again(hub)).await?,
            resolved = waiter.rung() => if let Some(resolved) = resolved { return Ok(*resolved) },
            () = tokio::time::sleep_until(deadline) => {}
            _ = stopping.changed() => {}
        }
    }
}

/// A message of somebody else looks like none at all.
async fn look(hub: &Hub, agent_id: &str, id: &MessageId) -> Result<Pulled, Problem> {
    loop {
        let pulled = match hub.store.run(Pull(id.clone())).await? {
            Some(Found::Live(pulled)) if pulled.agent_id == agent_id => pulled,
            Some(Found::Gone { agent_id: owner }) if owner == agent_id => return Err(Problem::Gone),
            Some(Found::Live(_) | Found::Gone { .. }) | None => return Err(Problem::no_message()),
        };
        if !hub.expire_if_overdue(&pulled).await? {
            return Ok(pulled);
        }
    }
}

fn etag_text(pulled: &Pulled) -> String {
    format!("\"{}-{}\"", pulled.id, pulled.rev)
}

fn etag(pulled: &Pulled) -> HeaderValue {
    HeaderValue::from_str(&etag_text(pulled)).unwrap_or_else(|_| HeaderValue::from_static("\"\""))
}

/// The envelope as it came, with what the hub knows put in front.
fn render(hub: Arc<Hub>, pulled: &Pulled) -> Result<Response, Problem> {
    let members = pulled.wire.strip_prefix('{').unwrap_or_default();
    let status = pulled.state.status();
    let body = match &pulled.state {
        MessageState::Open | MessageState::Delivered => {
            Body::from(format!("{{\"id\":\"{}\",\"status\":\"{status}\",{members}", pulled.id))
        }
        MessageState::Resolved(resolution) => {
            let response = respond::text(pulled, resolution)?;
            let text = format!(
                "{{\"id\":\"{}\",\"status\":\"{status}\",\"response\":{response},{members}",
                pulled.id
            );
            Body::new(Receipted::new(text, hub, pulled.id.clone()))
        }
    };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache")),
        (header::ETAG, etag(pulled)),
    ];
    Ok((headers, body).into_response())
}
