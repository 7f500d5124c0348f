//! Replay buffer: the latest events of a run, for clients that reconnect. Older events are in the store, except
//! streamed ones.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::broadcast::EventFrame;

const MAX_FRAMES: usize = 10_000;
const MAX_BYTES: usize = 8 * 1024 * 1024;
/// Once all buffers together exceed this, each shrinks to the reduced limits.
const MAX_TOTAL_BYTES: usize = 256 * 1024 * 1024;
const REDUCED_MAX_FRAMES: usize = 100;
const REDUCED_MAX_BYTES: usize = 64 * 1024;

/// Bytes held by all replay buffers together.
#[derive(Debug, Clone, Default)]
pub struct ByteBudget(Arc<AtomicUsize>);

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
        self.shrink(frames, bytes);
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
