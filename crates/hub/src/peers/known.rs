//! What was told here a while ago, so that nobody is told twice: by a word, and by the net under it.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use countersign_protocol::id::MessageId;

pub struct Known {
    keep: Duration,
    told: Mutex<Told>,
}

#[derive(Default)]
struct Told {
    since: HashMap<MessageId, Instant>,
    /// Earliest first.
    order: VecDeque<MessageId>,
}

impl Known {
    /// Whatever is noted is known for so long.
    pub fn for_at_least(keep: Duration) -> Self {
        Self {
            keep,
            told: Mutex::default(),
        }
    }

    /// Says whether it is new.
    pub fn note(&self, id: &MessageId) -> bool {
        self.note_at(id, Instant::now())
    }

    fn note_at(&self, id: &MessageId, now: Instant) -> bool {
        let mut told = self.lock();
        told.forget(now, self.keep);
        if told.since.contains_key(id) {
            return false;
        }
        told.since.insert(id.clone(), now);
        told.order.push_back(id.clone());
        true
    }

    fn lock(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Told {
    fn forget(&mut self, now: Instant, keep: Duration) {
        let is_old = |since: &Instant| now.saturating_duration_since(*since) > keep;
        while self
            .order
            .front()
            .is_some_and(|id| self.since.get(id).is_none_or(is_old))
        {
            if let Some(id) = self.order.pop_front() {
                self.since.remove(&id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn what_was_told_is_known_for_a_while() {
        let known = Known::for_at_least(Duration::from_secs(60));
        let began = Instant::now();
        let [one, other] = [7, 8].map(|number| MessageId::from_uuid(Uuid::from_u128(number)));
        assert!(known.note_at(&one, began));
        assert!(known.note_at(&other, began + Duration::from_secs(30)));
        assert!(!known.note_at(&one, began + Duration::from_secs(60)));
        assert!(known.note_at(&one, began + Duration::from_secs(61)), "it is forgotten");
        assert!(!known.note_at(&other, began + Duration::from_secs(61)));
        assert_eq!(known.lock().order.len(), 2);
    }
}
