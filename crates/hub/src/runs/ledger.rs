//! What a run has to say since its last commit, numbered.

use countersign_protocol::id::MessageId;
use countersign_protocol::runs::{Event, Record};
use countersign_protocol::time::Timestamp;
use countersign_store::ops::run::{Advance, Phase, StoredEvent};
use uuid::Uuid;

use super::frame::Frame;
use super::telling::News;

/// More than that at once is committed, whatever the run does.
const MOST_ENTRIES: usize = 64;
const MOST_BYTES: usize = 1024 * 1024;
/// Numbers that are stored as given while an agent works: what streams is told at once and never stored.
const RESERVED: u64 = 4096;

pub struct Ledger {
    run_id: String,
    node: String,
    segment: u64,
    request_id: Option<String>,
    /// The number given last.
    seq: u64,
    /// No number up to this one will be given after a restart.
    reserved: u64,
    entries: Entries,
}

#[derive(Default)]
pub struct Entries {
    frames: Vec<Frame>,
    events: Vec<StoredEvent>,
    records: Vec<String>,
    asks_done: Vec<MessageId>,
    bytes: usize,
}

impl Ledger {
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
            entries: Entries::default(),
        }
    }

    /// Under which the run is moved.
    pub fn node(&self) -> &str {
        &self.node
    }

    pub fn is_full(&self) -> bool {
        let entries = &self.entries;
        entries.events.len() + entries.records.len() >= MOST_ENTRIES || entries.bytes >= MOST_BYTES
    }

    pub fn is_empty(&self) -> bool {
        self.entries.events.is_empty() && self.entries.records.is_empty() && self.entries.asks_done.is_empty()
    }

    /// Gives the frame, for whoever needs to know it.
    pub fn add(&mut self, event: &Event, ts: Timestamp) -> Frame {
        let request_id = self.request_id.clone();
        self.add_with(event, ts, request_id.as_deref())
    }

    /// Which nobody asked for by starting the run.
    pub fn add_unasked(&mut self, event: &Event, ts: Timestamp) -> Frame {
        self.add_with(event, ts, None)
    }

    fn add_with(&mut self, event: &Event, ts: Timestamp, request_id: Option<&str>) -> Frame {
        self.seq += 1;
        let body = event.frame(&self.run_id, self.seq, ts, request_id);
        let frame = Frame::of(event, self.seq, body.as_str());
        self.entries.bytes += body.len();
        self.entries.events.extend(StoredEvent::of(event, self.seq, &body));
        self.entries.frames.push(frame.clone());
        frame
    }

    /// What streams is told at once. Nothing, if no number is reserved for it: then commit first.
    pub fn stream(&mut self, event: &Event, ts: Timestamp) -> Option<Frame> {
        if self.seq >= self.reserved || !self.is_empty() {
            return None;
        }
        self.seq += 1;
        let text = event.frame(&self.run_id, self.seq, ts, self.request_id.as_deref());
        Some(Frame::of(event, self.seq, text))
    }

    pub fn record(&mut self, record: &Record) -> Result<(), serde_json::Error> {
        let text = serde_json::to_string(record)?;
        self.entries.bytes += text.len();
        self.entries.records.push(text);
        Ok(())
    }

    pub fn done_with(&mut self, ask: MessageId) {
        self.entries.asks_done.push(ask);
    }

    /// What could not be stored: it comes before whatever is noted next.
    pub fn take_back(&mut self, advance: Advance, news: News) {
        let later = std::mem::take(&mut self.entries);
        let Advance {
            mut events,
            mut records,
            mut asks_done,
            ..
        } = advance;
        let mut frames = news.frames;
        frames.extend(later.frames);
        events.extend(later.events);
        records.extend(later.records);
        asks_done.extend(later.asks_done);
        let bytes = events
            .iter()
            .map(|event| event.body.len())
            .chain(records.iter().map(String::len))
            .sum();
        self.entries = Entries {
            frames,
            events,
            records,
            asks_done,
            bytes,
        };
    }

    /// Takes everything for one commit, and what it will make true.
    pub fn close(&mut self, phase: Phase, machine: String) -> (Advance, News) {
        let Entries {
            frames,
            events,
            records,
            asks_done,
            bytes: _,
        } = std::mem::take(&mut self.entries);
        self.reserved = match phase {
            Phase::Between => self.seq,
            Phase::Working => self.seq + RESERVED,
        };
        let news = News {
            frames,
            pending: Vec::new(),
            records: records.len() as u64,
        };
        let run_id = self.run_id.clone();
        let segment = self.segment;
        let last_seq = self.reserved;
        let node = self.node.clone();
        let write_id = Uuid::new_v4().to_string();
        let advance = Advance {
            run_id,
            segment,
            node,
            write_id,
            events,
            records,
            asks_done,
            machine,
            phase,
            last_seq,
            body: None,
        };
        (advance, news)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1);

    fn ledger() -> Ledger {
        Ledger::new("r", "n", 1, Some("s1".to_owned()), 10)
    }

    fn steer() -> Event {
        Event::SteerQueued { text: "x".to_owned() }
    }

    #[test]
    fn events_are_numbered_on_and_carry_the_id_of_the_start() {
        let mut ledger = ledger();
        let frame = ledger.add(&steer(), NOW);
        assert!(frame.seq == 11 && frame.text.contains(r#""requestId":"s1""#));
        assert!(!ledger.add_unasked(&steer(), NOW).text.contains("requestId"));
        let (advance, news) = ledger.close(Phase::Between, String::new());
        assert_eq!(
            advance.events.iter().map(|event| event.seq).collect::<Vec<_>>(),
            [11, 12]
        );
        assert_eq!((advance.last_seq, news.frames.len()), (12, 2));
        assert!(ledger.is_empty());
    }

    #[test]
    fn what_streams_takes_only_numbers_that_are_stored_as_given() {
        let mut ledger = ledger();
        assert!(ledger.stream(&steer(), NOW).is_none());
        let (advance, _) = ledger.close(Phase::Working, String::new());
        assert_eq!(advance.last_seq, 10 + RESERVED);
        let streamed = (0..=RESERVED)
            .map_while(|_| ledger.stream(&steer(), NOW))
            .last()
            .unwrap();
        assert_eq!(streamed.seq, advance.last_seq);
        ledger.add(&steer(), NOW);
        assert_eq!(
            ledger.close(Phase::Between, String::new()).0.last_seq,
            advance.last_seq + 1
        );
    }

    #[test]
    fn what_is_told_before_a_commit_waits_for_what_was_noted_earlier() {
        let mut ledger = ledger();
        ledger.close(Phase::Working, String::new());
        ledger.add(&steer(), NOW);
        assert!(ledger.stream(&steer(), NOW).is_none());
    }

    #[test]
    fn what_could_not_be_stored_comes_first_the_next_time() {
        let mut ledger = ledger();
        ledger.add(&steer(), NOW);
        let (advance, news) = ledger.close(Phase::Between, String::new());
        ledger.add(&steer(), NOW);
        ledger.take_back(advance, news);
        let (advance, news) = ledger.close(Phase::Between, String::new());
        assert_eq!(
            advance.events.iter().map(|event| event.seq).collect::<Vec<_>>(),
            [11, 12]
        );
        assert_eq!(news.frames.iter().map(|frame| frame.seq).collect::<Vec<_>>(), [11, 12]);
    }

    #[test]
    fn so_much_is_noted_before_a_commit_and_no_more() {
        let mut ledger = ledger();
        (0..MOST_ENTRIES).for_each(|_| drop(ledger.add(&steer(), NOW)));
        assert!(ledger.is_full());
    }
}
