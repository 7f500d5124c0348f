//! The messages that agents wait for by long-poll. A look at the waiters once a second finds them, so that a long-poll
//! pays almost nothing for it.

use std::collections::HashMap;
use std::time::Duration;

use countersign_protocol::id::MessageId;
use tokio::time::{Instant, sleep};

use super::{POLL_GAP_GRACE, Waiters};

/// Looks pause while no agent waits.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
/// More than any list shows; further messages are not noted.
const MAX_NOTED: usize = 1000;
/// Bounds the work after one look.
const MAX_CHANGES: usize = 100;

#[derive(Default)]
pub struct AgentWaits {
    /// The last look that found an agent.
    found_at: HashMap<MessageId, Instant>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct AgentChanges {
    pub came: Vec<MessageId>,
    pub left: Vec<MessageId>,
}

impl AgentWaits {
    /// Waits for the next look and returns its changes.
    pub async fn changes(&mut self, waiters: &Waiters) -> AgentChanges {
        if self.found_at.is_empty() {
            waiters.agent_came.notified().await;
        }
        sleep(LOOK_INTERVAL).await;
        self.look(waiters, Instant::now())
    }

    fn look(&mut self, waiters: &Waiters, now: Instant) -> AgentChanges {
        let known = self.found_at.iter_mut();
        known
            .filter(|(id, _)| waiters.has_agent(id))
            .for_each(|(_, at)| *at = now);
        let room = MAX_NOTED.saturating_sub(self.found_at.len()).min(MAX_CHANGES);
        let came = waiters.of_agents(room, |id| !self.found_at.contains_key(id));
        self.found_at.extend(came.iter().map(|id| (id.clone(), now)));
        let is_over = |_: &MessageId, at: &mut Instant| now.duration_since(*at) >= POLL_GAP_GRACE;
        let left = self.found_at.extract_if(is_over).take(MAX_CHANGES);
        let left = left.map(|(id, _)| id).collect();
        AgentChanges { came, left }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use uuid::Uuid;

    use super::super::WaiterKind;
    use super::*;

    fn id(number: usize) -> MessageId {
        MessageId::from_uuid(Uuid::from_u128(number as u128))
    }

    #[test]
    fn agent_between_two_long_polls_has_not_left() {
        let (waiters, mut waits) = (Arc::new(Waiters::default()), AgentWaits::default());
        let mut look = |at: Instant| {
            let AgentChanges { came, left } = waits.look(&waiters, at);
            (came.len(), left.len())
        };
        let start = Instant::now();
        let first = waiters.register(&id(7), WaiterKind::Agent);
        let _run = waiters.register(&id(8), WaiterKind::Run);
        assert_eq!(look(start), (1, 0));
        drop(first);
        assert_eq!(look(start + POLL_GAP_GRACE / 2), (0, 0));
        let second = waiters.register(&id(7), WaiterKind::Agent);
        let found_at = start + POLL_GAP_GRACE;
        assert_eq!(look(found_at), (0, 0), "it waits again");
        drop(second);
        assert_eq!(look(found_at + POLL_GAP_GRACE), (0, 1));
        assert_eq!(look(found_at + POLL_GAP_GRACE * 2), (0, 0), "told once");
    }

    #[test]
    fn changes_of_one_look_are_bounded() {
        let (waiters, mut waits) = (Arc::new(Waiters::default()), AgentWaits::default());
        let many: Vec<_> = (0..MAX_NOTED + 1)
            .map(|number| waiters.register(&id(number), WaiterKind::Agent))
            .collect();
        let start = Instant::now();
        for _ in 0..MAX_NOTED / MAX_CHANGES {
            assert_eq!(waits.look(&waiters, start).came.len(), MAX_CHANGES);
        }
        assert_eq!(waits.look(&waiters, start).came, []);
        drop(many);
        assert_eq!(waits.look(&waiters, start + POLL_GAP_GRACE).left.len(), MAX_CHANGES);
    }
}
