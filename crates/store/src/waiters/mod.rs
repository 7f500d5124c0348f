//! Wakes the long-polls that wait for a message. A caller registers first and then reads the store; a resolution after
//! that comes with the wake-up. An empty wake-up means: read again.

pub mod agents;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use countersign_protocol::id::MessageId;
use tokio::sync::{Notify, oneshot};

use crate::model::AgentView;

/// Between two reads of a long-poll while the store is unavailable.
pub const STORE_RETRY_DELAY: Duration = Duration::from_millis(250);
/// Grace between two long-polls of a process, and from an answer to its collection.
pub const POLL_GAP_GRACE: Duration = Duration::from_secs(3);

#[derive(Default)]
pub struct Waiters {
    waiting: Mutex<HashMap<MessageId, Vec<Waker>>>,
    agent_came: Notify,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaiterKind {
    /// The agent that sent the message.
    Agent,
    Terminal,
    Run,
}

struct Waker {
    kind: WaiterKind,
    sender: oneshot::Sender<Box<AgentView>>,
}

impl Waiters {
    pub fn register(self: &Arc<Self>, id: &MessageId, kind: WaiterKind) -> Waiter {
        let (sender, woken) = oneshot::channel();
        // Most messages have one waiter.
        let one = || Vec::with_capacity(1);
        let waker = Waker { kind, sender };
        self.lock().entry(id.clone()).or_insert_with(one).push(waker);
        if kind == WaiterKind::Agent {
            self.agent_came.notify_one();
        }
        let waiters = Arc::clone(self);
        let id = id.clone();
        Waiter { waiters, id, woken }
    }

    pub fn wake(&self, resolved: &AgentView) {
        let wakers = self.lock().remove(&resolved.id).unwrap_or_default();
        for waker in wakers {
            // Fails only when the waiter is gone.
            let _ = waker.sender.send(Box::new(resolved.clone()));
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

    fn has_agent(&self, id: &MessageId) -> bool {
        self.lock().get(id).is_some_and(|wakers| is_of_agent(wakers))
    }

    /// Up to `limit` of the messages that agents wait for and `is_wanted` lets through.
    fn of_agents(&self, limit: usize, is_wanted: impl Fn(&MessageId) -> bool) -> Vec<MessageId> {
        let waiting = self.lock();
        let found = waiting
            .iter()
            .filter(|(id, wakers)| is_of_agent(wakers) && is_wanted(id));
        found.map(|(id, _)| id.clone()).take(limit).collect()
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

fn is_of_agent(wakers: &[Waker]) -> bool {
    wakers.iter().any(|waker| waker.kind == WaiterKind::Agent)
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
            wakers.retain(|waker| !waker.sender.is_closed());
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
        let mut waiter = waiters.register(&id, WaiterKind::Agent);
        waiters.wake(&resolved(&id));
        assert_eq!(waiter.woken().await.map(|view| view.rev), Some(2));
    }

    #[tokio::test]
    async fn invalidated_waiter_wakes_without_a_message() {
        let waiters = Arc::new(Waiters::default());
        let id = MessageId::from_uuid(Uuid::from_u128(7));
        let other = MessageId::from_uuid(Uuid::from_u128(8));
        let mut waiter = waiters.register(&id, WaiterKind::Agent);
        let mut others = waiters.register(&other, WaiterKind::Run);
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
        let first = waiters.register(&id, WaiterKind::Agent);
        let second = waiters.register(&id, WaiterKind::Agent);
        drop(first);
        assert!(waiters.has_waiter(&id));
        drop(second);
        assert!(!waiters.has_waiter(&id));
        assert_eq!(waiters.message_count(), 0);
    }

    #[test]
    fn messages_of_agents_are_those_with_an_agent_among_their_waiters() {
        let waiters = Arc::new(Waiters::default());
        let [of_agent, of_both, of_run] = [7, 8, 9].map(|id| MessageId::from_uuid(Uuid::from_u128(id)));
        let _agent = waiters.register(&of_agent, WaiterKind::Agent);
        let _run = waiters.register(&of_run, WaiterKind::Run);
        let _terminal = waiters.register(&of_both, WaiterKind::Terminal);
        let other_agent = waiters.register(&of_both, WaiterKind::Agent);
        assert!(waiters.has_agent(&of_both) && !waiters.has_agent(&of_run));
        assert_eq!(waiters.of_agents(9, |_| true).len(), 2);
        assert_eq!(waiters.of_agents(1, |_| true).len(), 1);
        assert_eq!(
            waiters.of_agents(9, |id| *id != of_agent),
            std::slice::from_ref(&of_both)
        );
        drop(other_agent);
        assert!(!waiters.has_agent(&of_both) && waiters.has_waiter(&of_both));
    }
}
