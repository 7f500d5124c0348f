//! News over HTTP, as server-sent events.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use serde_json::json;
use tokio::sync::watch;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use super::event::{Heard, record};
use super::listener::Listener;
use crate::app::Hub;
use crate::problem::Problem;
use crate::seats::Seat;

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
    (
        HeaderName::from_static("x-accel-buffering"),
        HeaderValue::from_static("no"),
    ),
];

/// Where a browser was when it lost us. What is no number was never a place here.
pub fn last_event_id(headers: &HeaderMap) -> Option<u64> {
    let text = headers.get("last-event-id")?.to_str().unwrap_or_default();
    Some(text.trim().parse().unwrap_or(0))
}

/// Where the records of a stream come from.
pub trait Origin: Send + 'static {
    /// The number of what was sent last, so that whoever loses us before anything happens can come back to it.
    fn place(&self) -> u64;

    /// Nothing once the hub stops. May be dropped while it waits.
    fn next(&mut self) -> impl Future<Output = Option<Bytes>> + Send;
}

/// All that happens, from where a browser was.
pub fn stream<W, F>(
    hub: &Hub,
    person: &str,
    headers: &HeaderMap,
    format: Format,
    is_welcome: W,
) -> Result<Response, Problem>
where
    W: Fn() -> F + Send + 'static,
    F: Future<Output = bool> + Send + 'static,
{
    let origin = Everything {
        listener: hub.news.listen(last_event_id(headers)),
        format,
    };
    stream_of(hub, person, origin, is_welcome)
}

/// Goes on until the reader leaves, the hub stops, or `is_welcome` says no: a session may end while its page is open.
pub fn stream_of<O, W, F>(hub: &Hub, person: &str, origin: O, is_welcome: W) -> Result<Response, Problem>
where
    O: Origin,
    W: Fn() -> F + Send + 'static,
    F: Future<Output = bool> + Send + 'static,
{
    let seat = hub.news.seats.take(person)?;
    let endings = hub.credentials.endings();
    let mut beat = interval_at(Instant::now() + BEAT, BEAT);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let feed = Feed {
        origin,
        is_welcome,
        endings,
        beat,
        has_begun: false,
        _seat: seat,
    };
    let records = stream::unfold(feed, async |mut feed| {
        let record = feed.next().await?;
        Some((Ok::<_, Infallible>(record), feed))
    });
    Ok((HEADERS, Body::from_stream(records)).into_response())
}

struct Feed<O, W> {
    origin: O,
    is_welcome: W,
    endings: watch::Receiver<()>,
    beat: Interval,
    has_begun: bool,
    _seat: Seat,
}

impl<O, W, F> Feed<O, W>
where
    O: Origin,
    W: Fn() -> F,
    F: Future<Output = bool>,
{
    async fn next(&mut self) -> Option<Bytes> {
        if !self.has_begun {
            self.has_begun = true;
            return Some(format!("retry: {RETRY_MILLIS}\nid: {}\n\n", self.origin.place()).into());
        }
        loop {
            tokio::select! {
                // In this order: whoever may not hear any more hears nothing that came after.
                biased;
                ended = self.endings.changed() => {
                    ended.ok()?;
                    if !(self.is_welcome)().await {
                        return None;
                    }
                }
                record = self.origin.next() => return record,
                _ = self.beat.tick() => return (self.is_welcome)().await.then(|| Bytes::from_static(b":\n\n")),
            }
        }
    }
}

struct Everything {
    listener: Listener,
    format: Format,
}

impl Origin for Everything {
    fn place(&self) -> u64 {
        self.listener.place()
    }

    async fn next(&mut self) -> Option<Bytes> {
        Some(match self.listener.next().await? {
            Heard::Event(event) if self.format == Format::Web => event.web.clone(),
            Heard::Event(event) => event.api.clone(),
            Heard::Resync { id } => record(id, "resync", &json!({})),
        })
    }
}
