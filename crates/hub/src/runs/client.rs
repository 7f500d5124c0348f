//! One connection: what waits to be sent to it, and which runs it follows. Whoever has something for it never waits.

use std::collections::{HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::extract::ws::Utf8Bytes;
use tokio::sync::Notify;

use super::ring::is_worth_a_pass;

const MOST_FRAMES: usize = 20_000;
const MOST_BYTES: usize = 16 * 1024 * 1024;
/// Runs one connection may follow at once.
pub const MOST_FOLLOWED: usize = 20_000;

pub struct Client {
    pub number: u64,
    queue: Mutex<Queue>,
    bell: Notify,
    /// Rings when even a write under way is to be given up.
    alarm: Notify,
    followed: Mutex<HashSet<String>>,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Waiting>,
    bytes: usize,
    /// How many of those that wait streamed.
    droppable: usize,
    close: Option<Close>,
}

struct Waiting {
    text: Utf8Bytes,
    is_droppable: bool,
}

/// Why the hub ends a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Close {
    /// The hub stops. What waits is sent before.
    ShuttingDown,
    /// It reads too slowly, and what waits for it is more than the hub keeps.
    TooSlow,
    /// Its token has ended, or its person may not do this any more.
    NotAllowed,
    /// Nothing was heard of it for too long.
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

/// What to do next for a connection.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    Send(Utf8Bytes),
    Close(Close),
}

impl Client {
    pub fn new(number: u64) -> Self {
        Self {
            number,
            queue: Mutex::default(),
            bell: Notify::new(),
            alarm: Notify::new(),
            followed: Mutex::default(),
        }
    }

    /// When there is too much, what streams is left out; when there still is, the connection ends.
    pub fn push(&self, text: Utf8Bytes, is_droppable: bool) {
        let mut queue = self.lock();
        if queue.close.is_some() {
            return;
        }
        queue.add(text, is_droppable);
        if queue.is_over() && is_droppable && !is_worth_a_pass(queue.droppable, queue.waiting.len()) {
            queue.take_back();
        } else if queue.is_over() {
            queue.drop_what_streams();
        }
        if queue.is_over() {
            *queue = Queue {
                close: Some(Close::TooSlow),
                ..Queue::default()
            };
            self.alarm.notify_one();
        }
        drop(queue);
        self.bell.notify_one();
    }

    pub fn close(&self, close: Close) {
        let mut queue = self.lock();
        queue.close.get_or_insert(close);
        drop(queue);
        self.bell.notify_one();
        self.alarm.notify_one();
    }

    /// For the one task that writes.
    pub async fn next(&self) -> Next {
        loop {
            if let Some(next) = self.lock().next() {
                return next;
            }
            self.bell.notified().await;
        }
    }

    /// When the connection is to end at once, whether or not the other end reads.
    pub async fn cut(&self) -> Close {
        loop {
            match self.lock().close {
                Some(close @ (Close::TooSlow | Close::NotAllowed | Close::Silent)) => return close,
                Some(Close::ShuttingDown) | None => {}
            }
            self.alarm.notified().await;
        }
    }

    /// Says whether there is room for it.
    pub fn follow(&self, run_id: &str) -> bool {
        let mut followed = self.followed.lock().unwrap_or_else(PoisonError::into_inner);
        followed.contains(run_id) || (followed.len() < MOST_FOLLOWED && followed.insert(run_id.to_owned()))
    }

    /// Whether it may follow this one too.
    pub fn has_room_for(&self, run_id: &str) -> bool {
        let followed = self.followed.lock().unwrap_or_else(PoisonError::into_inner);
        followed.len() < MOST_FOLLOWED || followed.contains(run_id)
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
        // One alone says nothing about its reader, however long it is.
        self.waiting.len() > MOST_FRAMES || (self.waiting.len() > 1 && self.bytes > MOST_BYTES)
    }

    fn add(&mut self, text: Utf8Bytes, is_droppable: bool) {
        self.bytes += text.len();
        self.droppable += usize::from(is_droppable);
        self.waiting.push_back(Waiting { text, is_droppable });
    }

    fn take_back(&mut self) {
        let newest = self.waiting.pop_back();
        self.forget(newest.as_ref());
    }

    fn forget(&mut self, waiting: Option<&Waiting>) {
        self.bytes -= waiting.map_or(0, |waiting| waiting.text.len());
        self.droppable -= usize::from(waiting.is_some_and(|waiting| waiting.is_droppable));
    }

    fn drop_what_streams(&mut self) {
        self.droppable = 0;
        self.waiting.retain(|waiting| !waiting.is_droppable);
        self.bytes = self.waiting.iter().map(|waiting| waiting.text.len()).sum();
    }

    fn next(&mut self) -> Option<Next> {
        if let Some(oldest) = self.waiting.pop_front() {
            self.forget(Some(&oldest));
            if self.waiting.is_empty() {
                // A burst does not stay with a connection that is quiet again.
                self.waiting = VecDeque::new();
            }
            return Some(Next::Send(oldest.text));
        }
        self.close.map(Next::Close)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn sent(client: &Client) -> Vec<String> {
        let next = || match client.next().now_or_never() {
            Some(Next::Send(text)) => Some(text.to_string()),
            Some(Next::Close(_)) | None => None,
        };
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn everything_goes_out_in_its_order_and_the_close_comes_last() {
        let client = Client::new(1);
        client.push("a".into(), false);
        client.push("b".into(), true);
        client.close(Close::ShuttingDown);
        client.push("c".into(), false);
        assert_eq!(sent(&client), ["a", "b"]);
        assert_eq!(client.next().now_or_never(), Some(Next::Close(Close::ShuttingDown)));
    }

    #[test]
    fn of_a_slow_client_what_streams_is_left_out_first() {
        let client = Client::new(1);
        client.push("first".into(), false);
        (0..MOST_FRAMES).for_each(|_| client.push("stream".into(), true));
        client.push("last".into(), false);
        assert_eq!(sent(&client), ["first", "last"]);
    }

    #[test]
    fn a_stream_that_meets_a_full_queue_is_left_out_itself() {
        let client = Client::new(1);
        (1..MOST_FRAMES).for_each(|_| client.push("event".into(), false));
        ["one", "two", "three"]
            .into_iter()
            .for_each(|text| client.push(text.into(), true));
        let newest = client.lock().waiting.back().map(|newest| newest.text.to_string());
        assert_eq!(newest.as_deref(), Some("one"), "there was room for one");
        client.push("last".into(), false);
        let sent = sent(&client);
        assert_eq!(
            (sent.len(), sent.last().map(String::as_str)),
            (MOST_FRAMES, Some("last"))
        );
        let queue = client.lock();
        assert_eq!((queue.droppable, queue.bytes), (0, 0));
    }

    #[test]
    fn a_client_that_does_not_read_at_all_is_sent_away() {
        let client = Client::new(1);
        (0..=MOST_FRAMES).for_each(|_| client.push("event".into(), false));
        assert_eq!(client.next().now_or_never(), Some(Next::Close(Close::TooSlow)));
        let client = Client::new(2);
        (0..3).for_each(|_| client.push("x".repeat(MOST_BYTES / 2).into(), false));
        assert_eq!(client.next().now_or_never(), Some(Next::Close(Close::TooSlow)));
    }

    #[test]
    fn one_message_of_any_length_goes_out() {
        let client = Client::new(1);
        client.push("x".repeat(MOST_BYTES + 1).into(), false);
        assert_eq!(sent(&client).len(), 1);
        client.push("x".into(), false);
        assert_eq!(sent(&client), ["x"]);
    }

    #[test]
    fn a_client_follows_so_many_runs_and_no_more() {
        let client = Client::new(1);
        assert!((0..MOST_FOLLOWED).all(|run| client.follow(&run.to_string())));
        assert!(!client.follow("one more") && client.follow("7"));
        client.unfollow("7");
        assert!(client.follow("one more"));
    }
}
