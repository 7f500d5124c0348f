//! GET /runs/{id}/events: live updates for the page of one run. The stream carries the agent's text, rendered while it is
//! written, and a note that something changed; the page then loads the new state itself. Updates are debounced and
//! sent together.

use std::mem::take;
use std::sync::{Arc, Weak};
use std::time::Duration;

use axum::extract::{RawQuery, State};
use axum::http::HeaderMap;
use axum::response::Response;
use bytes::{Bytes, BytesMut};
use countersign_hub::Hub;
use countersign_hub::http::event_stream::{SseSource, last_event_id, stream_from};
use countersign_hub::http::extract::RunPath;
use countersign_hub::inbox::runs::find;
use countersign_hub::live::{LiveEvent, LiveListener, record};
use countersign_hub::problem::Problem;
use countersign_runs::{ClientAction, ConnectedClient, FindRunError, SubscribeOutcome, Subscription, TrackedRun};
use countersign_store::StoreError;
use serde::Deserialize;
use serde_json::json;
use tokio::time::{Instant, sleep_until};

use super::streamed::StreamedMarkdown;
use crate::layout::events::is_signed_in;
use crate::layout::form::FormFields;
use crate::layout::page::PageError;
use crate::layout::signed_in_user::SignedInUser;

/// Updates are collected for this long after the first one, then sent together.
const BATCH_DELAY: Duration = Duration::from_millis(150);
/// Limit of streamed text in one batch: of a longer one only the end is shown. The page gets the whole text with the output
/// event.
const MAX_TEXT_BYTES: usize = 64 * 1024;

/// Without a session this is an error and not a redirect to the sign-in page, because a browser cannot show the target
/// of a redirected stream.
pub async fn events(
    State(hub): State<Arc<Hub>>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
    path: Result<RunPath, Problem>,
) -> Result<Response, PageError> {
    let Some(user) = SignedInUser::from_headers(&headers, &hub).await? else {
        return Err(PageError::SignedOut);
    };
    let RunPath(run_id) = path?;
    find(&hub, &run_id).await?;
    let query = FormFields::parse(query.unwrap_or_default().as_bytes());
    let after = last_event_id(&headers)
        .or_else(|| query.text("after").parse().ok())
        .unwrap_or_default();
    let context = (Arc::clone(&hub), headers);
    let is_authorized = move || {
        let (hub, headers) = context.clone();
        async move { is_signed_in(&hub, &headers).await }
    };
    let feed = RunFeed::of(&hub, run_id, after).await.map_err(Problem::from)?;
    Ok(stream_from(&hub, &user.name, feed, is_authorized)?)
}

struct RunFeed {
    hub: Arc<Hub>,
    run_id: String,
    connected: ConnectedClient,
    /// The run that was joined. A run that is dropped from memory and continued later is a new object.
    joined: Weak<TrackedRun>,
    /// The run may be a new object by now, so it must be looked up again.
    must_rejoin: bool,
    listener: LiveListener,
    pending: PendingUpdates,
    flush_at: Option<Instant>,
}

impl RunFeed {
    async fn of(hub: &Arc<Hub>, run_id: String, after: u64) -> Result<Self, StoreError> {
        let mut feed = Self {
            hub: Arc::clone(hub),
            run_id,
            connected: hub.runs.registry.page_client(),
            joined: Weak::new(),
            must_rejoin: false,
            listener: hub.live.listen(None),
            pending: PendingUpdates::after(after),
            flush_at: None,
        };
        feed.join().await?;
        Ok(feed)
    }

    /// Joins after the last seen event, so that nothing is missed between page and stream. A run of another node gets a
    /// local replica; if there are too many replicas, only the inbox's live events trigger updates.
    async fn join(&mut self) -> Result<(), StoreError> {
        loop {
            let run = match self.hub.runs.find_run(&self.run_id).await {
                Ok(Some(run)) => run,
                Ok(None) | Err(FindRunError::TooManyReplicas { .. }) => return Ok(()),
                Err(FindRunError::Store(error)) => return Err(error),
            };
            if self.joined.as_ptr() == Arc::as_ptr(&run) || self.try_join(&run) {
                return Ok(());
            }
        }
    }

    /// Returns false if the run has been dropped from memory.
    fn try_join(&mut self, run: &Arc<TrackedRun>) -> bool {
        let from_here = Subscription {
            after: Some(self.pending.last_seq),
            extensions: true,
            ..Subscription::default()
        };
        let mut joined = run.subscribe(&self.connected.client, &from_here);
        if matches!(joined, SubscribeOutcome::Missing { .. }) {
            joined = run.subscribe(
                &self.connected.client,
                &Subscription {
                    after: None,
                    ..from_here
                },
            );
            self.mark_changed();
        }
        if joined == SubscribeOutcome::Gone {
            return false;
        }
        self.joined = Arc::downgrade(run);
        true
    }

    async fn rejoin(&mut self) {
        if let Err(error) = self.join().await {
            tracing::warn!(run_id = self.run_id, %error, "joining a run for its page failed; retrying on the next event");
        }
        self.must_rejoin = false;
    }

    fn mark_changed(&mut self) {
        self.pending.has_changed = true;
        self.schedule_flush();
    }

    fn schedule_flush(&mut self) {
        if self.flush_at.is_none() && !self.pending.is_empty() {
            self.flush_at = Some(Instant::now() + BATCH_DELAY);
        }
    }

    fn on_run_message(&mut self, next: ClientAction) {
        match next {
            ClientAction::Send(text) => {
                self.pending.ingest(&text);
                self.schedule_flush();
            }
            // The client fell behind, so it starts again as a new one.
            ClientAction::Close(_) => {
                (self.connected, self.joined) = (self.hub.runs.registry.page_client(), Weak::new());
                self.must_rejoin = true;
                self.mark_changed();
            }
        }
    }

    fn on_live_event(&mut self, event: &LiveEvent) {
        let is_relevant = match event {
            LiveEvent::Rendered(event) => event.kind == "run" && event.about == self.run_id,
            LiveEvent::Resync { .. } => true,
        };
        if is_relevant {
            self.must_rejoin = true;
            self.mark_changed();
        }
    }
}

impl SseSource for RunFeed {
    fn last_id(&self) -> u64 {
        self.pending.resume_seq
    }

    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if self.must_rejoin {
                self.rejoin().await;
            }
            let flush_at = self.flush_at;
            tokio::select! {
                biased;
                () = async { sleep_until(flush_at.unwrap_or_else(Instant::now)).await }, if flush_at.is_some() => {
                    self.flush_at = None;
                    return Some(self.pending.flush());
                }
                event = self.listener.next() => self.on_live_event(&event?),
                next = self.connected.client.next() => self.on_run_message(next),
            }
        }
    }
}

/// Updates since the last batch.
#[derive(Debug, Default)]
struct PendingUpdates {
    /// The `seq` of the latest event.
    last_seq: u64,
    /// The `seq` before the text that is being streamed. A client that connects again gets this text from its start.
    resume_seq: u64,
    has_changed: bool,
    /// Streamed text of the agent that is writing, since the last batch.
    text: String,
    /// The same, before the last batch.
    written: StreamedMarkdown,
    /// The text that was streamed before is over.
    starts_anew: bool,
}

#[derive(Deserialize)]
struct FeedFrame {
    #[serde(rename = "type")]
    kind: String,
    seq: Option<u64>,
    event: Option<StreamedText>,
}

#[derive(Deserialize)]
struct StreamedText {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    text: String,
}

impl PendingUpdates {
    fn after(seq: u64) -> Self {
        Self {
            last_seq: seq,
            resume_seq: seq,
            starts_anew: true,
            ..Self::default()
        }
    }

    fn is_empty(&self) -> bool {
        !self.has_changed && !self.starts_anew && self.text.is_empty()
    }

    fn ingest(&mut self, text: &str) {
        let Ok(frame) = serde_json::from_str::<FeedFrame>(text) else {
            return;
        };
        match frame.seq {
            Some(seq) if seq <= self.last_seq => return,
            Some(seq) => self.last_seq = seq,
            None => {}
        }
        match (frame.kind.as_str(), frame.event) {
            ("agent_streaming", Some(StreamedText { kind, text })) if kind == "text" => self.append_text(&text),
            ("agent_streaming", _) => {}
            ("agent_output" | "step_started" | "step_completed", _) => {
                self.resume_seq = self.last_seq;
                self.has_changed = true;
                self.start_anew();
            }
            _ => self.has_changed = true,
        }
    }

    fn append_text(&mut self, text: &str) {
        if self.text.len() + text.len() > MAX_TEXT_BYTES {
            self.start_anew();
        }
        self.text
            .push_str(&text[text.ceil_char_boundary(text.len().saturating_sub(MAX_TEXT_BYTES))..]);
    }

    fn start_anew(&mut self) {
        self.text.clear();
        self.written = StreamedMarkdown::default();
        self.starts_anew = true;
    }

    fn flush(&mut self) -> Bytes {
        let mut records = BytesMut::new();
        if self.starts_anew || !self.text.is_empty() {
            let html = self.written.push(&take(&mut self.text));
            let data = json!({"fresh": self.starts_anew, "complete": html.complete, "growing": html.growing});
            records.extend(record(self.resume_seq, "text", &data));
        }
        if self.has_changed {
            records.extend(record(self.resume_seq, "changed", &json!({"seq": self.last_seq})));
        }
        (self.has_changed, self.starts_anew) = (false, false);
        records.freeze()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn streamed(seq: u64, text: &str) -> String {
        let event = json!({"type": "text", "text": text});
        json!({"type": "agent_streaming", "runId": "r", "agentName": "a", "seq": seq, "event": event}).to_string()
    }

    fn flushed(pending: &mut PendingUpdates) -> String {
        String::from_utf8(pending.flush().to_vec()).unwrap()
    }

    #[test]
    fn streamed_text_is_batched_and_hidden_characters_are_escaped() {
        let mut pending = PendingUpdates::after(4);
        for (seq, text) in [(4, "seen"), (5, "Hel"), (6, "lo\n\u{202e}"), (5, "again")] {
            pending.ingest(&streamed(seq, text));
        }
        let text = flushed(&mut pending);
        assert!(
            text.starts_with("id: 4\nevent: text\n") && !text.contains("changed"),
            "a client that connects again gets the text from its start: {text}"
        );
        assert!(
            text.contains(r#""fresh":true"#) && text.contains(r"Hello\n\\u{202e}"),
            "{text}"
        );
        assert!(pending.is_empty());
        pending.ingest(&streamed(7, " there"));
        let text = flushed(&mut pending);
        assert!(
            text.contains(r#""fresh":false"#) && text.contains(r"Hello\n\\u{202e} there"),
            "{text}"
        );
    }

    #[test]
    fn streamed_text_starts_anew_when_the_step_goes_on() {
        let mut pending = PendingUpdates::after(0);
        pending.ingest(&streamed(1, "draft"));
        pending.ingest(r#"{"type":"agent_output","seq":2,"text":"draft"}"#);
        pending.ingest(&streamed(3, "next"));
        let text = flushed(&mut pending);
        assert!(
            text.contains(r#""fresh":true"#)
                && text.contains(r#""growing":"<p>next"#)
                && !text.contains("draft")
                && text.contains("event: changed"),
            "{text}"
        );
        pending.ingest(r#"{"type":"input_resolved","runId":"r"}"#);
        assert_eq!(flushed(&mut pending), "id: 2\nevent: changed\ndata: {\"seq\":3}\n\n");
    }

    #[test]
    fn only_the_end_of_a_very_long_text_is_sent() {
        let mut pending = PendingUpdates::after(0);
        (1..=20).for_each(|seq| pending.ingest(&streamed(seq, &"x".repeat(MAX_TEXT_BYTES / 4))));
        pending.ingest(&streamed(21, &"é".repeat(MAX_TEXT_BYTES)));
        assert!(pending.text.len() <= MAX_TEXT_BYTES && flushed(&mut pending).len() < 2 * MAX_TEXT_BYTES);
    }
}
