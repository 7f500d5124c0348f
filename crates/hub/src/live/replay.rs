//! The replay buffer: the latest events, numbered without gaps. A listener holds only the id of its last event.

use std::collections::VecDeque;

use super::event::LiveEvent;

/// How far a listener may fall behind before its page has to be loaded again.
pub const MAX_EVENTS: usize = 1024;
/// Byte limit of the whole buffer, because agents decide how long their rows are.
const MAX_BYTES: usize = 16 * 1024 * 1024;

pub struct LiveReplayBuffer {
    /// The id of the newest event, or the id that counting starts from.
    newest: u64,
    events: VecDeque<LiveEvent>,
    /// Total size of the buffered events.
    bytes: usize,
}

pub enum ReplayNext {
    Event(LiveEvent),
    /// The listener has seen everything.
    UpToDate,
    /// The next event is no longer buffered, or the id belongs to another node.
    Gap {
        newest: u64,
    },
}

impl LiveReplayBuffer {
    pub fn starting_at(number: u64) -> Self {
        Self {
            newest: number,
            events: VecDeque::new(),
            bytes: 0,
        }
    }

    pub fn newest(&self) -> u64 {
        self.newest
    }

    pub fn push(&mut self, make: impl FnOnce(u64) -> LiveEvent) -> u64 {
        self.newest += 1;
        let event = make(self.newest);
        self.bytes += event.bytes();
        self.events.push_back(event);
        // The newest event stays, however large it is.
        while self.events.len() > MAX_EVENTS || (self.bytes > MAX_BYTES && self.events.len() > 1) {
            self.bytes -= self.events.pop_front().map_or(0, |oldest| oldest.bytes());
        }
        self.newest
    }

    /// Returns the event after `last_id`.
    pub fn after(&self, last_id: u64) -> ReplayNext {
        if last_id == self.newest {
            return ReplayNext::UpToDate;
        }
        let behind = self
            .newest
            .checked_sub(last_id)
            .and_then(|behind| usize::try_from(behind).ok());
        let index = behind.and_then(|behind| self.events.len().checked_sub(behind));
        match index.and_then(|index| self.events.get(index)) {
            Some(event) => ReplayNext::Event(event.clone()),
            None => ReplayNext::Gap { newest: self.newest },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bytes::Bytes;
    use countersign_core::Language;

    use super::*;
    use crate::live::event::RenderedEvent;

    fn after(buffer: &LiveReplayBuffer, last_id: u64) -> Result<Option<u64>, u64> {
        match buffer.after(last_id) {
            ReplayNext::Event(event) => Ok(Some(event.id())),
            ReplayNext::UpToDate => Ok(None),
            ReplayNext::Gap { newest } => Err(newest),
        }
    }

    #[test]
    fn known_position_gets_the_next_event_and_an_unknown_one_gets_a_gap() {
        let mut buffer = LiveReplayBuffer::starting_at(100);
        assert_eq!(
            (after(&buffer, 100), after(&buffer, 99), after(&buffer, 101)),
            (Ok(None), Err(100), Err(100))
        );
        let length = u64::try_from(MAX_EVENTS).unwrap();
        for _ in 0..length + 5 {
            buffer.push(|id| LiveEvent::Resync { id });
        }
        let newest = 100 + length + 5;
        assert_eq!(buffer.newest(), newest);
        assert_eq!(after(&buffer, newest - 1), Ok(Some(newest)));
        assert_eq!(after(&buffer, 105), Ok(Some(106)), "the oldest buffered event");
        assert_eq!(after(&buffer, 104), Err(newest), "the event before it was dropped");
        assert_eq!(after(&buffer, newest + 1), Err(newest), "an id of another node");
    }

    fn large(id: u64, length: usize) -> LiveEvent {
        let about = String::new();
        let web = Bytes::from(vec![b'x'; length]);
        LiveEvent::Rendered(Arc::new(RenderedEvent {
            id,
            kind: "opened",
            about,
            web: vec![(Language::English, web)],
            api: Bytes::new(),
        }))
    }

    #[test]
    fn large_events_are_dropped_sooner() {
        let mut buffer = LiveReplayBuffer::starting_at(0);
        for _ in 0..40 {
            buffer.push(|id| large(id, MAX_BYTES / 8));
        }
        assert_eq!(
            (after(&buffer, 32), after(&buffer, 31)),
            (Ok(Some(33)), Err(40)),
            "eight are buffered"
        );
        buffer.push(|id| large(id, 2 * MAX_BYTES));
        assert_eq!((after(&buffer, 40), after(&buffer, 39)), (Ok(Some(41)), Err(41)));
        for _ in 0..MAX_EVENTS {
            buffer.push(|id| large(id, 1));
        }
        assert_eq!(
            after(&buffer, 41),
            Ok(Some(42)),
            "small events use the whole buffer again"
        );
    }
}
