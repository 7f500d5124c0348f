//! Telling the followers of a run. What is told is in the store already, or streams; so its number is never given again.

use countersign_protocol::id::MessageId;
use countersign_protocol::runs::{Event, Reply};
use countersign_protocol::time::Timestamp;
use countersign_store::ops::run::{Ending, StoredEvent};

use super::frame::Frame;
use super::pending::Pending;
use super::run::{Run, RunState, Stage};

/// What a commit has made true.
#[derive(Default)]
pub struct News {
    pub frames: Vec<Frame>,
    /// Asks that are among them.
    pub pending: Vec<Pending>,
    pub records: u64,
}

impl Run {
    pub fn tell(&self, news: News) {
        self.lock().tell(news);
    }

    /// For the registry. Over before anybody hears of it, so that whoever acts on the last event meets a run that has ended.
    pub fn end(&self, ending: Ending, at: Timestamp, news: News) -> bool {
        let mut state = self.lock();
        state.stage = Stage::Over { ending, at };
        state.pending.clear();
        state.tell(news);
        true
    }

    /// Nobody can answer any more.
    pub fn wait_no_longer(&self) {
        self.lock().pending.clear();
    }

    /// Call it for every resolution of an ask of this run, after the commit: from here on the next answer is for the next ask.
    pub fn resolved(&self, message_id: &MessageId, ts: Timestamp) {
        let mut state = self.lock();
        let Some(place) = state
            .pending
            .iter()
            .position(|pending| pending.message_id == *message_id)
        else {
            return;
        };
        let Pending {
            agent_name,
            id: input_id,
            ..
        } = state.pending.remove(place);
        if !state.followers.iter().any(|follower| follower.extensions) {
            return;
        }
        let resolved = Reply::InputResolved {
            run_id: self.id.clone(),
            agent_name,
            input_id,
        };
        let text = axum::extract::ws::Utf8Bytes::from(resolved.frame(ts, None));
        for follower in state.followers.iter().filter(|follower| follower.extensions) {
            follower.client.push(text.clone(), false);
        }
    }
}

impl RunState {
    pub fn tell(&mut self, news: News) {
        self.records += news.records;
        self.pending.extend(news.pending);
        for frame in news.frames {
            self.last_seq = frame.seq;
            for follower in &self.followers {
                follower.client.push(frame.text.clone(), frame.is_droppable);
            }
            self.ring.push(frame);
        }
    }

    /// For a run that has no task yet: the event is numbered here, and stored when the run begins.
    pub fn tell_early(&mut self, run_id: &str, event: &Event, ts: Timestamp) {
        let seq = self.last_seq + 1;
        let body = event.frame(run_id, seq, ts, None);
        let frame = Frame::of(event, seq, body.as_str());
        if let Stage::Prepared(prepared) = &mut self.stage {
            prepared.told.extend(StoredEvent::of(event, seq, &body));
        }
        self.tell(News {
            frames: vec![frame],
            ..News::default()
        });
    }
}
