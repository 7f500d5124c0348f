//! One request from its head to its reply: its id, its span, its line in the access log and its duration.
//!
//! The record of a request is in a thread-local while its future is polled. So errors and log lines find the id without
//! being handed it, and a request that logs nothing pays for a swap of two pointers.

mod id;

use std::borrow::Cow;
use std::cell::RefCell;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use http::{HeaderName, HeaderValue, Method, StatusCode};
use tracing::field::{Empty, display};
use tracing::{Level, Span};

use crate::metrics::{Metrics, RequestLabels};
pub use id::RequestId;

/// The header that carries the id, in both directions.
pub const HEADER: HeaderName = HeaderName::from_static("x-request-id");
/// The target of the access log.
pub const ACCESS: &str = "access";
/// The target of request spans.
pub const SPAN: &str = "request";
/// The route label of requests that match no route.
const NO_ROUTE: &str = "none";

thread_local! {
    static CURRENT: RefCell<Option<Box<RequestRecord>>> = const { RefCell::new(None) };
}

struct RequestRecord {
    id: RequestId,
    method: &'static str,
    route: Cow<'static, str>,
    account: Option<Box<str>>,
    started_at: Instant,
    metrics: Arc<Metrics>,
}

/// A request under way. Dropped before its reply, it is logged as disconnected.
pub struct Request {
    /// `None` while the record is in the thread-local, and after the reply.
    record: Option<Box<RequestRecord>>,
    span: Span,
}

impl Request {
    /// `given_id` is the id that a trusted proxy has sent.
    pub fn begin(metrics: &Arc<Metrics>, method: &Method, given_id: Option<&HeaderValue>) -> Self {
        let id = given_id.and_then(|given| RequestId::given(given.as_bytes()));
        let id = id.unwrap_or_default();
        // Clients can invent methods, so all others share one name.
        let method = match *method {
            Method::GET => "GET",
            Method::HEAD => "HEAD",
            Method::POST => "POST",
            Method::PUT => "PUT",
            Method::PATCH => "PATCH",
            Method::DELETE => "DELETE",
            Method::OPTIONS => "OPTIONS",
            _ => "OTHER",
        };
        let span = tracing::info_span!(
            target: SPAN,
            "request",
            request_id = %id,
            http.request.method = method,
            http.route = Empty,
            http.response.status_code = Empty,
            otel.kind = "server",
            otel.name = Empty,
        );
        Self {
            record: Some(Box::new(RequestRecord {
                id,
                method,
                route: Cow::Borrowed(NO_ROUTE),
                account: None,
                started_at: Instant::now(),
                metrics: Arc::clone(metrics),
            })),
            span,
        }
    }

    /// Polls the future of the reply as a part of this request.
    pub fn poll<F: Future + Unpin>(&mut self, future: &mut F, cx: &mut Context<'_>) -> Poll<F::Output> {
        let _entered = self.span.enter();
        let _current = CurrentRequest::enter(&mut self.record);
        Pin::new(future).poll(cx)
    }

    /// Ends the request with its reply. `bytes` is the length of the body, if it is known. Returns the header for the
    /// reply.
    pub fn end(&mut self, status: StatusCode, bytes: Option<u64>) -> Option<HeaderValue> {
        let record = self.record.take()?;
        let elapsed = record.started_at.elapsed();
        let RequestRecord { id, method, route, .. } = &*record;
        if !self.span.is_disabled() {
            self.span.record("http.route", &**route);
            self.span.record("http.response.status_code", status.as_u16());
            self.span.record("otel.name", display(format_args!("{method} {route}")));
        }
        tracing::info!(
            target: ACCESS,
            method,
            route = &**route,
            status = status.as_u16(),
            duration_ms = elapsed.as_secs_f64() * 1000.0,
            bytes,
            request_id = %id,
            account = record.account.as_deref(),
            "request"
        );
        let header = id.header();
        let labels = RequestLabels {
            method,
            route: record.route,
            status: match status.as_u16() {
                0..200 => "1xx",
                200..300 => "2xx",
                300..400 => "3xx",
                400..500 => "4xx",
                _ => "5xx",
            },
        };
        let duration = record.metrics.requests.get_or_create(&labels);
        duration.observe(elapsed.as_secs_f64());
        header
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        if let Some(record) = self.record.take() {
            tracing::info!(
                target: ACCESS,
                method = record.method,
                route = &*record.route,
                duration_ms = record.started_at.elapsed().as_secs_f64() * 1000.0,
                request_id = %record.id,
                account = record.account.as_deref(),
                "request ended by its client"
            );
        }
    }
}

/// Puts the record back, also after a panic.
struct CurrentRequest<'r>(&'r mut Option<Box<RequestRecord>>);

impl<'r> CurrentRequest<'r> {
    fn enter(record: &'r mut Option<Box<RequestRecord>>) -> Self {
        CURRENT.with_borrow_mut(|current| std::mem::swap(current, record));
        Self(record)
    }
}

impl Drop for CurrentRequest<'_> {
    fn drop(&mut self) {
        CURRENT.with_borrow_mut(|current| std::mem::swap(current, self.0));
    }
}

/// The id of the request that is being handled on this thread.
pub fn current_id() -> Option<RequestId> {
    CURRENT.with_borrow(|current| current.as_ref().map(|record| record.id.clone()))
}

/// The id for an error that the log explains: that of the current request, or a new one.
pub fn error_id() -> RequestId {
    current_id().unwrap_or_default()
}

/// Notes the route of the current request: its template, never its path, which holds ids.
pub fn set_route(template: impl Into<Cow<'static, str>>) {
    with_current(|record| record.route = template.into());
}

/// Notes the account of the current request for the access log.
pub fn set_account(kind: &str, name: &str) {
    if tracing::enabled!(target: ACCESS, Level::INFO) {
        with_current(|record| record.account = Some(format!("{kind}:{name}").into()));
    }
}

fn with_current(note: impl FnOnce(&mut RequestRecord)) {
    CURRENT.with_borrow_mut(|current| current.as_deref_mut().map(note));
}

#[cfg(test)]
mod tests;
