//! Broadcasting to the followers of a run. Events are stored before, or streamed on a reserved seq, so no seq is ever
//! reused.

use std::sync::Arc;

use countersign_protocol::id::MessageId;
use countersign_protocol::runs::{Event, RunReply, mark_resolved};
use countersign_protocol::time::Timestamp;
use countersign_store::ops::run::{RunEnding, StoredEvent};

use super::pending::PendingAsk;
use crate::run::{RunStage, TrackedRun, TrackedRunState};

/// The text of a frame. All subscribers share it.
pub type FrameText = Arc<str>;

/// One serialized event of a run.
#[derive(Debug, Clone)]
pub struct EventFrame {
    pub seq: u64,
    pub text: FrameText,
    /// May be dropped for a slow client.
    pub is_droppable: bool,
    /// The event asks for an answer.
    pub is_ask: bool,
}

impl EventFrame {
    pub fn of(event: &Event, seq: u64, text: impl Into<FrameText>) -> Self {
        Self {
            seq,
            text: text.into(),
            is_droppable: event.is_droppable(),
            is_ask: is_ask(event.kind()),
        }
    }

    /// The frame of an ask that was answered before this subscriber joined.
    pub fn resolved(&self) -> FrameText {
        mark_resolved(&self.text).into()
    }
}

/// Stored events are never dropped for a slow client.
impl From<StoredEvent> for EventFrame {
    fn from(event: StoredEvent) -> Self {
        let is_ask = is_ask(&event.kind);
        Self {
            seq: event.seq,
            text: event.body.into(),
            is_droppable: false,
            is_ask,
        }
    }
}

fn is_ask(kind: &str) -> bool {
    matches!(kind, "request_input" | "request_permission" | "request_question")
}

/// The changes of one commit.
#[derive(Default)]
pub struct RunUpdate {
    pub frames: Vec<EventFrame>,
    /// Asks among the frames.
    pub pending: Vec<PendingAsk>,
    pub records: u64,
}

impl TrackedRun {
    /// Called by the registry. The stage changes before the broadcast, so a client that reacts to the last event finds
    /// the run ended.
    pub fn end(&self, ending: RunEnding, at: Timestamp, update: RunUpdate) -> bool {
        let mut state = self.lock();
        state.stage = RunStage::Over { ending, at };
        state.pending.clear();
        state.broadcast(update);
        true
    }

    /// Drops all pending asks: they can no longer be answered.
    pub fn clear_pending(&self) {
        self.lock().pending.clear();
    }

    /// Call this for every resolved ask of this run, after the commit. From then on an answer selects the next ask.
    pub fn resolved(&self, message_id: &MessageId, ts: Timestamp) {
        let mut state = self.lock();
        let Some(index) = state
            .pending
            .iter()
            .position(|pending| pending.message_id == *message_id)
        else {
            return;
        };
        let PendingAsk {
            agent_name,
            id: input_id,
            ..
        } = state.pending.remove(index);
        if !state.followers.iter().any(|follower| follower.extensions) {
            return;
        }
        let resolved = RunReply::InputResolved {
            run_id: self.id.clone(),
            agent_name,
            input_id,
        };
        let text = FrameText::from(resolved.frame(ts, None));
        for follower in state.followers.iter().filter(|follower| follower.extensions) {
            follower.client.push(text.clone(), false);
        }
    }
}

impl TrackedRunState {
    pub fn broadcast(&mut self, update: RunUpdate) {
        self.records += update.records;
        self.pending.extend(update.pending);
        for frame in update.frames {
            self.last_seq = frame.seq;
            for follower in &self.followers {
                follower.client.push(frame.text.clone(), frame.is_droppable);
            }
            self.replay.push(frame);
        }
    }

    /// For a prepared run, which has no task yet: the event is numbered here and stored when the run starts.
    pub fn broadcast_early(&mut self, run_id: &str, event: &Event, ts: Timestamp) {
        let seq = self.last_seq + 1;
        let body = event.frame(run_id, seq, ts, None);
        let frame = EventFrame::of(event, seq, body.as_str());
        if let RunStage::Prepared(prepared) = &mut self.stage {
            prepared.early_events.extend(StoredEvent::of(event, seq, &body));
        }
        self.broadcast(RunUpdate {
            frames: vec![frame],
            ..RunUpdate::default()
        });
    }
}
