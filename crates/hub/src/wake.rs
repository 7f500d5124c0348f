//! Waking those who wait for a message. Register first, then look at the store: what is resolved after that comes with
//! the wake-up itself. It may also come with nothing in it, which means: look again.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use countersign_protocol::id::MessageId;
use countersign_store::model::Pulled;
use tokio::sync::oneshot;

/// For those who wait while the store is away.
pub const BEFORE_ANOTHER_LOOK: Duration = Duration::from_millis(250);

#[derive(Default)]
pub struct Wake {
    waiting: Mutex<HashMap<MessageId, Vec<Bell>>>,
    next: AtomicU64,
}

struct Bell {
    number: u64,
    ring: oneshot::Sender<Box<Pulled>>,
}

impl Wake {
    pub fn register(self: &Arc<Self>, id: &MessageId) -> Waiter {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (ring, rung) = oneshot::channel();
        self.lock().entry(id.clone()).or_default().push(Bell { number, ring });
        Waiter {
            wake: Arc::clone(self),
            id: id.clone(),
            number,
            rung,
        }
    }

    pub fn ring(&self, resolved: &Pulled) {
        let bells = self.lock().remove(&resolved.id).unwrap_or_default();
        for bell in bells {
            // Whoever has stopped waiting does not mind.
            let _ = bell.ring.send(Box::new(resolved.clone()));
        }
    }

    /// Whoever waits for this message is to look at it again.
    pub fn look(&self, id: &MessageId) {
        // A bell that is dropped rings with nothing in it.
        drop(self.lock().remove(id));
    }

    /// Everybody is, for whatever they wait.
    pub fn look_all(&self) {
        drop(std::mem::take(&mut *self.lock()));
    }

    /// Whether somebody waits for this message right now.
    pub fn is_waited_for(&self, id: &MessageId) -> bool {
        self.lock().contains_key(id)
    }

    /// How many messages somebody waits for.
    pub fn waited_for(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<MessageId, Vec<Bell>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub struct Waiter {
    wake: Arc<Wake>,
    id: MessageId,
    number: u64,
    rung: oneshot::Receiver<Box<Pulled>>,
}

impl Waiter {
    pub async fn rung(&mut self) -> Option<Box<Pulled>> {
        (&mut self.rung).await.ok()
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut waiting = self.wake.lock();
        if let Some(bells) = waiting.get_mut(&self.id) {
            bells.retain(|bell| bell.number != self.number);
            if bells.is_empty() {
                waiting.remove(&self.id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use countersign_core::message::{Door, Source, State};
    use countersign_protocol::time::Timestamp;
    use uuid::Uuid;

    use super::*;

    fn resolved(id: &MessageId) -> Pulled {
        let now = Timestamp::from_millis(1);
        Pulled {
            id: id.clone(),
            agent_id: "bot".to_owned(),
            rev: 2,
            received_at: now,
            expires_at: None,
            state: State::Delivered,
            source: Source {
                door: Door::A2h,
                ids: BTreeMap::new(),
            },
            wire: "{}".to_owned(),
        }
    }

    #[tokio::test]
    async fn a_ring_between_registering_and_waiting_is_not_lost() {
        let wake = Arc::new(Wake::default());
        let id = MessageId::from_uuid(Uuid::from_u128(7));
        let mut waiter = wake.register(&id);
        wake.ring(&resolved(&id));
        assert_eq!(waiter.rung().await.map(|pulled| pulled.rev), Some(2));
    }

    #[tokio::test]
    async fn whoever_is_to_look_again_is_woken_without_being_told_why() {
        let wake = Arc::new(Wake::default());
        let id = MessageId::from_uuid(Uuid::from_u128(7));
        let other = MessageId::from_uuid(Uuid::from_u128(8));
        let mut waiter = wake.register(&id);
        let mut others = wake.register(&other);
        wake.look(&id);
        assert!(waiter.rung().await.is_none());
        assert!(wake.is_waited_for(&other));
        wake.look_all();
        assert!(others.rung().await.is_none());
    }

    #[test]
    fn nothing_stays_behind_when_a_waiter_goes_away() {
        let wake = Arc::new(Wake::default());
        let id = MessageId::from_uuid(Uuid::from_u128(7));
        let first = wake.register(&id);
        let second = wake.register(&id);
        drop(first);
        assert!(wake.is_waited_for(&id));
        drop(second);
        assert!(!wake.is_waited_for(&id));
        assert_eq!(wake.waited_for(), 0);
    }
}
