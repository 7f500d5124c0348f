//! Takes what happens, puts it into words once, and lets everybody know.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use countersign_protocol::time::Timestamp;
use countersign_store::model::Item;
use tokio::sync::{Mutex, mpsc, watch};

use super::audience::Audience;
use super::event::{Change, Draft, Heard};
use super::listener::Listener;
use super::ring::{Next, Ring};
use crate::app::Hub;
use crate::peers::{Peers, Signal};
use crate::seats::Seats;

/// Changes that are not in words yet. More than that at once is told as "look at everything again".
const QUEUE: usize = 4096;
/// Of one person.
const MOST_STREAMS: usize = 50;
/// Numbers go on where those of an earlier process, or of another hub, cannot have come, so that nobody resumes at a place of
/// another ring: hubs that start in the same millisecond begin somewhere in it.
const PER_MILLISECOND: u64 = 1 << 20;

/// The HTML of a list row. The pages register it, and it runs once per change, however many people look on.
pub type RowRenderer = fn(&Item, Timestamp) -> String;

pub struct News {
    ring: RwLock<Ring>,
    newest: watch::Sender<u64>,
    audience: Audience,
    /// Something happened that is not in the ring.
    missed: AtomicBool,
    queue: mpsc::Sender<Change>,
    /// Held by the one task that puts changes into words.
    untold: Mutex<mpsc::Receiver<Change>>,
    /// That task has run before.
    has_run: AtomicBool,
    pub(super) seats: Arc<Seats>,
    stopping: watch::Receiver<bool>,
    peers: Arc<Peers>,
    row_renderer: OnceLock<RowRenderer>,
}

impl News {
    pub fn new(now: Timestamp, stopping: watch::Receiver<bool>, peers: Arc<Peers>) -> Arc<Self> {
        let random = getrandom::u64().unwrap_or(0) % PER_MILLISECOND;
        let first = u64::try_from(now.as_millis())
            .unwrap_or(0)
            .saturating_mul(PER_MILLISECOND)
            + random;
        let (queue, untold) = mpsc::channel(QUEUE);
        Arc::new(Self {
            ring: RwLock::new(Ring::counting_from(first)),
            newest: watch::Sender::new(first),
            audience: Audience::new(),
            missed: AtomicBool::new(false),
            queue,
            untold: Mutex::new(untold),
            has_run: AtomicBool::new(false),
            seats: Seats::new(
                MOST_STREAMS,
                "streams of events are open under your name; close some of them",
            ),
            stopping,
            peers,
            row_renderer: OnceLock::new(),
        })
    }

    /// Events carry HTML from here on. The first registration stays.
    pub fn render_rows_with(&self, renderer: RowRenderer) {
        let _ = self.row_renderer.set(renderer);
    }

    pub(super) fn row_renderer(&self) -> Option<RowRenderer> {
        self.row_renderer.get().copied()
    }

    /// Call it after the commit. Never waits and never fails; with nobody there it costs next to nothing.
    pub fn tell(&self, change: Change) {
        self.peers.say(|| Signal::Changed(change.clone()));
        self.tell_here(change);
    }

    /// Those who look on at this hub; another one's know already.
    pub fn tell_here(&self, change: Change) {
        if !self.audience.is_there() {
            self.missed.store(true, Ordering::SeqCst);
            // Whoever came in between looked at the mark either before it stood, and is found here, or after.
            if !self.audience.is_there() {
                return;
            }
        }
        if self.queue.try_send(change).is_err() {
            self.missed.store(true, Ordering::SeqCst);
        }
    }

    /// Something happened, and nobody knows what.
    pub fn miss(&self) {
        match self.audience.is_there() {
            true => self.push(|id| Heard::Resync { id }),
            false => self.missed.store(true, Ordering::SeqCst),
        }
    }

    /// Whether somebody looks on, or may come back to it.
    pub fn is_heard(&self) -> bool {
        self.audience.is_there()
    }

    /// From where somebody was, or from now on.
    pub fn listen(self: &Arc<Self>, last_event_id: Option<u64>) -> Listener {
        self.audience.enter();
        if self.missed.swap(false, Ordering::SeqCst) {
            self.push(|id| Heard::Resync { id });
        }
        let newest = self.newest.subscribe();
        let place = last_event_id.unwrap_or_else(|| self.place());
        Listener::new(Arc::clone(self), place, newest, self.stopping.clone())
    }

    /// The number of what happened last. Whoever reads a list notes it first, and listens from there.
    pub fn place(&self) -> u64 {
        self.ring.read().unwrap_or_else(PoisonError::into_inner).newest()
    }

    pub(super) fn after(&self, place: u64) -> Next {
        self.ring.read().unwrap_or_else(PoisonError::into_inner).after(place)
    }

    pub(super) fn left(&self) {
        self.audience.leave();
    }

    fn push(&self, make: impl FnOnce(u64) -> Heard) {
        let newest = self.ring.write().unwrap_or_else(PoisonError::into_inner).push(make);
        // Two may push at once; the later number stays.
        self.newest.send_modify(|known| *known = newest.max(*known));
    }
}

/// Runs until it is dropped.
pub async fn run(hub: Arc<Hub>) {
    let news = Arc::clone(&hub.news);
    let mut untold = news.untold.lock().await;
    if news.has_run.swap(true, Ordering::SeqCst) {
        // Whatever ended it then was not told.
        news.push(|id| Heard::Resync { id });
    }
    while let Some(change) = untold.recv().await {
        if news.missed.swap(false, Ordering::SeqCst) {
            // Everything is looked at again; what still waits would only come on top.
            while untold.try_recv().is_ok() {}
            news.push(|id| Heard::Resync { id });
            continue;
        }
        match Draft::of(change, &hub).await {
            Ok(Some(draft)) => news.push(|id| Heard::Event(Arc::new(draft.numbered(id)))),
            Ok(None) => {}
            // The log has the reason already.
            Err(_) => news.push(|id| Heard::Resync { id }),
        }
    }
}

#[cfg(test)]
mod tests {
    use countersign_protocol::id::MessageId;
    use countersign_store::Store;
    use countersign_store::clock::SystemClock;
    use futures_util::FutureExt;
    use uuid::Uuid;

    use super::super::ring::LENGTH;
    use super::*;

    fn news() -> (Arc<News>, watch::Sender<bool>) {
        let (stop, stopping) = watch::channel(false);
        let file = std::env::temp_dir().join(format!("countersign-news-{}.db", Uuid::new_v4()));
        let store = Store::open_sqlite(&file, Arc::new(SystemClock)).unwrap();
        (
            News::new(Timestamp::from_millis(1), stopping, Peers::new(Arc::new(store))),
            stop,
        )
    }

    fn change() -> Change {
        Change::Tracked(MessageId::from_uuid(Uuid::from_u128(7)))
    }

    fn queued(news: &News) -> usize {
        news.queue.max_capacity() - news.queue.capacity()
    }

    #[test]
    fn with_nobody_there_nothing_is_queued_and_whoever_comes_back_is_told_to_look_again() {
        let (news, _stop) = news();
        let before = news.place();
        news.tell(change());
        assert_eq!(queued(&news), 0);
        let mut back = news.listen(Some(before));
        assert!(matches!(back.next().now_or_never(), Some(Some(Heard::Resync { .. }))));
        assert!(back.next().now_or_never().is_none(), "once");
        let mut fresh = news.listen(None);
        assert!(
            fresh.next().now_or_never().is_none(),
            "whoever begins now has missed nothing"
        );
        news.tell(change());
        assert_eq!(queued(&news), 1);
    }

    #[test]
    fn more_than_the_queue_holds_is_one_call_to_look_again() {
        let (news, _stop) = news();
        let _listener = news.listen(None);
        (0..QUEUE + 10).for_each(|_| news.tell(change()));
        assert_eq!(queued(&news), QUEUE);
        assert!(news.missed.load(Ordering::SeqCst));
    }

    #[test]
    fn a_listener_that_falls_behind_is_told_so_and_goes_on_from_now() {
        let (news, _stop) = news();
        let mut slow = news.listen(None);
        (0..=LENGTH).for_each(|_| news.push(|id| Heard::Resync { id }));
        let newest = news.place();
        let mut heard = || slow.next().now_or_never().flatten().map(|heard| heard.id());
        assert_eq!(heard(), Some(newest));
        assert_eq!(heard(), None);
        news.push(|id| Heard::Resync { id });
        assert_eq!(heard(), Some(newest + 1));
    }

    #[tokio::test]
    async fn a_listener_goes_home_when_the_hub_stops() {
        let (news, stop) = news();
        let mut listener = news.listen(None);
        let waiting = tokio::spawn(async move { listener.next().await.is_none() });
        stop.send_replace(true);
        assert!(waiting.await.unwrap());
    }
}
