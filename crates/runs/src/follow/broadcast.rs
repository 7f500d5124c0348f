//! Broadcasting to the followers of a run, and the replay buffer for those that reconnect. Events are stored before, or
//! streamed on a reserved seq, so no seq is ever reused.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use countersign_protocol::id::MessageId;
use countersign_protocol::runs::{Event, RunReply, mark_resolved};
use countersign_protocol::time::Timestamp;
use countersign_store::ops::run::{RunEnding, StoredEvent};

use super::pending::PendingAsk;
use crate::run::{RunStage, TrackedRun, TrackedRunState};

const MAX_FRAMES: usize = 10_000;
const MAX_BYTES: usize = 8 * 1024 * 1024;
/// Once all buffers together exceed this, each shrinks to the reduced limits.
const MAX_TOTAL_BYTES: usize = 256 * 1024 * 1024;
const REDUCED_MAX_FRAMES: usize = 100;
const REDUCED_MAX_BYTES: usize = 64 * 1024;

/// The text of a frame. All subscribers share it.
pub type FrameText = Arc<str>;

/// One serialized event of a run.
#[derive(Debug, Clone)]
pub struct EventFrame {
    pub seq: u64,
    pub text: FrameText,
    /// May be dropped for a slow client.
    pub is_droppable: bool,
    /// The event asks for an answer.
    pub is_ask: bool,
}

impl EventFrame {
    pub fn of(event: &Event, seq: u64, text: impl Into<FrameText>) -> Self {
        Self {
            seq,
            text: text.into(),
            is_droppable: event.is_droppable(),
            is_ask: is_ask(event.kind()),
        }
    }

    /// The frame of an ask that was answered before this subscriber joined.
    pub fn resolved(&self) -> FrameText {
        mark_resolved(&self.text).into()
    }
}

/// Stored events are never dropped for a slow client.
impl From<StoredEvent> for EventFrame {
    fn from(event: StoredEvent) -> Self {
        let is_ask = is_ask(&event.kind);
        Self {
            seq: event.seq,
            text: event.body.into(),
            is_droppable: false,
            is_ask,
        }
    }
}

fn is_ask(kind: &str) -> bool {
    matches!(kind, "request_input" | "request_permission" | "request_question")
}

/// The changes of one commit.
#[derive(Default)]
pub struct RunUpdate {
    pub frames: Vec<EventFrame>,
    /// Asks among the frames.
    pub pending: Vec<PendingAsk>,
    pub records: u64,
}

impl TrackedRun {
    /// Called by the registry. The stage changes before the broadcast, so a client that reacts to the last event finds
    /// the run ended.
    pub fn end(&self, ending: RunEnding, at: Timestamp, update: RunUpdate) -> bool {
        let mut state = self.lock();
        state.stage = RunStage::Over { ending, at };
        state.pending.clear();
        state.broadcast(update);
        true
    }

    /// Drops all pending asks: they can no longer be answered.
    pub fn clear_pending(&self) {
        self.lock().pending.clear();
    }

    /// Call this for every resolved ask of this run, after the commit. From then on an answer selects the next ask.
    pub fn resolved(&self, message_id: &MessageId, ts: Timestamp) {
        let mut state = self.lock();
        let Some(index) = state
            .pending
            .iter()
            .position(|pending| pending.message_id == *message_id)
        else {
            return;
        };
        let PendingAsk {
            agent_name,
            id: input_id,
            ..
        } = state.pending.remove(index);
        if !state.followers.iter().any(|follower| follower.extensions) {
            return;
        }
        let resolved = RunReply::InputResolved {
            run_id: self.id.clone(),
            agent_name,
            input_id,
        };
        let text = FrameText::from(resolved.frame(ts, None));
        for follower in state.followers.iter().filter(|follower| follower.extensions) {
            follower.client.push(text.clone(), false);
        }
    }
}

impl TrackedRunState {
    pub fn broadcast(&mut self, update: RunUpdate) {
        self.records += update.records;
        self.pending.extend(update.pending);
        for frame in update.frames {
            self.last_seq = frame.seq;
            for follower in &self.followers {
                follower.client.push(frame.text.clone(), frame.is_droppable);
            }
            self.replay.push(frame);
        }
    }

    /// For a prepared run, which has no task yet: the event is numbered here and stored when the run starts.
    pub fn broadcast_early(&mut self, run_id: &str, event: &Event, ts: Timestamp) {
        let seq = self.last_seq + 1;
        let body = event.frame(run_id, seq, ts, None);
        let frame = EventFrame::of(event, seq, body.as_str());
        if let RunStage::Prepared(prepared) = &mut self.stage {
            prepared.early_events.extend(StoredEvent::of(event, seq, &body));
        }
        self.broadcast(RunUpdate {
            frames: vec![frame],
            ..RunUpdate::default()
        });
    }
}

/// Bytes held by all replay buffers together.
#[derive(Debug, Clone, Default)]
pub struct ByteBudget(Arc<AtomicUsize>);

/// The latest events of a run. Older events are in the store, except streamed ones.
#[derive(Debug)]
pub struct ReplayBuffer {
    frames: VecDeque<EventFrame>,
    bytes: usize,
    /// Number of droppable frames.
    droppable: usize,
    /// Events up to this seq are not in the buffer.
    floor: u64,
    byte_budget: ByteBudget,
}

impl ReplayBuffer {
    pub fn above(floor: u64, byte_budget: &ByteBudget) -> Self {
        Self {
            frames: VecDeque::new(),
            bytes: 0,
            droppable: 0,
            floor,
            byte_budget: byte_budget.clone(),
        }
    }

    pub fn floor(&self) -> u64 {
        self.floor
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn push(&mut self, frame: EventFrame) {
        let byte_budget = self.byte_budget.0.load(Ordering::Relaxed) + frame.text.len();
        let is_much = byte_budget > MAX_TOTAL_BYTES;
        let (frames, bytes) = if is_much {
            (REDUCED_MAX_FRAMES, REDUCED_MAX_BYTES)
        } else {
            (MAX_FRAMES, MAX_BYTES)
        };
        let is_over = self.frames.len() >= frames || self.bytes + frame.text.len() > bytes;
        if is_over && frame.is_droppable && !is_worth_a_sweep(self.droppable, self.frames.len()) {
            return self.shrink(frames, bytes);
        }
        self.byte_budget.0.fetch_add(frame.text.len(), Ordering::Relaxed);
        self.bytes += frame.text.len();
        self.droppable += usize::from(frame.is_droppable);
        self.frames.push_back(frame);
        if is_over {
            self.shrink(frames, bytes);
        }
    }

    /// The frames after this seq, in order.
    pub fn after(&self, seq: u64) -> impl Iterator<Item = &EventFrame> {
        let start = self.frames.partition_point(|frame| frame.seq <= seq);
        self.frames.range(start..)
    }

    /// Drops all streamed frames first: dropping them one by one would cost a search each.
    fn shrink(&mut self, max_frames: usize, max_bytes: usize) {
        let is_over = |replay: &Self| replay.frames.len() > max_frames || replay.bytes > max_bytes;
        if is_over(self) && self.droppable > 0 {
            let before = self.bytes;
            self.frames.retain(|frame| !frame.is_droppable);
            self.bytes = self.frames.iter().map(|frame| frame.text.len()).sum();
            self.droppable = 0;
            self.byte_budget.0.fetch_sub(before - self.bytes, Ordering::Relaxed);
        }
        while is_over(self) {
            let Some(oldest) = self.frames.pop_front() else { return };
            self.floor = oldest.seq;
            self.bytes -= oldest.text.len();
            self.byte_budget.0.fetch_sub(oldest.text.len(), Ordering::Relaxed);
        }
    }
}

/// Dropping streamed frames scans the whole buffer. With few of them the newest frame is dropped instead; otherwise
/// every new frame would cost a scan.
pub fn is_worth_a_sweep(droppable: usize, all: usize) -> bool {
    droppable * 2 >= all
}

impl Drop for ReplayBuffer {
    fn drop(&mut self) {
        self.byte_budget.0.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(seq: u64, bytes: usize, is_droppable: bool) -> EventFrame {
        EventFrame {
            seq,
            text: "x".repeat(bytes).into(),
            is_droppable,
            is_ask: false,
        }
    }

    fn numbers(replay: &ReplayBuffer, after: u64) -> Vec<u64> {
        replay.after(after).map(|frame| frame.seq).collect()
    }

    #[test]
    fn frames_after_a_seq_are_replayed_in_order() {
        let mut replay = ReplayBuffer::above(3, &ByteBudget::default());
        (4..=8).for_each(|seq| replay.push(frame(seq, 1, false)));
        for (after, there) in [(0, 4..9), (3, 4..9), (5, 6..9), (8, 9..9), (99, 9..9)] {
            assert_eq!(numbers(&replay, after), there.collect::<Vec<_>>(), "{after}");
        }
    }

    #[test]
    fn streamed_frames_are_dropped_first() {
        let mut replay = ReplayBuffer::above(0, &ByteBudget::default());
        for seq in 1..=MAX_FRAMES as u64 + 1 {
            replay.push(frame(seq, 1, seq % 2 == 0));
        }
        assert_eq!(replay.floor(), 0, "no stored event is missing");
        assert_eq!(numbers(&replay, 0).len(), MAX_FRAMES / 2 + 1);
    }

    #[test]
    fn a_streamed_frame_is_dropped_when_the_buffer_is_full() {
        let byte_budget = ByteBudget::default();
        let mut replay = ReplayBuffer::above(0, &byte_budget);
        (1..MAX_FRAMES as u64).for_each(|seq| replay.push(frame(seq, 1, false)));
        (0..3).for_each(|more| replay.push(frame(MAX_FRAMES as u64 + more, 1, true)));
        assert_eq!(
            replay.frames.back().map(|frame| frame.seq),
            Some(MAX_FRAMES as u64),
            "there was room for one"
        );
        assert_eq!(
            (replay.droppable, replay.bytes, byte_budget.0.load(Ordering::Relaxed)),
            (1, MAX_FRAMES, MAX_FRAMES)
        );
        replay.push(frame(MAX_FRAMES as u64 + 3, 1, false));
        assert_eq!(
            (replay.floor(), replay.droppable, replay.frames.len()),
            (0, 0, MAX_FRAMES),
            "it makes room for others"
        );
    }

    #[test]
    fn the_oldest_frame_is_dropped_when_the_buffer_is_full() {
        let byte_budget = ByteBudget::default();
        let mut replay = ReplayBuffer::above(0, &byte_budget);
        (1..=3).for_each(|seq| replay.push(frame(seq, MAX_BYTES / 2, false)));
        assert_eq!((replay.floor(), numbers(&replay, 0)), (1, vec![2, 3]));
        drop(replay);
        assert_eq!(byte_budget.0.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn buffers_shrink_when_their_total_is_large() {
        let byte_budget = ByteBudget::default();
        byte_budget.0.store(MAX_TOTAL_BYTES, Ordering::Relaxed);
        let mut replay = ReplayBuffer::above(0, &byte_budget);
        (1..=REDUCED_MAX_FRAMES as u64 + 5).for_each(|seq| replay.push(frame(seq, 1, false)));
        assert_eq!((replay.floor(), numbers(&replay, 0).len()), (5, REDUCED_MAX_FRAMES));
    }
}
