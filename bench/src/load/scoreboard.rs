use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use tokio::sync::Notify;
use tokio::time::timeout;

use super::histogram::Histogram;
use super::request::{PLACEHOLDER, Slot, Template};

/// The long-polls of many ids: how to wait for an answer and how to give one.
pub struct LongPolls {
    /// The long-poll path, with the placeholder in place of the id.
    pub wait_path: String,
    pub token: Option<String>,
    pub answer: Template,
    pub ids: Vec<Slot>,
}

impl LongPolls {
    pub fn path_of(&self, index: usize) -> String {
        self.wait_path
            .replace(PLACEHOLDER, &String::from_utf8_lossy(&self.ids[index]))
    }
}

/// The shared record of a wait scenario: how many waiters wait, when each id was answered, how many answers arrived.
pub struct Scoreboard {
    epoch: Instant,
    /// Nanoseconds since the epoch; zero before the answer is sent.
    answered_at: Vec<AtomicU64>,
    waiting: AtomicUsize,
    arrived: AtomicUsize,
    failure: Mutex<Option<anyhow::Error>>,
    changed: Notify,
    pub latency: Histogram,
}

impl Scoreboard {
    pub fn new(waiters: usize) -> Self {
        let mut answered_at = Vec::new();
        answered_at.resize_with(waiters, AtomicU64::default);
        Self {
            epoch: Instant::now(),
            answered_at,
            waiting: AtomicUsize::new(0),
            arrived: AtomicUsize::new(0),
            failure: Mutex::new(None),
            changed: Notify::new(),
            latency: Histogram::default(),
        }
    }

    pub fn note_waiting(&self) {
        self.waiting.fetch_add(1, Relaxed);
        self.changed.notify_one();
    }

    pub fn note_answered(&self, index: usize) {
        self.answered_at[index].store(self.nanos().max(1), Relaxed);
    }

    pub fn note_failure(&self, error: anyhow::Error) {
        self.failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert(error);
        self.changed.notify_one();
    }

    /// Records the reply to a long-poll: true for the answer, false when the poll timed out and has to be repeated.
    pub fn record_reply(&self, index: usize, status: u16, body: &[u8]) -> Result<bool> {
        let says = |mark: &[u8]| body.windows(mark.len()).any(|window| window == mark);
        ensure!(status == 200, "a waiter got status {status}");
        if says(br#""status":"open""#) {
            return Ok(false);
        }
        ensure!(
            says(br#""status":"answered""#),
            "a waiter got something other than an answer"
        );
        let answered_at = self.answered_at[index].load(Relaxed);
        ensure!(answered_at > 0, "a waiter was answered before the answer was sent");
        self.latency
            .record(Duration::from_nanos(self.nanos().saturating_sub(answered_at)));
        self.arrived.fetch_add(1, Relaxed);
        self.changed.notify_one();
        Ok(true)
    }

    pub async fn until_waiting(&self, count: usize, within: Duration) -> Result<()> {
        self.until(&self.waiting, count, within, "waiters reached the server")
            .await
    }

    /// Fails when an answer got lost.
    pub async fn until_arrived(&self, count: usize, within: Duration) -> Result<()> {
        self.until(&self.arrived, count, within, "answers arrived").await
    }

    async fn until(&self, counter: &AtomicUsize, count: usize, within: Duration, what: &str) -> Result<()> {
        let reached = async {
            loop {
                if let Some(error) = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take() {
                    return Err(error);
                }
                if counter.load(Relaxed) >= count {
                    return Ok(());
                }
                self.changed.notified().await;
            }
        };
        match timeout(within, reached).await {
            Ok(outcome) => outcome,
            Err(_) => bail!("only {} of {count} {what} within {within:?}", counter.load(Relaxed)),
        }
    }

    fn nanos(&self) -> u64 {
        u64::try_from(self.epoch.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_lost_answer_is_an_error() {
        let board = Scoreboard::new(2);
        board.note_answered(0);
        assert!(
            board
                .record_reply(0, 200, br#"{"status":"answered"}"#)
                .expect("settled")
        );
        board
            .until_arrived(1, Duration::from_secs(1))
            .await
            .expect("one arrived");
        let lost = board
            .until_arrived(2, Duration::from_millis(1))
            .await
            .expect_err("one is missing");
        assert_eq!(lost.to_string(), "only 1 of 2 answers arrived within 1ms");
    }

    #[test]
    fn only_an_answer_that_was_sent_counts() {
        let board = Scoreboard::new(1);
        assert!(
            !board
                .record_reply(0, 200, br#"{"status":"open"}"#)
                .expect("to be repeated")
        );
        assert!(board.record_reply(0, 200, br#"{"status":"answered"}"#).is_err());
        assert!(board.record_reply(0, 200, br#"{"status":"expired"}"#).is_err());
        assert!(board.record_reply(0, 500, b"").is_err());
    }
}
