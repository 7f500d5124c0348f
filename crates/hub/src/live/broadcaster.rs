//! The broadcaster: takes changes, renders each of them once, and sends the event to all listeners.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use countersign_core::{Content, Language, Resolution};
use countersign_protocol::time::Timestamp;
use countersign_store::model::PersonView;
use tokio::sync::{Mutex, MutexGuard, mpsc, watch};

use super::event::{EventDraft, LiveEvent};
use super::listener::LiveListener;
use super::listener_count::ListenerCount;
use super::replay::{LiveReplayBuffer, ReplayNext};
use crate::cluster::{Cluster, LiveChange, Signal};
use crate::limits::connection_limit::ConnectionLimit;

/// Changes that wait to be rendered. When the queue is full, listeners get one resync instead.
const QUEUE_CAPACITY: usize = 4096;
const MAX_STREAMS_PER_PERSON: usize = 50;
/// Event ids start at the current millisecond times this, plus a random offset. So they never overlap with ids of an
/// earlier process or another node, and a client cannot resume at a position of another replay buffer.
const IDS_PER_MILLISECOND: u64 = 1 << 20;

/// The parts of an event that only pages can make. It runs once per change and language, however many people look on.
#[derive(Clone, Copy)]
pub struct LiveRenderer {
    /// The HTML of a list row.
    pub row: fn(&PersonView, Timestamp, Language) -> String,
    /// The outcome of a message in words, without its actor.
    pub outcome: fn(&Resolution, &Content, Language) -> String,
}

pub struct LiveBroadcaster {
    replay: RwLock<LiveReplayBuffer>,
    newest: watch::Sender<u64>,
    listeners: ListenerCount,
    /// A change is missing from the replay buffer, so listeners need a resync.
    has_gap: AtomicBool,
    queue: mpsc::Sender<LiveChange>,
    /// Locked by the one task that renders changes.
    pending: Mutex<mpsc::Receiver<LiveChange>>,
    /// The rendering task has run before.
    has_run_before: AtomicBool,
    pub connection_limit: Arc<ConnectionLimit>,
    stopping: watch::Receiver<bool>,
    cluster: Arc<Cluster>,
    renderer: OnceLock<LiveRenderer>,
    /// Pages in these languages were open since the start of this process.
    languages: [AtomicBool; Language::ALL.len()],
}

impl LiveBroadcaster {
    pub fn new(now: Timestamp, stopping: watch::Receiver<bool>, cluster: Arc<Cluster>) -> Arc<Self> {
        let random = getrandom::u64().unwrap_or(0) % IDS_PER_MILLISECOND;
        let first = u64::try_from(now.as_millis())
            .unwrap_or(0)
            .saturating_mul(IDS_PER_MILLISECOND)
            + random;
        let (queue, pending) = mpsc::channel(QUEUE_CAPACITY);
        Arc::new(Self {
            replay: RwLock::new(LiveReplayBuffer::starting_at(first)),
            newest: watch::Sender::new(first),
            listeners: ListenerCount::new(),
            has_gap: AtomicBool::new(false),
            queue,
            pending: Mutex::new(pending),
            has_run_before: AtomicBool::new(false),
            connection_limit: ConnectionLimit::new(
                MAX_STREAMS_PER_PERSON,
                "event streams are already open under your name; close some of them",
            ),
            stopping,
            cluster,
            renderer: OnceLock::new(),
            languages: Default::default(),
        })
    }

    /// Events carry HTML from here on. The first registration stays.
    pub fn render_with(&self, renderer: LiveRenderer) {
        let _ = self.renderer.set(renderer);
    }

    pub fn renderer(&self) -> Option<LiveRenderer> {
        self.renderer.get().copied()
    }

    /// The languages that events are rendered in: English, and those of the pages that were opened.
    pub fn languages(&self) -> impl Iterator<Item = Language> {
        let pairs = Language::ALL.into_iter().zip(&self.languages);
        pairs
            .filter(|(language, is_used)| *language == Language::English || is_used.load(Ordering::Relaxed))
            .map(|(language, _)| language)
    }

    /// Renders events in this language from here on.
    pub fn use_language(&self, language: Language) {
        for (known, is_used) in Language::ALL.into_iter().zip(&self.languages) {
            is_used.fetch_or(known == language, Ordering::Relaxed);
        }
    }

    /// Publishes a change on all nodes. Call it after the commit. It never blocks and never fails, and costs almost
    /// nothing without listeners.
    pub fn publish(&self, change: LiveChange) {
        self.cluster.publish(|| Signal::Changed(change.clone()));
        self.publish_local(change);
    }

    /// Publishes a change to the listeners of this node only; the other nodes already know it.
    pub fn publish_local(&self, change: LiveChange) {
        if !self.listeners.is_active() {
            self.has_gap.store(true, Ordering::SeqCst);
            // A listener that subscribes between the two checks is either found here, or has seen `has_gap` and
            // resyncs.
            if !self.listeners.is_active() {
                return;
            }
        }
        if self.queue.try_send(change).is_err() {
            self.has_gap.store(true, Ordering::SeqCst);
        }
    }

    /// Tells listeners to resync, because unknown changes happened. Without listeners, the next one gets the resync.
    pub fn publish_resync(&self) {
        match self.listeners.is_active() {
            true => self.push_resync(),
            false => self.has_gap.store(true, Ordering::SeqCst),
        }
    }

    /// True while a client listens, or during the grace period in which it may reconnect.
    pub fn has_listeners(&self) -> bool {
        self.listeners.is_active()
    }

    /// Subscribes after `last_event_id`, or from now on.
    pub fn listen(self: &Arc<Self>, last_event_id: Option<u64>) -> LiveListener {
        self.listeners.add();
        if self.has_gap.swap(false, Ordering::SeqCst) {
            self.push_resync();
        }
        let newest = self.newest.subscribe();
        let last_id = last_event_id.unwrap_or_else(|| self.newest_id());
        LiveListener::new(Arc::clone(self), last_id, newest, self.stopping.clone())
    }

    /// The id of the newest event. A client that reads a list notes this id first, then listens from there.
    pub fn newest_id(&self) -> u64 {
        self.replay.read().unwrap_or_else(PoisonError::into_inner).newest()
    }

    pub(super) fn after(&self, last_id: u64) -> ReplayNext {
        self.replay
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .after(last_id)
    }

    pub(super) fn remove_listener(&self) {
        self.listeners.remove();
    }

    fn push(&self, make: impl FnOnce(u64) -> LiveEvent) {
        let newest = self.replay.write().unwrap_or_else(PoisonError::into_inner).push(make);
        // Concurrent pushes may arrive here out of order; the larger id wins.
        self.newest.send_modify(|known| *known = newest.max(*known));
    }

    /// The published changes, for the one task that renders them.
    pub async fn changes(&self) -> Changes<'_> {
        let pending = self.pending.lock().await;
        if self.has_run_before.swap(true, Ordering::SeqCst) {
            // The change that was being rendered when the task ended is lost.
            self.push_resync();
        }
        Changes { live: self, pending }
    }

    /// Numbers a rendered event and sends it to all listeners.
    pub fn broadcast(&self, draft: EventDraft) {
        self.push(|id| LiveEvent::Rendered(Arc::new(draft.numbered(id))));
    }

    /// Adds a resync to the replay buffer, for listeners that are there or reconnect.
    pub fn push_resync(&self) {
        self.push(|id| LiveEvent::Resync { id });
    }
}

pub struct Changes<'l> {
    live: &'l LiveBroadcaster,
    pending: MutexGuard<'l, mpsc::Receiver<LiveChange>>,
}

impl Changes<'_> {
    /// Waits for the next change. `None` never comes while the hub lives.
    pub async fn next(&mut self) -> Option<LiveChange> {
        loop {
            let change = self.pending.recv().await?;
            if !self.live.has_gap.swap(false, Ordering::SeqCst) {
                return Some(change);
            }
            // After a resync clients read everything again, so the queued changes are redundant.
            while self.pending.try_recv().is_ok() {}
            self.live.push_resync();
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

    use super::*;
    use crate::live::replay::MAX_EVENTS;

    fn broadcaster() -> (Arc<LiveBroadcaster>, watch::Sender<bool>) {
        let (stop, stopping) = watch::channel(false);
        let file = std::env::temp_dir().join(format!("countersign-broadcaster-{}.db", Uuid::new_v4()));
        let store = Store::open_sqlite(&file, Arc::new(SystemClock)).unwrap();
        (
            LiveBroadcaster::new(Timestamp::from_millis(1), stopping, Cluster::new(Arc::new(store))),
            stop,
        )
    }

    fn change() -> LiveChange {
        LiveChange::Tracked(MessageId::from_uuid(Uuid::from_u128(7)))
    }

    fn queued(broadcaster: &LiveBroadcaster) -> usize {
        broadcaster.queue.max_capacity() - broadcaster.queue.capacity()
    }

    #[test]
    fn without_listeners_nothing_is_queued_and_a_returning_client_gets_a_resync() {
        let (broadcaster, _stop) = broadcaster();
        let before = broadcaster.newest_id();
        broadcaster.publish(change());
        assert_eq!(queued(&broadcaster), 0);
        let mut back = broadcaster.listen(Some(before));
        assert!(matches!(
            back.next().now_or_never(),
            Some(Some(LiveEvent::Resync { .. }))
        ));
        assert!(back.next().now_or_never().is_none(), "once");
        let mut fresh = broadcaster.listen(None);
        assert!(
            fresh.next().now_or_never().is_none(),
            "a new listener has missed nothing"
        );
        broadcaster.publish(change());
        assert_eq!(queued(&broadcaster), 1);
    }

    #[test]
    fn full_queue_becomes_one_resync() {
        let (broadcaster, _stop) = broadcaster();
        let _listener = broadcaster.listen(None);
        (0..QUEUE_CAPACITY + 10).for_each(|_| broadcaster.publish(change()));
        assert_eq!(queued(&broadcaster), QUEUE_CAPACITY);
        assert!(broadcaster.has_gap.load(Ordering::SeqCst));
    }

    #[test]
    fn listener_that_falls_behind_gets_a_resync_and_continues_from_now() {
        let (broadcaster, _stop) = broadcaster();
        let mut slow = broadcaster.listen(None);
        (0..=MAX_EVENTS).for_each(|_| broadcaster.push(|id| LiveEvent::Resync { id }));
        let newest = broadcaster.newest_id();
        let mut next_id = || slow.next().now_or_never().flatten().map(|event| event.id());
        assert_eq!(next_id(), Some(newest));
        assert_eq!(next_id(), None);
        broadcaster.push(|id| LiveEvent::Resync { id });
        assert_eq!(next_id(), Some(newest + 1));
    }

    #[tokio::test]
    async fn listener_ends_when_the_hub_stops() {
        let (broadcaster, stop) = broadcaster();
        let mut listener = broadcaster.listen(None);
        let waiting = tokio::spawn(async move { listener.next().await.is_none() });
        stop.send_replace(true);
        assert!(waiting.await.unwrap());
    }
}
