//! One subscriber to live events. A slow subscriber costs no memory: it holds only its position in the replay buffer.

use std::sync::Arc;

use tokio::sync::watch;

use super::broadcaster::LiveBroadcaster;
use super::event::LiveEvent;
use super::replay::ReplayNext;

pub struct LiveListener {
    broadcaster: Arc<LiveBroadcaster>,
    /// The id of the last event that was returned.
    last_id: u64,
    newest: watch::Receiver<u64>,
    stopping: watch::Receiver<bool>,
}

impl LiveListener {
    pub(super) fn new(
        broadcaster: Arc<LiveBroadcaster>,
        last_id: u64,
        newest: watch::Receiver<u64>,
        stopping: watch::Receiver<bool>,
    ) -> Self {
        Self {
            broadcaster,
            last_id,
            newest,
            stopping,
        }
    }

    pub fn last_id(&self) -> u64 {
        self.last_id
    }

    /// Waits for the next event; returns `None` once the hub stops. Cancel-safe.
    pub async fn next(&mut self) -> Option<LiveEvent> {
        loop {
            if *self.stopping.borrow() {
                return None;
            }
            let event = match self.broadcaster.after(self.last_id) {
                ReplayNext::Event(event) => Some(event),
                ReplayNext::Gap { newest } => Some(LiveEvent::Resync { id: newest }),
                ReplayNext::UpToDate => None,
            };
            if let Some(event) = event {
                self.last_id = event.id();
                return Some(event);
            }
            tokio::select! {
                changed = self.newest.changed() => changed.ok()?,
                changed = self.stopping.changed() => changed.ok()?,
            }
        }
    }
}

impl Drop for LiveListener {
    fn drop(&mut self) {
        self.broadcaster.remove_listener();
    }
}
