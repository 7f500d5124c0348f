//! Waking those who wait for a message. A wake-up is only a hint: register first, then look at the store.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_protocol::id::MessageId;
use tokio::sync::oneshot;

#[derive(Default)]
pub struct Wake {
    waiting: Mutex<HashMap<MessageId, Vec<Bell>>>,
    next: AtomicU64,
}

struct Bell {
    number: u64,
    ring: oneshot::Sender<()>,
}

impl Wake {
    pub fn register(self: &Arc<Self>, id: &MessageId) -> Waiter {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (ring, rung) = oneshot::channel();
        self.lock().entry(id.clone()).or_default().push(Bell { number, ring });
        Waiter { wake: Arc::clone(self), id: id.clone(), number, rung }
    }

    pub fn ring(&self, id: &MessageId) {
        let bells = self.lock().remove(id).unwrap_or_default();
        for bell in bells {
            // Whoever has stopped waiting does not mind.
            let _ = bell.ring.send(());
        }
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
    rung: oneshot::Receiver<()>,
}

impl Waiter {
    pub async fn rung(&mut self) {
        // A dropped bell means the same as a rung one: look again.
        drop((&mut self.rung).await);
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
    use uuid::Uuid;

    use super::*;

    #[tokio::test]
    async fn a_ring_between_registering_and_waiting_is_not_lost() {
        let wake = Arc::new(Wake::default());
        let id = MessageId::from_uuid(Uuid::from_u128(7));
        let mut waiter = wake.register(&id);
        wake.ring(&id);
        waiter.rung().await;
    }

    #[test]
    fn nothing_stays_behind_when_a_waiter_goes_away() {
        let wake = Arc::new(Wake::default());
        let id = MessageId::from_uuid(Uuid::from_u128(7));
        let (first, second) = (wake.register(&id), wake.register(&id));
        drop(first);
        assert_eq!(wake.waited_for(), 1);
        drop(second);
        assert_eq!(wake.waited_for(), 0);
    }
}
