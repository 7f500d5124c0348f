//! News over HTTP, as server-sent events.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use serde_json::json;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use super::event::{Heard, record};
use super::listener::Listener;

/// So often something is sent, whatever happens: proxies cut what is silent, and who has gone is noticed by it.
const BEAT: Duration = Duration::from_secs(20);
/// How long a browser waits before it comes back.
const RETRY_MILLIS: u64 = 2000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Web,
    Api,
}

const HEADERS: [(HeaderName, HeaderValue); 4] = [
    (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    // Or a proxy would keep events back until it has enough of them.
    (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
];

/// Where a browser was when it lost us. What is no number was never a place here.
pub fn last_event_id(headers: &HeaderMap) -> Option<u64> {
    let text = headers.get("last-event-id")?.to_str().unwrap_or_default();
    Some(text.trim().parse().unwrap_or(0))
}

/// Goes on until the reader leaves, the hub stops, or `is_welcome` says no: a session may end while its page is open.
pub fn stream<W, F>(listener: Listener, format: Format, is_welcome: W) -> Response
where
    W: Fn() -> F + Send + 'static,
    F: Future<Output = bool> + Send + 'static,
{
    let mut beat = interval_at(Instant::now() + BEAT, BEAT);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let feed = Feed { listener, format, is_welcome, beat, has_begun: false };
    let records = stream::unfold(feed, async |mut feed| {
        let record = feed.next().await?;
        Some((Ok::<_, Infallible>(record), feed))
    });
    (HEADERS, Body::from_stream(records)).into_response()
}

struct Feed<W> {
    listener: Listener,
    format: Format,
    is_welcome: W,
    beat: Interval,
    has_begun: bool,
}

impl<W, F> Feed<W>
where
    W: Fn() -> F,
    F: Future<Output = bool>,
{
    async fn next(&mut self) -> Option<Bytes> {
        if !self.has_begun {
            self.has_begun = true;
            // With a place in it, so that whoever loses us before anything happens can come back to it.
            return Some(format!("retry: {RETRY_MILLIS}\nid: {}\n\n", self.listener.place()).into());
        }
        tokio::select! {
            heard = self.listener.next() => Some(match heard? {
                Heard::Event(event) if self.format == Format::Web => event.web.clone(),
                Heard::Event(event) => event.api.clone(),
                Heard::Resync { id } => record(id, "resync", &json!({})),
            }),
            _ = self.beat.tick() => (self.is_welcome)().await.then(|| Bytes::from_static(b":\n\n")),
        }
    }
}
