//! One connection: its send queue, and the runs it follows. Pushing to the queue never blocks.

use std::collections::{HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::follow::broadcast::FrameText;

use tokio::sync::Notify;

use super::broadcast::is_worth_a_sweep;

const MAX_QUEUED_FRAMES: usize = 20_000;
const MAX_QUEUED_BYTES: usize = 16 * 1024 * 1024;
/// Runs one connection may follow at once.
pub const MAX_FOLLOWED_RUNS: usize = 20_000;

pub struct RunClient {
    pub number: u64,
    queue: Mutex<Queue>,
    wakeup: Notify,
    /// Notified when even a write in progress has to be abandoned.
    abort: Notify,
    followed: Mutex<HashSet<String>>,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<QueuedFrame>,
    bytes: usize,
    /// Number of queued frames that may be dropped.
    droppable: usize,
    close: Option<Close>,
}

struct QueuedFrame {
    text: FrameText,
    is_droppable: bool,
}

/// Why the hub ends a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Close {
    /// The hub stops. Queued frames are sent first.
    ShuttingDown,
    /// The client reads too slowly and its queue is full.
    TooSlow,
    /// The token was revoked, or its person lost the permission.
    NotAllowed,
    /// The client sent nothing for too long.
    Silent,
}

impl Close {
    pub fn code(self) -> u16 {
        match self {
            Self::ShuttingDown => 1001,
            Self::TooSlow => 1013,
            Self::NotAllowed => 1008,
            Self::Silent => 1002,
        }
    }

    pub fn reason(self) -> &'static str {
        match self {
            Self::ShuttingDown => "Server shutting down",
            Self::TooSlow => "Too slow: subscribe again with afterSeq",
            Self::NotAllowed => "The token is not valid any more",
            Self::Silent => "Nothing was heard for too long",
        }
    }
}

/// The next thing to do for a connection.
#[derive(Debug, PartialEq, Eq)]
pub enum ClientAction {
    Send(FrameText),
    Close(Close),
}

impl RunClient {
    pub fn new(number: u64) -> Self {
        Self {
            number,
            queue: Mutex::default(),
            wakeup: Notify::new(),
            abort: Notify::new(),
            followed: Mutex::default(),
        }
    }

    /// A full queue drops its streamed frames; if that is not enough, the connection is closed.
    pub fn push(&self, text: FrameText, is_droppable: bool) {
        let mut queue = self.lock();
        if queue.close.is_some() {
            return;
        }
        queue.add(text, is_droppable);
        if queue.is_over() && is_droppable && !is_worth_a_sweep(queue.droppable, queue.waiting.len()) {
            queue.drop_newest();
        } else if queue.is_over() {
            queue.drop_streamed();
        }
        if queue.is_over() {
            *queue = Queue {
                close: Some(Close::TooSlow),
                ..Queue::default()
            };
            self.abort.notify_one();
        }
        drop(queue);
        self.wakeup.notify_one();
    }

    pub fn close(&self, close: Close) {
        let mut queue = self.lock();
        queue.close.get_or_insert(close);
        drop(queue);
        self.wakeup.notify_one();
        self.abort.notify_one();
    }

    /// Waits for the next action. Only the writing task calls this.
    pub async fn next(&self) -> ClientAction {
        loop {
            if let Some(next) = self.lock().next() {
                return next;
            }
            self.wakeup.notified().await;
        }
    }

    /// Waits until the connection has to end at once, whether or not the client reads.
    pub async fn aborted(&self) -> Close {
        loop {
            match self.lock().close {
                Some(close @ (Close::TooSlow | Close::NotAllowed | Close::Silent)) => return close,
                Some(Close::ShuttingDown) | None => {}
            }
            self.abort.notified().await;
        }
    }

    /// Returns false if the client already follows too many runs.
    pub fn follow(&self, run_id: &str) -> bool {
        let mut followed = self.followed.lock().unwrap_or_else(PoisonError::into_inner);
        followed.contains(run_id) || (followed.len() < MAX_FOLLOWED_RUNS && followed.insert(run_id.to_owned()))
    }

    /// True if the client follows this run already or may follow one more.
    pub fn can_follow(&self, run_id: &str) -> bool {
        let followed = self.followed.lock().unwrap_or_else(PoisonError::into_inner);
        followed.len() < MAX_FOLLOWED_RUNS || followed.contains(run_id)
    }

    pub fn unfollow(&self, run_id: &str) {
        self.followed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(run_id);
    }

    pub fn unfollow_all(&self) -> HashSet<String> {
        std::mem::take(&mut *self.followed.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    fn is_over(&self) -> bool {
        // A single long frame does not make its reader slow.
        self.waiting.len() > MAX_QUEUED_FRAMES || (self.waiting.len() > 1 && self.bytes > MAX_QUEUED_BYTES)
    }

    fn add(&mut self, text: FrameText, is_droppable: bool) {
        self.bytes += text.len();
        self.droppable += usize::from(is_droppable);
        self.waiting.push_back(QueuedFrame { text, is_droppable });
    }

    fn drop_newest(&mut self) {
        let newest = self.waiting.pop_back();
        self.forget(newest.as_ref());
    }

    fn forget(&mut self, waiting: Option<&QueuedFrame>) {
        self.bytes -= waiting.map_or(0, |waiting| waiting.text.len());
        self.droppable -= usize::from(waiting.is_some_and(|waiting| waiting.is_droppable));
    }

    fn drop_streamed(&mut self) {
        self.droppable = 0;
        self.waiting.retain(|waiting| !waiting.is_droppable);
        self.bytes = self.waiting.iter().map(|waiting| waiting.text.len()).sum();
    }

    fn next(&mut self) -> Option<ClientAction> {
        if let Some(oldest) = self.waiting.pop_front() {
            self.forget(Some(&oldest));
            if self.waiting.is_empty() {
                // Frees the memory of a burst.
                self.waiting = VecDeque::new();
            }
            return Some(ClientAction::Send(oldest.text));
        }
        self.close.map(ClientAction::Close)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn sent(client: &RunClient) -> Vec<String> {
        let next = || match client.next().now_or_never() {
            Some(ClientAction::Send(text)) => Some(text.to_string()),
            Some(ClientAction::Close(_)) | None => None,
        };
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn frames_go_out_in_order_and_the_close_comes_last() {
        let client = RunClient::new(1);
        client.push("a".into(), false);
        client.push("b".into(), true);
        client.close(Close::ShuttingDown);
        client.push("c".into(), false);
        assert_eq!(sent(&client), ["a", "b"]);
        assert_eq!(
            client.next().now_or_never(),
            Some(ClientAction::Close(Close::ShuttingDown))
        );
    }

    #[test]
    fn a_slow_client_loses_streamed_frames_first() {
        let client = RunClient::new(1);
        client.push("first".into(), false);
        (0..MAX_QUEUED_FRAMES).for_each(|_| client.push("stream".into(), true));
        client.push("last".into(), false);
        assert_eq!(sent(&client), ["first", "last"]);
    }

    #[test]
    fn a_streamed_frame_is_dropped_when_the_queue_is_full() {
        let client = RunClient::new(1);
        (1..MAX_QUEUED_FRAMES).for_each(|_| client.push("event".into(), false));
        ["one", "two", "three"]
            .into_iter()
            .for_each(|text| client.push(text.into(), true));
        let newest = client.lock().waiting.back().map(|newest| newest.text.to_string());
        assert_eq!(newest.as_deref(), Some("one"), "there was room for one");
        client.push("last".into(), false);
        let sent = sent(&client);
        assert_eq!(
            (sent.len(), sent.last().map(String::as_str)),
            (MAX_QUEUED_FRAMES, Some("last"))
        );
        let queue = client.lock();
        assert_eq!((queue.droppable, queue.bytes), (0, 0));
    }

    #[test]
    fn a_client_that_does_not_read_is_closed() {
        let client = RunClient::new(1);
        (0..=MAX_QUEUED_FRAMES).for_each(|_| client.push("event".into(), false));
        assert_eq!(client.next().now_or_never(), Some(ClientAction::Close(Close::TooSlow)));
        let client = RunClient::new(2);
        (0..3).for_each(|_| client.push("x".repeat(MAX_QUEUED_BYTES / 2).into(), false));
        assert_eq!(client.next().now_or_never(), Some(ClientAction::Close(Close::TooSlow)));
    }

    #[test]
    fn a_single_long_frame_goes_out() {
        let client = RunClient::new(1);
        client.push("x".repeat(MAX_QUEUED_BYTES + 1).into(), false);
        assert_eq!(sent(&client).len(), 1);
        client.push("x".into(), false);
        assert_eq!(sent(&client), ["x"]);
    }

    #[test]
    fn a_client_follows_a_bounded_number_of_runs() {
        let client = RunClient::new(1);
        assert!((0..MAX_FOLLOWED_RUNS).all(|run| client.follow(&run.to_string())));
        assert!(!client.follow("one more") && client.follow("7"));
        client.unfollow("7");
        assert!(client.follow("one more"));
    }
}
