//! Wakes the long-polls that wait for a message. A caller registers first and then reads the store; a resolution after
//! that comes with the wake-up. An empty wake-up means: read again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use countersign_protocol::id::MessageId;
use tokio::sync::oneshot;

use crate::model::AgentView;

/// Between two reads of a long-poll while the store is unavailable.
pub const STORE_RETRY_DELAY: Duration = Duration::from_millis(250);

#[derive(Default)]
pub struct Waiters {
    waiting: Mutex<HashMap<MessageId, Vec<Waker>>>,
}

type Waker = oneshot::Sender<Box<AgentView>>;

impl Waiters {
    pub fn register(self: &Arc<Self>, id: &MessageId) -> Waiter {
        let (waker, woken) = oneshot::channel();
        self.lock().entry(id.clone()).or_default().push(waker);
        let waiters = Arc::clone(self);
        let id = id.clone();
        Waiter { waiters, id, woken }
    }

    pub fn wake(&self, resolved: &AgentView) {
        let wakers = self.lock().remove(&resolved.id).unwrap_or_default();
        for waker in wakers {
            // Fails only when the waiter is gone.
            let _ = waker.send(Box::new(resolved.clone()));
        }
    }

    /// Makes the waiters of this message read it again.
    pub fn invalidate(&self, id: &MessageId) {
        // Dropping a waker wakes its waiter without a message.
        drop(self.lock().remove(id));
    }

    /// Makes all waiters read again.
    pub fn invalidate_all(&self) {
        drop(std::mem::take(&mut *self.lock()));
    }

    /// Whether a long-poll waits for this message now.
    pub fn has_waiter(&self, id: &MessageId) -> bool {
        self.lock().contains_key(id)
    }

    /// How many long-polls wait.
    pub fn count(&self) -> usize {
        self.lock().values().map(Vec::len).sum()
    }

    /// How many messages have waiters.
    pub fn message_count(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<MessageId, Vec<Waker>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub struct Waiter {
    waiters: Arc<Waiters>,
    id: MessageId,
    woken: oneshot::Receiver<Box<AgentView>>,
}

impl Waiter {
    pub async fn woken(&mut self) -> Option<Box<AgentView>> {
        (&mut self.woken).await.ok()
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        // Closes the own waker, so that it is found among those of the message.
        self.woken.close();
        let mut waiting = self.waiters.lock();
        if let Some(wakers) = waiting.get_mut(&self.id) {
            wakers.retain(|waker| !waker.is_closed());
            if wakers.is_empty() {
                waiting.remove(&self.id);
            }
        }
    }
}

#[cfg(test)]
mod tests {

    use countersign_core::message::{A2hSource, Source, State};
    use countersign_protocol::time::Timestamp;
    use uuid::Uuid;

    use super::*;

    fn resolved(id: &MessageId) -> AgentView {
        let now = Timestamp::from_millis(1);
        AgentView {
            id: id.clone(),
            agent_id: "bot".to_owned(),
            rev: 2,
            received_at: now,
            expires_at: None,
            state: State::Delivered,
            source: Source::A2h(A2hSource::default()),
            wire: "{}".to_owned(),
        }
    }

    #[tokio::test]
    async fn wake_up_between_registering_and_waiting_is_not_lost() {
        let waiters = Arc::new(Waiters::default());
        let id = MessageId::from_uuid(Uuid::from_u128(7));
        let mut waiter = waiters.register(&id);
        waiters.wake(&resolved(&id));
        assert_eq!(waiter.woken().await.map(|view| view.rev), Some(2));
    }

    #[tokio::test]
    async fn invalidated_waiter_wakes_without_a_message() {
        let waiters = Arc::new(Waiters::default());
        let id = MessageId::from_uuid(Uuid::from_u128(7));
        let other = MessageId::from_uuid(Uuid::from_u128(8));
        let mut waiter = waiters.register(&id);
        let mut others = waiters.register(&other);
        waiters.invalidate(&id);
        assert!(waiter.woken().await.is_none());
        assert!(waiters.has_waiter(&other));
        waiters.invalidate_all();
        assert!(others.woken().await.is_none());
    }

    #[test]
    fn dropped_waiter_leaves_no_entry() {
        let waiters = Arc::new(Waiters::default());
        let id = MessageId::from_uuid(Uuid::from_u128(7));
        let first = waiters.register(&id);
        let second = waiters.register(&id);
        drop(first);
        assert!(waiters.has_waiter(&id));
        drop(second);
        assert!(!waiters.has_waiter(&id));
        assert_eq!(waiters.message_count(), 0);
    }
}
