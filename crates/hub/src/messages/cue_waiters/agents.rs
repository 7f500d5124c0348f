//! Agents that wait for their message by long-poll, at this node or another.

use countersign_core::message::{Message, State};
use countersign_protocol::id::MessageId;
use countersign_store::waiters::Waiters;
use countersign_store::waiters::agents::{AgentChanges, AgentWaits};

use super::{CueState, CueWaiters};
use crate::cluster::{LiveChange, Signal};

impl CueWaiters {
    pub fn has_agent(&self, id: &MessageId) -> bool {
        let now = self.store.clock().now();
        let latest = self.latest(id, now);
        latest.is_some_and(|waiter| waiter.kind.is_none() && waiter.is_present(now))
    }

    /// The state of an open cue, or of an open message that its agent waits for.
    pub fn state_of(&self, message: &Message) -> Option<CueState> {
        let is_awaited = || matches!(message.state, State::Open) && self.has_agent(&message.id);
        let state = self.presence_of(message).state;
        state.or_else(|| is_awaited().then_some(CueState::Waiting))
    }

    /// Runs until dropped.
    pub(super) async fn watch_agents(&self, waiters: &Waiters) {
        let mut waits = AgentWaits::default();
        loop {
            let AgentChanges { came, left } = waits.changes(waiters).await;
            // An agent may ask for a cue by mistake.
            let is_message = |id: &&MessageId| self.lock().get(*id).is_none_or(|waiter| waiter.kind.is_none());
            let came = came.iter().filter(is_message);
            came.for_each(|id| self.add_wait(id, None, !self.has_agent(id)));
            left.iter().filter(is_message).for_each(|id| self.agent_left(id));
        }
    }

    fn agent_left(&self, id: &MessageId) {
        let is_open = self.lock().remove(id).is_some();
        // Sent for resolved messages, too: another node may have heard of the agent after the resolution.
        self.cluster.publish(|| Signal::NoCue(id.clone()));
        if is_open && !self.has_agent(id) {
            self.live.publish(LiveChange::Tracked(id.clone()));
        }
    }
}
