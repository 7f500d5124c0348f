//! Somebody who looks on. Slow or quick, it costs its place in the ring and no more.

use std::sync::Arc;

use tokio::sync::watch;

use super::event::Heard;
use super::ring::Next;
use super::teller::News;

pub struct Listener {
    news: Arc<News>,
    /// The number of what was heard last.
    place: u64,
    newest: watch::Receiver<u64>,
    stopping: watch::Receiver<bool>,
}

impl Listener {
    pub(super) fn new(
        news: Arc<News>,
        place: u64,
        newest: watch::Receiver<u64>,
        stopping: watch::Receiver<bool>,
    ) -> Self {
        Self {
            news,
            place,
            newest,
            stopping,
        }
    }

    pub fn place(&self) -> u64 {
        self.place
    }

    /// What comes next; nothing once the hub stops. May be dropped while it waits.
    pub async fn next(&mut self) -> Option<Heard> {
        loop {
            if *self.stopping.borrow() {
                return None;
            }
            let heard = match self.news.after(self.place) {
                Next::Heard(heard) => Some(heard),
                Next::Missed { newest } => Some(Heard::Resync { id: newest }),
                Next::Nothing => None,
            };
            if let Some(heard) = heard {
                self.place = heard.id();
                return Some(heard);
            }
            tokio::select! {
                changed = self.newest.changed() => changed.ok()?,
                changed = self.stopping.changed() => changed.ok()?,
            }
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.news.left();
    }
}
