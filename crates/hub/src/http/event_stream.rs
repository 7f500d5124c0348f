//! Live events over HTTP, as server-sent events.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use countersign_core::Language;
use futures_util::stream;
use serde_json::json;
use tokio::sync::watch;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use crate::Hub;
use crate::limits::connection_limit::ConnectionPermit;
use crate::live::event::{LiveEvent, record};
use crate::live::listener::LiveListener;
use crate::problem::Problem;

/// Heartbeat: proxies close silent connections, and a failed write reveals a client that has gone.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(20);
/// Reconnect delay that is sent to browsers.
const RETRY_MILLIS: u64 = 2000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamFormat {
    Web(Language),
    Api,
}

const HEADERS: [(HeaderName, HeaderValue); 4] = [
    (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    // Stops proxies such as nginx from buffering events.
    (
        HeaderName::from_static("x-accel-buffering"),
        HeaderValue::from_static("no"),
    ),
];

/// Returns the `Last-Event-ID` of a reconnecting browser. A header that is not a number counts as 0, an unknown
/// position.
pub fn last_event_id(headers: &HeaderMap) -> Option<u64> {
    let text = headers.get("last-event-id")?.to_str().unwrap_or_default();
    Some(text.trim().parse().unwrap_or(0))
}

/// A source of SSE records.
pub trait SseSource: Send + 'static {
    /// The id of the last sent record. It goes out when the stream opens, so that a client which loses the connection
    /// before the first event can resume.
    fn last_id(&self) -> u64;

    /// Waits for the next record; returns `None` once the hub stops. Cancel-safe.
    fn next(&mut self) -> impl Future<Output = Option<Bytes>> + Send;
}

/// Streams all live events, starting after the client's `Last-Event-ID`.
pub fn stream<W, F>(
    hub: &Hub,
    person: &str,
    headers: &HeaderMap,
    format: StreamFormat,
    is_authorized: W,
) -> Result<Response, Problem>
where
    W: Fn() -> F + Send + 'static,
    F: Future<Output = bool> + Send + 'static,
{
    if let StreamFormat::Web(language) = format {
        hub.live.use_language(language);
    }
    let source = AllEvents {
        listener: hub.live.listen(last_event_id(headers)),
        format,
    };
    stream_from(hub, person, source, is_authorized)
}

/// Streams the records of a source until the client leaves, the hub stops, or `is_authorized` returns false: a session
/// may end while its page is open.
pub fn stream_from<O, W, F>(hub: &Hub, person: &str, source: O, is_authorized: W) -> Result<Response, Problem>
where
    O: SseSource,
    W: Fn() -> F + Send + 'static,
    F: Future<Output = bool> + Send + 'static,
{
    let permit = hub.live.connection_limit.acquire(person)?;
    let revocations = hub.auth.credentials.revocations();
    let mut heartbeat = interval_at(Instant::now() + HEARTBEAT_INTERVAL, HEARTBEAT_INTERVAL);
    heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let event_stream = EventStream {
        source,
        is_authorized,
        revocations,
        heartbeat,
        has_begun: false,
        _permit: permit,
    };
    let records = stream::unfold(event_stream, async |mut event_stream| {
        let record = event_stream.next().await?;
        Some((Ok::<_, Infallible>(record), event_stream))
    });
    Ok((HEADERS, Body::from_stream(records)).into_response())
}

struct EventStream<O, W> {
    source: O,
    is_authorized: W,
    revocations: watch::Receiver<()>,
    heartbeat: Interval,
    has_begun: bool,
    _permit: ConnectionPermit,
}

impl<O, W, F> EventStream<O, W>
where
    O: SseSource,
    W: Fn() -> F,
    F: Future<Output = bool>,
{
    async fn next(&mut self) -> Option<Bytes> {
        if !self.has_begun {
            self.has_begun = true;
            return Some(format!("retry: {RETRY_MILLIS}\nid: {}\n\n", self.source.last_id()).into());
        }
        loop {
            tokio::select! {
                // Revocations come first: a client whose access was revoked gets no event that came after.
                biased;
                ended = self.revocations.changed() => {
                    ended.ok()?;
                    if !(self.is_authorized)().await {
                        return None;
                    }
                }
                record = self.source.next() => return record,
                _ = self.heartbeat.tick() => return (self.is_authorized)().await.then(|| Bytes::from_static(b":\n\n")),
            }
        }
    }
}

struct AllEvents {
    listener: LiveListener,
    format: StreamFormat,
}

impl SseSource for AllEvents {
    fn last_id(&self) -> u64 {
        self.listener.last_id()
    }

    async fn next(&mut self) -> Option<Bytes> {
        Some(match self.listener.next().await? {
            LiveEvent::Rendered(event) => match self.format {
                StreamFormat::Web(language) => event.web(language),
                StreamFormat::Api => event.api.clone(),
            },
            LiveEvent::Resync { id } => record(id, "resync", &json!({})),
        })
    }
}
