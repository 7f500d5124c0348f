//! The events and records of a run since its last commit, numbered; committing them, then broadcasting them.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use countersign_protocol::backoff::Backoff;
use countersign_protocol::id::MessageId;
use countersign_protocol::runs::{Event, Record};
use countersign_protocol::time::Timestamp;
use countersign_store::ops::run::{Advance, RunPhase, StoredEvent};
use countersign_store::{Op, StoreError};
use tokio::time::{Instant, sleep_until};
use uuid::Uuid;

use super::{Halt, RunTask, Stopped};
use crate::engine::commands::RunCommand;
use crate::follow::broadcast::{EventFrame, RunUpdate};

/// A buffer of this size is committed even in the middle of a step.
const MAX_BUFFERED_ENTRIES: usize = 64;
const MAX_BUFFERED_BYTES: usize = 1024 * 1024;
/// Seqs reserved in the store while an agent works: streamed events are sent at once and never stored.
const RESERVED_SEQS: u64 = 4096;

const FIRST_BACKOFF: Duration = Duration::from_millis(100);
const MAX_BACKOFF: Duration = Duration::from_secs(5);

pub struct EventBuffer {
    run_id: String,
    node: String,
    segment: u64,
    request_id: Option<String>,
    /// The last seq in use.
    seq: u64,
    /// The store has all seqs up to this one as used, so a restart does not reuse them.
    reserved: u64,
    entries: BufferedEntries,
}

#[derive(Default)]
pub struct BufferedEntries {
    frames: Vec<EventFrame>,
    events: Vec<StoredEvent>,
    records: Vec<String>,
    asks_done: Vec<MessageId>,
    bytes: usize,
}

impl EventBuffer {
    pub fn new(run_id: &str, node: &str, segment: u64, request_id: Option<String>, last_seq: u64) -> Self {
        let run_id = run_id.to_owned();
        let node = node.to_owned();
        Self {
            run_id,
            node,
            segment,
            request_id,
            seq: last_seq,
            reserved: last_seq,
            entries: BufferedEntries::default(),
        }
    }

    /// The node id that owns the run.
    pub fn node(&self) -> &str {
        &self.node
    }

    pub fn is_full(&self) -> bool {
        let entries = &self.entries;
        entries.events.len() + entries.records.len() >= MAX_BUFFERED_ENTRIES || entries.bytes >= MAX_BUFFERED_BYTES
    }

    pub fn is_empty(&self) -> bool {
        self.entries.events.is_empty() && self.entries.records.is_empty() && self.entries.asks_done.is_empty()
    }

    /// From here on, events are not a consequence of the start request.
    pub fn forget_request_id(&mut self) {
        self.request_id = None;
    }

    /// Adds an event and returns its frame.
    pub fn add(&mut self, event: &Event, ts: Timestamp) -> EventFrame {
        self.seq += 1;
        let body = event.frame(&self.run_id, self.seq, ts, self.request_id.as_deref());
        let frame = EventFrame::of(event, self.seq, body.as_str());
        self.entries.bytes += body.len();
        self.entries.events.extend(StoredEvent::of(event, self.seq, &body));
        self.entries.frames.push(frame.clone());
        frame
    }

    /// Numbers a streamed event. Returns `None` if no seq is reserved for it; commit first, then.
    pub fn stream(&mut self, event: &Event, ts: Timestamp) -> Option<EventFrame> {
        if self.seq >= self.reserved || !self.is_empty() {
            return None;
        }
        self.seq += 1;
        let text = event.frame(&self.run_id, self.seq, ts, self.request_id.as_deref());
        Some(EventFrame::of(event, self.seq, text))
    }

    pub fn record(&mut self, record: &Record) -> Result<(), serde_json::Error> {
        let text = serde_json::to_string(record)?;
        self.entries.bytes += text.len();
        self.entries.records.push(text);
        Ok(())
    }

    pub fn ask_done(&mut self, ask: MessageId) {
        self.entries.asks_done.push(ask);
    }

    /// Puts back what a failed commit took, in front of newer entries.
    pub fn put_back(&mut self, advance: Advance, update: RunUpdate) {
        let later = std::mem::take(&mut self.entries);
        let Advance {
            mut events,
            mut records,
            mut asks_done,
            ..
        } = advance;
        let mut frames = update.frames;
        frames.extend(later.frames);
        events.extend(later.events);
        records.extend(later.records);
        asks_done.extend(later.asks_done);
        let bytes = events
            .iter()
            .map(|event| event.body.len())
            .chain(records.iter().map(String::len))
            .sum();
        self.entries = BufferedEntries {
            frames,
            events,
            records,
            asks_done,
            bytes,
        };
    }

    /// Takes everything for one commit: the operation, and the update to broadcast after it.
    pub fn drain(&mut self, phase: RunPhase, machine: String) -> (Advance, RunUpdate) {
        let BufferedEntries {
            frames,
            events,
            records,
            asks_done,
            bytes: _,
        } = std::mem::take(&mut self.entries);
        self.reserved = match phase {
            RunPhase::Between => self.seq,
            RunPhase::Working => self.seq + RESERVED_SEQS,
        };
        let update = RunUpdate {
            frames,
            pending: Vec::new(),
            records: records.len() as u64,
        };
        let advance = Advance {
            run_id: self.run_id.clone(),
            segment: self.segment,
            node: self.node.clone(),
            write_id: Uuid::new_v4().to_string(),
            events,
            records,
            asks_done,
            machine,
            phase,
            last_seq: self.reserved,
            body: None,
        };
        (advance, update)
    }
}

impl RunTask {
    pub(crate) async fn commit(&mut self, phase: RunPhase) -> Result<(), Halt> {
        let update = self.store_buffered_events(phase, |advance| advance).await?;
        self.broadcast(update);
        Ok(())
    }

    /// Stores the buffered events, as part of the operation that `op` makes of them. Stores or waits: followers must not
    /// see an event that a restart would not know.
    pub(crate) async fn store_buffered_events<O: Op<Out = bool>>(
        &mut self,
        phase: RunPhase,
        op: impl Fn(Advance) -> O,
    ) -> Result<RunUpdate, Halt> {
        let machine = serde_json::to_string(&self.checkpoint).map_err(|error| Halt::Failed(error.to_string()))?;
        self.phase = phase;
        let (advance, update) = self.event_buffer.drain(phase, machine);
        let service = Arc::clone(&self.service);
        match self.retry_store(|| service.store.run(op(advance.clone()))).await {
            Ok(true) => Ok(update),
            stored => {
                // Stored with the end of the run instead.
                self.event_buffer.put_back(advance, update);
                stored.and(Err(Halt::OwnershipLost))
            }
        }
    }

    /// Broadcasts stored events to followers here and signals other nodes.
    pub(crate) fn broadcast(&self, update: RunUpdate) {
        self.run.lock().broadcast(update);
        self.service.host.run_advanced(&self.run.id);
    }

    /// Retries with exponential backoff until the store succeeds, or fails permanently.
    pub(crate) async fn retry_store<T, F>(&mut self, attempt: impl Fn() -> F) -> Result<T, Halt>
    where
        F: Future<Output = Result<T, StoreError>>,
    {
        let mut backoff = Backoff::new(FIRST_BACKOFF, MAX_BACKOFF);
        let mut is_sure = true;
        loop {
            let error = match attempt().await {
                Ok(done) => return Ok(done),
                Err(error) => error,
            };
            if error.is_damage() || matches!(error, StoreError::NewerSchema { .. }) {
                tracing::error!(run_id = self.run.id, %error, "storing a run failed; the run ends");
                return Err(Halt::Failed(
                    "The hub's store failed. The hub's log has the cause.".to_owned(),
                ));
            }
            tracing::error!(run_id = self.run.id, %error, "storing a run failed; retrying");
            // After a commit of unknown outcome the run does not halt before the outcome is known.
            is_sure &= !matches!(error, StoreError::CommitUnknown(_));
            self.pause(backoff.pause(), is_sure).await?;
        }
    }

    /// Sleeps, but handles stop commands meanwhile, so that the agent stops; other commands are deferred.
    async fn pause(&mut self, length: Duration, may_halt: bool) -> Result<(), Halt> {
        let until = Instant::now() + length;
        loop {
            let command = tokio::select! {
                () = sleep_until(until) => return Ok(()),
                Some(command) = self.commands.next_new() => command,
            };
            let halt = match command {
                later @ (RunCommand::Steer { .. } | RunCommand::Policy { .. }) => {
                    self.commands.defer(later);
                    continue;
                }
                later if !may_halt && !self.is_ending => {
                    self.commands.defer(later);
                    continue;
                }
                RunCommand::Stop { stopped } => {
                    self.stopped.push(stopped);
                    Halt::Cancelled(Stopped::ByClient)
                }
                RunCommand::HubStops { settled } => {
                    self.stopped.push(settled);
                    self.halt_for_shutdown()
                }
                RunCommand::OwnershipLost => Halt::OwnershipLost,
            };
            if !self.is_ending {
                return Err(halt);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1);

    fn event_buffer() -> EventBuffer {
        EventBuffer::new("r", "n", 1, Some("s1".to_owned()), 10)
    }

    fn steer() -> Event {
        Event::SteerQueued { text: "x".to_owned() }
    }

    #[test]
    fn events_continue_the_numbering_and_carry_the_request_id() {
        let mut event_buffer = event_buffer();
        let frame = event_buffer.add(&steer(), NOW);
        assert!(frame.seq == 11 && frame.text.contains(r#""requestId":"s1""#));
        event_buffer.forget_request_id();
        assert!(!event_buffer.add(&steer(), NOW).text.contains("requestId"));
        let (advance, update) = event_buffer.drain(RunPhase::Between, String::new());
        assert_eq!(
            advance.events.iter().map(|event| event.seq).collect::<Vec<_>>(),
            [11, 12]
        );
        assert_eq!((advance.last_seq, update.frames.len()), (12, 2));
        assert!(event_buffer.is_empty());
    }

    #[test]
    fn streamed_events_use_only_reserved_seqs() {
        let mut event_buffer = event_buffer();
        assert!(event_buffer.stream(&steer(), NOW).is_none());
        let (advance, _) = event_buffer.drain(RunPhase::Working, String::new());
        assert_eq!(advance.last_seq, 10 + RESERVED_SEQS);
        let streamed = (0..=RESERVED_SEQS)
            .map_while(|_| event_buffer.stream(&steer(), NOW))
            .last()
            .unwrap();
        assert_eq!(streamed.seq, advance.last_seq);
        event_buffer.add(&steer(), NOW);
        assert_eq!(
            event_buffer.drain(RunPhase::Between, String::new()).0.last_seq,
            advance.last_seq + 1
        );
    }

    #[test]
    fn streaming_waits_for_buffered_events() {
        let mut event_buffer = event_buffer();
        event_buffer.drain(RunPhase::Working, String::new());
        event_buffer.add(&steer(), NOW);
        assert!(event_buffer.stream(&steer(), NOW).is_none());
    }

    #[test]
    fn a_failed_commit_is_put_back_in_front() {
        let mut event_buffer = event_buffer();
        event_buffer.add(&steer(), NOW);
        let (advance, update) = event_buffer.drain(RunPhase::Between, String::new());
        event_buffer.add(&steer(), NOW);
        event_buffer.put_back(advance, update);
        let (advance, update) = event_buffer.drain(RunPhase::Between, String::new());
        assert_eq!(
            advance.events.iter().map(|event| event.seq).collect::<Vec<_>>(),
            [11, 12]
        );
        assert_eq!(
            update.frames.iter().map(|frame| frame.seq).collect::<Vec<_>>(),
            [11, 12]
        );
    }

    #[test]
    fn a_full_buffer_asks_for_a_commit() {
        let mut event_buffer = event_buffer();
        (0..MAX_BUFFERED_ENTRIES).for_each(|_| drop(event_buffer.add(&steer(), NOW)));
        assert!(event_buffer.is_full());
    }
}
