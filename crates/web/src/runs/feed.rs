//! GET /runs/{id}/events: what happens in one run, for the page that shows it. The stream says that something changed, and
//! what an agent writes while it writes; how things stand is asked of the page itself. Much at once is told together.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::time::Duration;

use axum::extract::{RawQuery, State};
use axum::http::HeaderMap;
use axum::response::Response;
use bytes::{Bytes, BytesMut};
use countersign_hub::Hub;
use countersign_hub::extract::RunPath;
use countersign_hub::inbox::news::{Heard, Listener, Origin, last_event_id, record, stream_of};
use countersign_hub::inbox::runs::find;
use countersign_hub::problem::Problem;
use countersign_hub::runs::{Connected, Joined, Joining, Next, NotFound, Run};
use countersign_protocol::visible::escape_lines;
use countersign_store::StoreError;
use serde::Deserialize;
use serde_json::json;
use tokio::time::{Instant, sleep_until};

use crate::frame::events::is_signed_in;
use crate::frame::form::Fields;
use crate::frame::page::Failure;
use crate::frame::signed_in::Visitor;

/// So long after the first of it everything is told that came meanwhile.
const GATHER: Duration = Duration::from_millis(150);
/// Of what an agent writes in that time; the page gets the whole of it in the end.
const MOST_TEXT: usize = 64 * 1024;

/// Not sent to the sign-in page like other readers: no browser shows what a stream redirects to.
pub async fn events(
    State(hub): State<Arc<Hub>>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
    path: Result<RunPath, Problem>,
) -> Result<Response, Failure> {
    let Some(visitor) = Visitor::from_headers(&headers, &hub).await? else {
        return Err(Failure::SignedOut);
    };
    let RunPath(run_id) = path?;
    find(&hub, &run_id).await?;
    let query = Fields::parse(query.unwrap_or_default().as_bytes());
    let after = last_event_id(&headers)
        .or_else(|| query.text("after").parse().ok())
        .unwrap_or_default();
    let looked_at = (Arc::clone(&hub), headers);
    let is_welcome = move || {
        let (hub, headers) = looked_at.clone();
        async move { is_signed_in(&hub, &headers).await }
    };
    let follower = Follower::of(&hub, run_id, after).await.map_err(Problem::from)?;
    Ok(stream_of(&hub, &visitor.name, follower, is_welcome)?)
}

struct Follower {
    hub: Arc<Hub>,
    run_id: String,
    connected: Connected,
    /// Where it was joined: a run that is forgotten and continued is another one.
    joined: Weak<Run>,
    /// It may be another one by now.
    looks_again: bool,
    listener: Listener,
    gathered: Gathered,
    due: Option<Instant>,
}

impl Follower {
    async fn of(hub: &Arc<Hub>, run_id: String, after: u64) -> Result<Self, StoreError> {
        let mut follower = Self {
            hub: Arc::clone(hub),
            run_id,
            connected: hub.runs.onlooker(),
            joined: Weak::new(),
            looks_again: false,
            listener: hub.news.listen(None),
            gathered: Gathered {
                seen: after,
                ..Gathered::default()
            },
            due: None,
        };
        follower.join().await?;
        Ok(follower)
    }

    /// From what was seen last, so that nothing is missed between the page and the stream. One of another hub is here from
    /// now on; where too many of those are, only the news tell.
    async fn join(&mut self) -> Result<(), StoreError> {
        loop {
            let run = match self.hub.find_run(&self.run_id).await {
                Ok(Some(run)) => run,
                Ok(None) | Err(NotFound::TooMany(_)) => return Ok(()),
                Err(NotFound::Store(error)) => return Err(error),
            };
            if self.joined.as_ptr() == Arc::as_ptr(&run) || self.follow(&run) {
                return Ok(());
            }
        }
    }

    /// Says whether the run was still here.
    fn follow(&mut self, run: &Arc<Run>) -> bool {
        let from_here = Joining {
            after: Some(self.gathered.seen),
            extensions: true,
            ..Joining::default()
        };
        let mut joined = run.join(&self.connected.client, &from_here);
        if matches!(joined, Joined::Missing { .. }) {
            joined = run.join(
                &self.connected.client,
                &Joining {
                    after: None,
                    ..from_here
                },
            );
            self.change();
        }
        if joined == Joined::Gone {
            return false;
        }
        self.joined = Arc::downgrade(run);
        true
    }

    async fn look_again(&mut self) {
        if let Err(error) = self.join().await {
            tracing::warn!(run_id = self.run_id, %error, "a run could not be looked at for a page");
        }
        self.looks_again = false;
    }

    fn change(&mut self) {
        self.gathered.has_changed = true;
        self.settle_soon();
    }

    fn settle_soon(&mut self) {
        if self.due.is_none() && !self.gathered.is_empty() {
            self.due = Some(Instant::now() + GATHER);
        }
    }

    fn hear(&mut self, next: Next) {
        match next {
            Next::Send(text) => {
                self.gathered.take(&text);
                self.settle_soon();
            }
            // It fell behind: from now on as if it had just come.
            Next::Close(_) => {
                (self.connected, self.joined) = (self.hub.runs.onlooker(), Weak::new());
                self.looks_again = true;
                self.change();
            }
        }
    }

    fn told(&mut self, heard: &Heard) {
        let is_about_it = match heard {
            Heard::Event(event) => event.kind == "run" && event.about == self.run_id,
            Heard::Resync { .. } => true,
        };
        if is_about_it {
            self.looks_again = true;
            self.change();
        }
    }
}

impl Origin for Follower {
    fn place(&self) -> u64 {
        self.gathered.seen
    }

    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if self.looks_again {
                self.look_again().await;
            }
            let due = self.due;
            tokio::select! {
                biased;
                () = async { sleep_until(due.unwrap_or_else(Instant::now)).await }, if due.is_some() => {
                    self.due = None;
                    return Some(self.gathered.tell());
                }
                heard = self.listener.next() => self.told(&heard?),
                next = self.connected.client.next() => self.hear(next),
            }
        }
    }
}

/// What came since it was told last.
#[derive(Debug, Default)]
struct Gathered {
    /// The number of the latest event.
    seen: u64,
    has_changed: bool,
    /// Of the agent that writes.
    text: VecDeque<String>,
    bytes: usize,
    /// What was written before is over.
    is_fresh: bool,
}

#[derive(Deserialize)]
struct Frame {
    #[serde(rename = "type")]
    kind: String,
    seq: Option<u64>,
    event: Option<Streamed>,
}

#[derive(Deserialize)]
struct Streamed {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    text: String,
}

impl Gathered {
    fn is_empty(&self) -> bool {
        !self.has_changed && !self.is_fresh && self.text.is_empty()
    }

    fn take(&mut self, text: &str) {
        let Ok(frame) = serde_json::from_str::<Frame>(text) else {
            return;
        };
        match frame.seq {
            Some(seq) if seq <= self.seen => return,
            Some(seq) => self.seen = seq,
            None => {}
        }
        match (frame.kind.as_str(), frame.event) {
            ("agent_streaming", Some(Streamed { kind, text })) if kind == "text" => self.write(text),
            ("agent_streaming", _) => {}
            ("agent_output" | "step_started" | "step_completed", _) => {
                self.has_changed = true;
                self.is_fresh = true;
                self.forget();
            }
            _ => self.has_changed = true,
        }
    }

    fn write(&mut self, text: String) {
        self.bytes += text.len();
        self.text.push_back(text);
        while self.bytes > MOST_TEXT {
            self.bytes -= self.text.pop_front().map_or(self.bytes, |oldest| oldest.len());
        }
    }

    fn forget(&mut self) {
        self.text.clear();
        self.bytes = 0;
    }

    fn tell(&mut self) -> Bytes {
        let mut told = BytesMut::new();
        if self.is_fresh || !self.text.is_empty() {
            let text: String = self.text.iter().map(String::as_str).collect();
            let data = json!({"fresh": self.is_fresh, "text": escape_lines(&text)});
            told.extend(record(self.seen, "text", &data));
        }
        if self.has_changed {
            told.extend(record(self.seen, "changed", &json!({"seq": self.seen})));
        }
        self.forget();
        (self.has_changed, self.is_fresh) = (false, false);
        told.freeze()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn streamed(seq: u64, text: &str) -> String {
        let event = json!({"type": "text", "text": text});
        json!({"type": "agent_streaming", "runId": "r", "agentName": "a", "seq": seq, "event": event}).to_string()
    }

    fn told(gathered: &mut Gathered) -> String {
        String::from_utf8(gathered.tell().to_vec()).unwrap()
    }

    #[test]
    fn what_an_agent_writes_is_told_together_and_without_hidden_characters() {
        let mut gathered = Gathered {
            seen: 4,
            ..Gathered::default()
        };
        for (seq, text) in [(4, "seen"), (5, "Hel"), (6, "lo\n\u{202e}"), (5, "again")] {
            gathered.take(&streamed(seq, text));
        }
        let text = told(&mut gathered);
        assert!(
            text.starts_with("id: 6\nevent: text\n") && !text.contains("changed"),
            "{text}"
        );
        assert!(text.contains(r#""text":"Hello\n\\u{202e}""#), "{text}");
        assert!(gathered.is_empty());
    }

    #[test]
    fn what_was_written_is_over_when_the_step_goes_on() {
        let mut gathered = Gathered::default();
        gathered.take(&streamed(1, "draft"));
        gathered.take(r#"{"type":"agent_output","seq":2,"text":"draft"}"#);
        gathered.take(&streamed(3, "next"));
        let text = told(&mut gathered);
        assert!(
            text.contains(r#"{"fresh":true,"text":"next"}"#) && text.contains("event: changed"),
            "{text}"
        );
        gathered.take(r#"{"type":"input_resolved","runId":"r"}"#);
        assert_eq!(told(&mut gathered), "id: 3\nevent: changed\ndata: {\"seq\":3}\n\n");
    }

    #[test]
    fn of_very_much_text_the_end_is_told() {
        let mut gathered = Gathered::default();
        (1..=20).for_each(|seq| gathered.take(&streamed(seq, &"x".repeat(MOST_TEXT / 4))));
        assert!(gathered.bytes <= MOST_TEXT && told(&mut gathered).len() < 2 * MOST_TEXT);
    }
}
