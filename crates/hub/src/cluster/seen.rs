//! Dedup window of resolved messages. Listeners are told once, although both the bus and the reconciliation report it.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use countersign_protocol::id::MessageId;

pub struct DedupWindow {
    ttl: Duration,
    seen: Mutex<SeenIds>,
}

#[derive(Default)]
struct SeenIds {
    since: HashMap<MessageId, Instant>,
    /// Oldest first.
    order: VecDeque<MessageId>,
}

impl DedupWindow {
    /// An inserted id is remembered for at least this long.
    pub fn with_ttl(ttl: Duration) -> Self {
        Self {
            ttl,
            seen: Mutex::default(),
        }
    }

    /// Returns true if the id is new.
    pub fn insert(&self, id: &MessageId) -> bool {
        self.insert_at(id, Instant::now())
    }

    fn insert_at(&self, id: &MessageId, now: Instant) -> bool {
        let mut seen = self.lock();
        seen.forget(now, self.ttl);
        if seen.since.contains_key(id) {
            return false;
        }
        seen.since.insert(id.clone(), now);
        seen.order.push_back(id.clone());
        true
    }

    fn lock(&self) -> MutexGuard<'_, SeenIds> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SeenIds {
    fn forget(&mut self, now: Instant, ttl: Duration) {
        let is_old = |since: &Instant| now.saturating_duration_since(*since) > ttl;
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
    fn a_seen_id_is_remembered_for_the_ttl() {
        let window = DedupWindow::with_ttl(Duration::from_secs(60));
        let began = Instant::now();
        let [one, other] = [7, 8].map(|number| MessageId::from_uuid(Uuid::from_u128(number)));
        assert!(window.insert_at(&one, began));
        assert!(window.insert_at(&other, began + Duration::from_secs(30)));
        assert!(!window.insert_at(&one, began + Duration::from_secs(60)));
        assert!(
            window.insert_at(&one, began + Duration::from_secs(61)),
            "forgotten after the ttl"
        );
        assert!(!window.insert_at(&other, began + Duration::from_secs(61)));
        assert_eq!(window.lock().order.len(), 2);
    }
}
