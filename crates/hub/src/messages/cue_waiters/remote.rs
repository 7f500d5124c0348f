//! Waiters at other nodes.

use std::sync::{MutexGuard, PoisonError};

use countersign_protocol::hap::CueKind;
use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;

use super::CueWaiters;
use super::waiter::{CueWaiter, RemoteWaiters};
use crate::cluster::{LiveChange, Signal};

impl CueWaiters {
    pub(super) fn publish_waiting(&self, id: &MessageId, waiter: CueWaiter) {
        let CueWaiter {
            kind,
            held,
            waiting_since: since,
            ..
        } = waiter;
        self.cluster.publish(|| Signal::CueWaiterCame {
            id: id.clone(),
            kind,
            since,
            held: held > 0,
        });
    }

    /// Publishes all waiters for a node that may not know them.
    pub fn publish_all(&self) {
        let now = self.store.clock().now();
        let here: Vec<_> = self.lock().iter().map(|(id, waiter)| (id.clone(), *waiter)).collect();
        here.iter()
            .filter(|(_, waiter)| waiter.is_present(now))
            .for_each(|(id, waiter)| self.publish_waiting(id, *waiter));
    }

    /// Handles `Here` of another node: a process waits there.
    pub fn remote_waiting(&self, node: &str, id: &MessageId, kind: Option<CueKind>, since: Timestamp, held: bool) {
        let left_at = self.store.clock().now();
        let waiter = CueWaiter {
            kind,
            held: usize::from(held),
            waiting_since: since,
            left_at,
            is_gone: false,
        };
        self.lock_remote().record(node, id, waiter);
    }

    /// Handles `Away` of another node: no process waits there any more. That node announces it to all pages.
    pub fn remote_left(&self, node: &str, id: &MessageId, at: Timestamp, broken: bool) {
        self.lock_remote().left(node, id, at, broken);
    }

    /// Marks the waiters of a removed node as gone.
    pub fn remote_node_gone(&self, node: &str) {
        let now = self.store.clock().now();
        let left = self.lock_remote().node_gone(node, now);
        left.into_iter()
            .for_each(|id| self.live.publish_local(LiveChange::Tracked(id)));
    }

    /// Handles `NoCue` of another node.
    pub fn remote_withdrawn(&self, node: &str, id: &MessageId) {
        self.lock_remote().withdraw(node, id);
    }

    pub(super) fn lock_remote(&self) -> MutexGuard<'_, RemoteWaiters> {
        self.remote.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
