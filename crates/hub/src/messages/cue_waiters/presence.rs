//! Whether a process waits for a cue, as people see it.

use std::collections::HashMap;

use countersign_core::message::{Message, Source, State};
use countersign_protocol::hap::CueKind;
use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;

use super::CueWaiters;
use super::waiter::CueWaiter;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CueState {
    Waiting,
    Paused,
    Gone,
}

/// Both fields are `None` for messages that are not open cues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CuePresence {
    pub state: Option<CueState>,
    /// `None` when this process cannot know.
    pub since: Option<Timestamp>,
}

/// The kind of a message that came from a terminal; `None` for all others.
pub fn cue_kind(source: &Source) -> Option<CueKind> {
    match source {
        Source::Hap(source) if source.cue == CueKind::Pause.as_str() => Some(CueKind::Pause),
        Source::Hap(_) => Some(CueKind::Cue),
        Source::A2h(_) | Source::Runs(_) => None,
    }
}

impl CueWaiters {
    /// Whether a process waits for an open cue.
    pub fn presence(&self, id: &MessageId, kind: CueKind) -> CuePresence {
        let now = self.store.clock().now();
        let waiter = self.latest(id, now);
        let is_present = self.is_present(id, now);
        let state = match (is_present, waiter.and_then(|waiter| waiter.kind).unwrap_or(kind)) {
            (true, CueKind::Cue) => CueState::Waiting,
            (true, CueKind::Pause) => CueState::Paused,
            (false, CueKind::Cue | CueKind::Pause) => CueState::Gone,
        };
        let since = waiter.map(|waiter| {
            if is_present {
                waiter.waiting_since
            } else {
                waiter.left_at
            }
        });
        CuePresence {
            state: Some(state),
            since,
        }
    }

    /// The messages that a terminal or an agent waits for: those of terminals first, then the longest waiting.
    pub fn waiting(&self) -> Vec<MessageId> {
        let now = self.store.clock().now();
        let mut waiting: HashMap<MessageId, (bool, Timestamp)> = HashMap::new();
        let mut add = |(id, waiter): (&MessageId, CueWaiter)| {
            let order = waiting.entry(id.clone()).or_insert(waiter.order());
            *order = waiter.order().min(*order);
        };
        let here = self.lock();
        here.iter()
            .filter(|(_, waiter)| waiter.is_present(now))
            .for_each(|(id, waiter)| add((id, *waiter)));
        drop(here);
        self.lock_remote().present(now).for_each(add);
        let mut waiting: Vec<_> = waiting.into_iter().map(|(id, order)| (order, id)).collect();
        waiting.sort_unstable();
        waiting.into_iter().map(|(_, id)| id).collect()
    }

    pub fn presence_of(&self, message: &Message) -> CuePresence {
        match (&message.state, cue_kind(&message.source)) {
            (State::Open, Some(kind)) => self.presence(&message.id, kind),
            (State::Open | State::Delivered | State::Resolved(_), _) => CuePresence::default(),
        }
    }
}
