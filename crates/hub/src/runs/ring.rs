//! The latest events of a run, in memory for those who come back. What is no longer here is in the store, except for what
//! streamed.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::frame::Frame;

const MOST_FRAMES: usize = 10_000;
const MOST_BYTES: usize = 8 * 1024 * 1024;
/// Once all rings together hold so much, each keeps little.
const MOST_BYTES_TOGETHER: usize = 256 * 1024 * 1024;
const FEW_FRAMES: usize = 100;
const FEW_BYTES: usize = 64 * 1024;

/// What all rings together hold.
#[derive(Debug, Clone, Default)]
pub struct Together(Arc<AtomicUsize>);

#[derive(Debug)]
pub struct Ring {
    frames: VecDeque<Frame>,
    bytes: usize,
    /// How many of the frames streamed.
    droppable: usize,
    /// Up to this number nothing is here.
    floor: u64,
    together: Together,
}

impl Ring {
    pub fn above(floor: u64, together: &Together) -> Self {
        Self {
            frames: VecDeque::new(),
            bytes: 0,
            droppable: 0,
            floor,
            together: together.clone(),
        }
    }

    pub fn floor(&self) -> u64 {
        self.floor
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn push(&mut self, frame: Frame) {
        let together = self.together.0.load(Ordering::Relaxed) + frame.text.len();
        let is_much = together > MOST_BYTES_TOGETHER;
        let (frames, bytes) = if is_much {
            (FEW_FRAMES, FEW_BYTES)
        } else {
            (MOST_FRAMES, MOST_BYTES)
        };
        let is_over = self.frames.len() >= frames || self.bytes + frame.text.len() > bytes;
        if is_over && frame.is_droppable && !is_worth_a_pass(self.droppable, self.frames.len()) {
            return self.shrink(frames, bytes);
        }
        self.together.0.fetch_add(frame.text.len(), Ordering::Relaxed);
        self.bytes += frame.text.len();
        self.droppable += usize::from(frame.is_droppable);
        self.frames.push_back(frame);
        self.shrink(frames, bytes);
    }

    /// In their order, from the first behind a number.
    pub fn after(&self, seq: u64) -> impl Iterator<Item = &Frame> {
        let start = self.frames.partition_point(|frame| frame.seq <= seq);
        self.frames.range(start..)
    }

    /// What streamed goes first, and all of it: one at a time would mean to search for each.
    fn shrink(&mut self, most_frames: usize, most_bytes: usize) {
        let is_over = |ring: &Self| ring.frames.len() > most_frames || ring.bytes > most_bytes;
        if is_over(self) && self.droppable > 0 {
            let before = self.bytes;
            self.frames.retain(|frame| !frame.is_droppable);
            self.bytes = self.frames.iter().map(|frame| frame.text.len()).sum();
            self.droppable = 0;
            self.together.0.fetch_sub(before - self.bytes, Ordering::Relaxed);
        }
        while is_over(self) {
            let Some(oldest) = self.frames.pop_front() else { return };
            self.floor = oldest.seq;
            self.bytes -= oldest.text.len();
            self.together.0.fetch_sub(oldest.text.len(), Ordering::Relaxed);
        }
    }
}

/// To drop what streamed means to look at everything. Where little of it streamed, the newest frame is left out instead:
/// otherwise every one that comes would cost such a look.
pub fn is_worth_a_pass(droppable: usize, all: usize) -> bool {
    droppable * 2 >= all
}

impl Drop for Ring {
    fn drop(&mut self) {
        self.together.0.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(seq: u64, bytes: usize, is_droppable: bool) -> Frame {
        Frame {
            seq,
            text: "x".repeat(bytes).into(),
            is_droppable,
            is_ask: false,
        }
    }

    fn numbers(ring: &Ring, after: u64) -> Vec<u64> {
        ring.after(after).map(|frame| frame.seq).collect()
    }

    #[test]
    fn what_came_behind_a_number_comes_again_in_its_order() {
        let mut ring = Ring::above(3, &Together::default());
        (4..=8).for_each(|seq| ring.push(frame(seq, 1, false)));
        for (after, there) in [(0, 4..9), (3, 4..9), (5, 6..9), (8, 9..9), (99, 9..9)] {
            assert_eq!(numbers(&ring, after), there.collect::<Vec<_>>(), "{after}");
        }
    }

    #[test]
    fn what_streamed_goes_before_anything_else() {
        let mut ring = Ring::above(0, &Together::default());
        for seq in 1..=MOST_FRAMES as u64 + 1 {
            ring.push(frame(seq, 1, seq % 2 == 0));
        }
        assert_eq!(ring.floor(), 0, "nothing is missing that has to be there");
        assert_eq!(numbers(&ring, 0).len(), MOST_FRAMES / 2 + 1);
    }

    #[test]
    fn a_stream_that_meets_a_full_ring_is_left_out_itself() {
        let together = Together::default();
        let mut ring = Ring::above(0, &together);
        (1..MOST_FRAMES as u64).for_each(|seq| ring.push(frame(seq, 1, false)));
        (0..3).for_each(|more| ring.push(frame(MOST_FRAMES as u64 + more, 1, true)));
        assert_eq!(
            ring.frames.back().map(|frame| frame.seq),
            Some(MOST_FRAMES as u64),
            "there was room for one"
        );
        assert_eq!(
            (ring.droppable, ring.bytes, together.0.load(Ordering::Relaxed)),
            (1, MOST_FRAMES, MOST_FRAMES)
        );
        ring.push(frame(MOST_FRAMES as u64 + 3, 1, false));
        assert_eq!(
            (ring.floor(), ring.droppable, ring.frames.len()),
            (0, 0, MOST_FRAMES),
            "it makes room for others"
        );
    }

    #[test]
    fn the_oldest_goes_when_there_is_too_much() {
        let together = Together::default();
        let mut ring = Ring::above(0, &together);
        (1..=3).for_each(|seq| ring.push(frame(seq, MOST_BYTES / 2, false)));
        assert_eq!((ring.floor(), numbers(&ring, 0)), (1, vec![2, 3]));
        drop(ring);
        assert_eq!(together.0.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn each_keeps_little_once_all_hold_much() {
        let together = Together::default();
        together.0.store(MOST_BYTES_TOGETHER, Ordering::Relaxed);
        let mut ring = Ring::above(0, &together);
        (1..=FEW_FRAMES as u64 + 5).for_each(|seq| ring.push(frame(seq, 1, false)));
        assert_eq!((ring.floor(), numbers(&ring, 0).len()), (5, FEW_FRAMES));
    }
}
