//! The last things that happened, numbered without a gap. Whoever listens holds a number and nothing else.

use std::collections::VecDeque;

use super::event::Heard;

/// How far somebody may fall behind before the page has to be fetched again.
pub const LENGTH: usize = 1024;
/// Nor may what is kept take more than this: an agent decides how long its rows are.
const MOST_BYTES: usize = 16 * 1024 * 1024;

pub struct Ring {
    /// The number of the last one kept, or the one to count on from.
    newest: u64,
    kept: VecDeque<Heard>,
    /// Of all that is kept.
    bytes: usize,
}

pub enum Next {
    Heard(Heard),
    /// Nothing happened since.
    Nothing,
    /// What came next is not kept any more, or was never here.
    Missed {
        newest: u64,
    },
}

impl Ring {
    pub fn counting_from(number: u64) -> Self {
        Self {
            newest: number,
            kept: VecDeque::new(),
            bytes: 0,
        }
    }

    pub fn newest(&self) -> u64 {
        self.newest
    }

    pub fn push(&mut self, make: impl FnOnce(u64) -> Heard) -> u64 {
        self.newest += 1;
        let heard = make(self.newest);
        self.bytes += heard.bytes();
        self.kept.push_back(heard);
        // The newest one stays, however large.
        while self.kept.len() > LENGTH || (self.bytes > MOST_BYTES && self.kept.len() > 1) {
            self.bytes -= self.kept.pop_front().map_or(0, |oldest| oldest.bytes());
        }
        self.newest
    }

    /// What follows on `place`.
    pub fn after(&self, place: u64) -> Next {
        if place == self.newest {
            return Next::Nothing;
        }
        let behind = self
            .newest
            .checked_sub(place)
            .and_then(|behind| usize::try_from(behind).ok());
        let index = behind.and_then(|behind| self.kept.len().checked_sub(behind));
        match index.and_then(|index| self.kept.get(index)) {
            Some(heard) => Next::Heard(heard.clone()),
            None => Next::Missed { newest: self.newest },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bytes::Bytes;

    use super::super::event::Event;
    use super::*;

    fn after(ring: &Ring, place: u64) -> Result<Option<u64>, u64> {
        match ring.after(place) {
            Next::Heard(heard) => Ok(Some(heard.id())),
            Next::Nothing => Ok(None),
            Next::Missed { newest } => Err(newest),
        }
    }

    #[test]
    fn whoever_has_a_place_gets_what_follows_and_everybody_else_is_sent_to_the_end() {
        let mut ring = Ring::counting_from(100);
        assert_eq!(
            (after(&ring, 100), after(&ring, 99), after(&ring, 101)),
            (Ok(None), Err(100), Err(100))
        );
        let length = u64::try_from(LENGTH).unwrap();
        for _ in 0..length + 5 {
            ring.push(|id| Heard::Resync { id });
        }
        let newest = 100 + length + 5;
        assert_eq!(ring.newest(), newest);
        assert_eq!(after(&ring, newest - 1), Ok(Some(newest)));
        assert_eq!(after(&ring, 105), Ok(Some(106)), "the oldest that is kept");
        assert_eq!(after(&ring, 104), Err(newest), "the one before is gone");
        assert_eq!(after(&ring, newest + 1), Err(newest), "a number of another hub");
    }

    fn large(id: u64, length: usize) -> Heard {
        let about = String::new();
        let web = Bytes::from(vec![b'x'; length]);
        Heard::Event(Arc::new(Event {
            id,
            kind: "opened",
            about,
            web,
            api: Bytes::new(),
        }))
    }

    #[test]
    fn large_ones_leave_sooner() {
        let mut ring = Ring::counting_from(0);
        for _ in 0..40 {
            ring.push(|id| large(id, MOST_BYTES / 8));
        }
        assert_eq!(
            (after(&ring, 32), after(&ring, 31)),
            (Ok(Some(33)), Err(40)),
            "eight are kept"
        );
        ring.push(|id| large(id, 2 * MOST_BYTES));
        assert_eq!((after(&ring, 40), after(&ring, 39)), (Ok(Some(41)), Err(41)));
        for _ in 0..LENGTH {
            ring.push(|id| large(id, 1));
        }
        assert_eq!(after(&ring, 41), Ok(Some(42)), "small ones have all the room again");
    }
}
