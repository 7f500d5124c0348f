//! Processes that wait for a cue, at this node and at others.

use std::collections::HashMap;

use countersign_protocol::hap::CueKind;
use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;
use countersign_store::waiters::POLL_GAP_GRACE;

#[derive(Debug, Clone, Copy)]
pub struct CueWaiter {
    /// `None` for an agent that waits for its message by long-poll.
    pub kind: Option<CueKind>,
    pub held: usize,
    pub waiting_since: Timestamp,
    pub left_at: Timestamp,
    /// The connection broke, or the process did not reconnect in time.
    pub is_gone: bool,
}

impl CueWaiter {
    pub fn is_present(&self, now: Timestamp) -> bool {
        self.held > 0 || (!self.is_gone && now < self.left_at.plus(POLL_GAP_GRACE))
    }

    /// Terminals come first, then the longest waiting.
    pub fn order(&self) -> (bool, Timestamp) {
        (self.kind.is_none(), self.waiting_since)
    }
}

/// The last published waiter of each other node, by cue.
#[derive(Default)]
pub struct RemoteWaiters(HashMap<MessageId, Vec<(String, CueWaiter)>>);

impl RemoteWaiters {
    pub fn record(&mut self, node: &str, id: &MessageId, waiter: CueWaiter) {
        let waiters = self.0.entry(id.clone()).or_default();
        waiters.retain(|(of, _)| of != node);
        waiters.push((node.to_owned(), waiter));
    }

    pub fn left(&mut self, node: &str, id: &MessageId, at: Timestamp, broken: bool) {
        let of_node = self
            .0
            .get_mut(id)
            .and_then(|waiters| waiters.iter_mut().find(|(of, _)| of == node));
        if let Some((_, waiter)) = of_node {
            (waiter.held, waiter.left_at, waiter.is_gone) = (0, at, broken);
        }
    }

    /// Marks the waiters of a node as gone and returns their cues.
    pub fn node_gone(&mut self, node: &str, now: Timestamp) -> Vec<MessageId> {
        let mut left = Vec::new();
        for (id, waiters) in &mut self.0 {
            for (_, waiter) in waiters
                .iter_mut()
                .filter(|(of, waiter)| of == node && waiter.is_present(now))
            {
                (waiter.held, waiter.left_at, waiter.is_gone) = (0, now, true);
                left.push(id.clone());
            }
        }
        left
    }

    pub fn latest(&self, id: &MessageId, now: Timestamp) -> Option<CueWaiter> {
        let waiters = self.0.get(id)?.iter().map(|(_, waiter)| *waiter);
        waiters.max_by_key(|waiter| (waiter.is_present(now), waiter.left_at))
    }

    /// The present waiters at other nodes.
    pub fn present(&self, now: Timestamp) -> impl Iterator<Item = (&MessageId, CueWaiter)> {
        let waiters = self
            .0
            .iter()
            .flat_map(|(id, all)| all.iter().map(move |(_, waiter)| (id, *waiter)));
        waiters.filter(move |(_, waiter)| waiter.is_present(now))
    }

    pub fn withdraw(&mut self, node: &str, id: &MessageId) {
        if let Some(waiters) = self.0.get_mut(id) {
            waiters.retain(|(of, _)| of != node);
            if waiters.is_empty() {
                self.0.remove(id);
            }
        }
    }

    pub fn forget(&mut self, id: &MessageId) {
        self.0.remove(id);
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(10_000);

    fn waiter(held: usize) -> CueWaiter {
        CueWaiter {
            kind: Some(CueKind::Cue),
            held,
            waiting_since: NOW,
            left_at: NOW,
            is_gone: false,
        }
    }

    fn is_present(remote: &RemoteWaiters, id: &MessageId, now: Timestamp) -> Option<bool> {
        remote.latest(id, now).map(|waiter| waiter.is_present(now))
    }

    #[test]
    fn cue_has_a_waiter_while_one_node_says_so() {
        let mut remote = RemoteWaiters::default();
        let id = MessageId::from_uuid(Uuid::from_u128(7));
        assert_eq!(is_present(&remote, &id, NOW), None);
        remote.record("a", &id, waiter(1));
        remote.record("b", &id, waiter(1));
        remote.left("a", &id, NOW, true);
        assert_eq!(is_present(&remote, &id, NOW), Some(true));
        remote.left("b", &id, NOW, false);
        assert_eq!(
            is_present(&remote, &id, NOW),
            Some(true),
            "it may be between two long-polls"
        );
        assert_eq!(is_present(&remote, &id, NOW.plus(POLL_GAP_GRACE)), Some(false));
        remote.forget(&id);
        assert_eq!(is_present(&remote, &id, NOW), None);
    }

    #[test]
    fn withdrawn_waiter_leaves_no_entry() {
        let mut remote = RemoteWaiters::default();
        let id = MessageId::from_uuid(Uuid::from_u128(7));
        remote.record("a", &id, waiter(0));
        remote.record("b", &id, waiter(1));
        remote.withdraw("b", &id);
        assert_eq!(
            is_present(&remote, &id, NOW),
            Some(true),
            "the other node still has a waiter"
        );
        remote.withdraw("a", &id);
        assert!(remote.0.is_empty());
    }

    #[test]
    fn waiters_of_a_removed_node_are_gone() {
        let mut remote = RemoteWaiters::default();
        let id = MessageId::from_uuid(Uuid::from_u128(7));
        remote.record("a", &id, waiter(1));
        assert_eq!(remote.node_gone("b", NOW), []);
        assert_eq!(remote.node_gone("a", NOW), std::slice::from_ref(&id));
        assert_eq!(remote.node_gone("a", NOW), [], "reported only once");
        assert_eq!(is_present(&remote, &id, NOW), Some(false));
    }
}
