//! Whether a process waits for a cue, as people see it.

use countersign_core::message::{Message, Source, State};
use countersign_protocol::hap::CueKind;
use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;
use countersign_store::ops::list::MAX_WAITING;

use super::CueWaiters;

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
        let state = match (is_present, waiter.map_or(kind, |waiter| waiter.kind)) {
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

    /// The cues that a process waits for, the longest waiting first; as many as the inbox puts forward.
    pub fn waiting(&self) -> Vec<MessageId> {
        let now = self.store.clock().now();
        let mut waiting: Vec<(Timestamp, MessageId)> = self
            .lock()
            .iter()
            .filter(|(_, waiter)| waiter.is_present(now))
            .map(|(id, waiter)| (waiter.waiting_since, id.clone()))
            .collect();
        waiting.extend(self.lock_remote().present(now));
        waiting.sort_unstable();
        let mut ids: Vec<MessageId> = waiting.into_iter().map(|(_, id)| id).collect();
        ids.dedup();
        ids.truncate(MAX_WAITING);
        ids
    }

    pub fn presence_of(&self, message: &Message) -> CuePresence {
        match (&message.state, cue_kind(&message.source)) {
            (State::Open, Some(kind)) => self.presence(&message.id, kind),
            (State::Open | State::Delivered | State::Resolved(_), _) => CuePresence::default(),
        }
    }
}
