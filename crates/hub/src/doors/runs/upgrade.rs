//! GET /ws

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::{Extension, FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hyper::upgrade::OnUpgrade;
use serde::Deserialize;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use super::frame_splitter::SocketBudget;
use super::gate;
use super::session::Session;
use crate::Hub;
use crate::http::callers::token_from_headers;
use crate::http::client_addr::Endpoints;
use crate::http::extract::Params;
use crate::problem::Problem;

const WEBSOCKET_VERSION: &str = "13";

#[derive(Deserialize)]
pub struct TokenQuery {
    token: Option<String>,
}

/// A request for a WebSocket, if it is one. axum's own extractor hides the stream, which has to be wrapped here.
pub struct MaybeUpgrade(Option<SocketRequest>);

struct SocketRequest {
    accept_key: String,
    upgrade: OnUpgrade,
}

impl<S: Send + Sync> FromRequestParts<S> for MaybeUpgrade {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        Ok(Self(socket_request(parts)))
    }
}

fn socket_request(parts: &mut Parts) -> Option<SocketRequest> {
    let has_word = |name: &HeaderName, wanted: &str| {
        let lines = parts.headers.get_all(name).iter().filter_map(|line| line.to_str().ok());
        let mut words = lines.flat_map(|line| line.split(',')).map(str::trim);
        words.any(|word| word.eq_ignore_ascii_case(wanted))
    };
    let is_websocket = has_word(&header::CONNECTION, "upgrade")
        && has_word(&header::UPGRADE, "websocket")
        && has_word(&header::SEC_WEBSOCKET_VERSION, WEBSOCKET_VERSION);
    let key = parts.headers.get(header::SEC_WEBSOCKET_KEY).filter(|_| is_websocket)?;
    let accept_key = derive_accept_key(key.as_bytes());
    let upgrade = parts.extensions.remove()?;
    Some(SocketRequest { accept_key, upgrade })
}

pub async fn upgrade(
    State(hub): State<Arc<Hub>>,
    endpoints: Option<Extension<Endpoints>>,
    Params(query): Params<TokenQuery>,
    headers: HeaderMap,
    MaybeUpgrade(request): MaybeUpgrade,
) -> Result<Response, Problem> {
    if !hub.config.runs.enabled {
        return Err(Problem::NotFound {
            message: "runs are turned off on this hub (runs.enabled)".to_owned(),
        });
    }
    let Some(request) = request else {
        return Ok((StatusCode::BAD_REQUEST, "WebSocket upgrade failed").into_response());
    };
    let token = token_from_headers(&headers).map(str::to_owned).or(query.token);
    // Subscribed before admission, so that a revocation in between triggers a recheck.
    let revocations = hub.auth.credentials.revocations();
    let endpoints = endpoints.map(|Extension(endpoints)| endpoints);
    let caller = gate::admit(&hub, &headers, endpoints, token).await?;
    let permit = hub.limits.run_sockets.acquire(&caller.person)?;
    let Some(connected) = hub.runs.registry.connect() else {
        let message = "too many clients are connected, or the hub is stopping; try again".to_owned();
        return Err(Problem::RateLimited {
            retry_after_seconds: 5,
            message,
        });
    };
    let budget = SocketBudget::new(&hub.limits.memory, &caller.person);
    let session = Session::new(hub, connected, (caller, revocations), (permit, budget));
    Ok(request.accept(session))
}

impl SocketRequest {
    /// The reply that switches protocols; the session begins when it has been sent.
    fn accept(self, session: Session) -> Response {
        tokio::spawn(session.serve(self.upgrade));
        let headers = [
            (header::CONNECTION, HeaderValue::from_static("upgrade")),
            (header::UPGRADE, HeaderValue::from_static("websocket")),
        ];
        let accept_key = [(header::SEC_WEBSOCKET_ACCEPT, self.accept_key)];
        (StatusCode::SWITCHING_PROTOCOLS, headers, accept_key).into_response()
    }
}
