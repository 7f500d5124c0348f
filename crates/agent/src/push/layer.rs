//! A tower layer for receivers: only genuine pushes that are not replays reach the service behind it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use countersign_protocol::time::Timestamp;
use http::StatusCode;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde_json::json;
use tower::{Layer, Service};

use super::verify::is_signed;
use super::{MAX_PUSH_BYTES, Refusal, Verified, Verifier};
use crate::journal::{ActionState, Journal, JournalError};

/// Generous, because a hub sends the body in one go.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// Adds a [`Verified`] to the extensions of each request that it lets through; the service behind it begins and
/// finishes the action. The layer itself answers a replayed push: with 200 when its action has ended, which stops the
/// hub's retries, otherwise with 401.
#[derive(Clone)]
pub struct ReceiverLayer(Arc<ReceiverChecks>);

struct ReceiverChecks {
    verifier: Verifier,
    journal: Journal,
    clock: Box<dyn Fn() -> Timestamp + Send + Sync>,
}

impl ReceiverLayer {
    /// `clock` gives the time that signatures are checked against.
    pub fn new(verifier: Verifier, journal: Journal, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self(Arc::new(ReceiverChecks {
            verifier,
            journal,
            clock: Box::new(clock),
        }))
    }
}

impl fmt::Debug for ReceiverLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ReceiverLayer").field(&self.0.verifier).finish()
    }
}

impl<S> Layer<S> for ReceiverLayer {
    type Service = ReceiverService<S>;

    fn layer(&self, inner: S) -> ReceiverService<S> {
        ReceiverService {
            inner,
            checks: Arc::clone(&self.0),
        }
    }
}

#[derive(Clone)]
pub struct ReceiverService<S> {
    inner: S,
    checks: Arc<ReceiverChecks>,
}

impl<S> Service<Request> for ReceiverService<S>
where
    S: Service<Request, Response = Response> + Clone + Send + 'static,
    S::Future: Send + 'static,
{
    type Response = Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        // `poll_ready` was called on this service, so it handles the request; the clone waits for the next one.
        let next = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, next);
        let checks = Arc::clone(&self.checks);
        Box::pin(async move {
            match checks.admit(request).await {
                Ok(request) => inner.call(request).await,
                Err(rejected) => Ok(rejected.into_response()),
            }
        })
    }
}

/// Why a request was not passed on.
enum PushRejected {
    Refused(Refusal),
    Duplicate,
    TooLarge,
    Unread(String),
    TooSlow,
    NoJournal(String),
}

impl From<Refusal> for PushRejected {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl ReceiverChecks {
    async fn admit(&self, request: Request) -> Result<Request, PushRejected> {
        let (mut parts, body) = request.into_parts();
        if !is_signed(&parts.headers) {
            return Err(Refusal::NoSignature.into());
        }
        let body = read(body).await?;
        let verified = self.verifier.verify(&parts.headers, &body, (self.clock)())?;
        self.check_replay(&verified).await?;
        parts.extensions.insert(verified);
        Ok(Request::from_parts(parts, Body::from(body)))
    }

    async fn check_replay(&self, verified: &Verified) -> Result<(), PushRejected> {
        let journal = self.journal.clone();
        let jti = verified.jti.clone();
        let until = verified.signed_until;
        let (message_id, resolution_id) = verified.resolved.act_key();
        let message_id = message_id.to_owned();
        let resolution_id = resolution_id.to_owned();
        let seen = tokio::task::spawn_blocking(move || -> Result<Option<PushRejected>, JournalError> {
            if journal.see_jti(&jti, until)? {
                return Ok(None);
            }
            let action = journal
                .action(&message_id)?
                .filter(|action| action.resolution_id == resolution_id);
            let ended = action.is_some_and(|action| action.state != ActionState::Reserved);
            Ok(Some(if ended {
                PushRejected::Duplicate
            } else {
                Refusal::ReplayedJti.into()
            }))
        });
        match seen.await {
            Ok(Ok(None)) => Ok(()),
            Ok(Ok(Some(rejected))) => Err(rejected),
            Ok(Err(error)) => Err(PushRejected::NoJournal(error.to_string())),
            Err(error) => Err(PushRejected::NoJournal(error.to_string())),
        }
    }
}

async fn read(body: Body) -> Result<Bytes, PushRejected> {
    let collected = tokio::time::timeout(BODY_TIMEOUT, Limited::new(body, MAX_PUSH_BYTES).collect()).await;
    match collected {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(PushRejected::TooLarge),
        Ok(Err(error)) => Err(PushRejected::Unread(error.to_string())),
        Err(_) => Err(PushRejected::TooSlow),
    }
}

impl IntoResponse for PushRejected {
    fn into_response(self) -> Response {
        let (status, code, message) = match self {
            Self::Duplicate => return Json(json!({"status": "duplicate"})).into_response(),
            Self::Refused(refusal) => (
                StatusCode::from_u16(refusal.status()).unwrap_or(StatusCode::BAD_REQUEST),
                refusal.code(),
                refusal.to_string(),
            ),
            Self::TooLarge => (
                StatusCode::PAYLOAD_TOO_LARGE,
                "too_large",
                format!("the body is longer than {MAX_PUSH_BYTES} bytes"),
            ),
            Self::Unread(reason) => (
                StatusCode::BAD_REQUEST,
                "bad_body",
                format!("the body could not be read: {reason}"),
            ),
            Self::TooSlow => (
                StatusCode::REQUEST_TIMEOUT,
                "too_slow",
                "the body did not arrive in time".to_owned(),
            ),
            // A 5xx makes the hub retry; no action was taken yet.
            Self::NoJournal(reason) => (StatusCode::SERVICE_UNAVAILABLE, "no_journal", reason),
        };
        (status, Json(json!({"error": {"code": code, "message": message}}))).into_response()
    }
}
