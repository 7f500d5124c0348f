//! GET /ws

use std::sync::Arc;

use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::{Extension, FromRequestParts, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::gate;
use super::session::Session;
use crate::Hub;
use crate::http::callers::token_from_headers;
use crate::http::client_addr::ClientAddr;
use crate::http::extract::Params;
use crate::limits::socket_budget::SocketBudget;
use crate::problem::Problem;

/// For one message over all its frames: the longest answer with every non-ASCII character escaped, plus the fields
/// around it.
const MAX_MESSAGE_BYTES: usize = (3 * 1024 + 64) * 1024;
/// Small, because the default of 128 KiB is held by every idle connection.
const READ_BUFFER_BYTES: usize = 2048;

#[derive(Deserialize)]
pub struct TokenQuery {
    token: Option<String>,
}

/// The upgrade, or its rejection, so that a plain HTTP request gets our own error.
pub struct MaybeUpgrade(Result<WebSocketUpgrade, WebSocketUpgradeRejection>);

impl<S: Send + Sync> FromRequestParts<S> for MaybeUpgrade {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Self::Rejection> {
        Ok(Self(WebSocketUpgrade::from_request_parts(parts, state).await))
    }
}

pub async fn upgrade(
    State(hub): State<Arc<Hub>>,
    peer: ClientAddr,
    Params(query): Params<TokenQuery>,
    headers: axum::http::HeaderMap,
    budget: Option<Extension<SocketBudget>>,
    MaybeUpgrade(upgrade_request): MaybeUpgrade,
) -> Result<Response, Problem> {
    if !hub.config.runs.enabled {
        return Err(Problem::NotFound {
            message: "runs are turned off on this hub (runs.enabled)".to_owned(),
        });
    }
    let Ok(socket) = upgrade_request else {
        return Ok((StatusCode::BAD_REQUEST, "WebSocket upgrade failed").into_response());
    };
    let token = token_from_headers(&headers).map(str::to_owned).or(query.token);
    // Subscribed before admission, so that a revocation in between triggers a recheck.
    let revocations = hub.auth.credentials.revocations();
    let caller = gate::admit(&hub, &headers, peer, token).await?;
    let permit = hub.limits.run_sockets.acquire(&caller.person)?;
    let Some(connected) = hub.runs.registry.connect() else {
        let message = "too many clients are connected, or the hub is stopping; try again".to_owned();
        return Err(Problem::RateLimited {
            retry_after_seconds: 5,
            message,
        });
    };
    let socket = socket
        .read_buffer_size(READ_BUFFER_BYTES)
        .write_buffer_size(0)
        .max_message_size(MAX_MESSAGE_BYTES)
        .max_frame_size(MAX_MESSAGE_BYTES);
    // A request without a connection, as in tests, has no budget.
    let budget = budget.map(|Extension(budget)| budget).unwrap_or_default();
    budget.begin(&hub.limits.memory, &caller.person, MAX_MESSAGE_BYTES);
    Ok(socket
        .on_upgrade(move |socket| Session::new(hub, connected, (caller, revocations), (permit, budget)).serve(socket)))
}
