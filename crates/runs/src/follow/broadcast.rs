//! Broadcasting to the followers of a run. Events are stored before, or streamed on a reserved seq, so no seq is ever
//! reused.

use countersign_protocol::id::MessageId;
use countersign_protocol::runs::{Event, RunReply};
use countersign_protocol::time::Timestamp;
use countersign_store::ops::run::{RunEnding, StoredEvent};

use super::frame::EventFrame;
use super::pending::PendingAsk;
use crate::follow::frame::FrameText;
use crate::run::{RunStage, TrackedRun, TrackedRunState};

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
    pub fn end(&self, ending: RunEnding, at: Timestamp, news: RunUpdate) -> bool {
        let mut state = self.lock();
        state.stage = RunStage::Over { ending, at };
        state.pending.clear();
        state.broadcast(news);
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
    pub fn broadcast(&mut self, news: RunUpdate) {
        self.records += news.records;
        self.pending.extend(news.pending);
        for frame in news.frames {
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
