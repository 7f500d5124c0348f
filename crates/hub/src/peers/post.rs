//! What a hub remembers of letters: which of its own are to be answered, and which of others' it has in hand.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use countersign_store::ops::run::Letter;
use tokio::sync::oneshot;

use super::letters::Reply;

/// Answers that came before anybody waited for them, also to letters of other hubs.
const MOST_EARLY: usize = 256;
/// Longer than a letter is good for.
const REMEMBERED: Duration = Duration::from_secs(60);

#[derive(Default)]
pub struct Post {
    sent: Mutex<Sent>,
    received: Mutex<Received>,
}

#[derive(Default)]
struct Sent {
    expected: HashMap<i64, oneshot::Sender<Reply>>,
    /// Whoever does what a letter says may be quicker than its writer hears of its number.
    early: VecDeque<(i64, Reply)>,
}

#[derive(Default)]
struct Received {
    /// In hand or done.
    known: HashMap<i64, Instant>,
    /// Of each run that somebody deals with.
    queues: HashMap<String, VecDeque<Letter>>,
}

impl Post {
    pub fn expect(&self, letter: i64) -> oneshot::Receiver<Reply> {
        let (reply, replied) = oneshot::channel();
        let mut sent = self.sent();
        sent.expected.retain(|_, waiting| !waiting.is_closed());
        let early = sent.early.iter().position(|(number, _)| *number == letter);
        match early.and_then(|place| sent.early.remove(place)) {
            Some((_, early)) => drop(reply.send(early)),
            None => drop(sent.expected.insert(letter, reply)),
        }
        replied
    }

    /// Says whether it was written here.
    pub fn answered(&self, letter: i64, reply: Reply) -> bool {
        let mut sent = self.sent();
        let Some(expected) = sent.expected.remove(&letter) else {
            sent.early.truncate(MOST_EARLY - 1);
            sent.early.push_front((letter, reply));
            return false;
        };
        // Nobody may wait any more.
        let _ = expected.send(reply);
        true
    }

    /// Gives the runs that nobody deals with so far: whoever is given them does.
    pub fn take(&self, letters: Vec<Letter>) -> Vec<String> {
        let mut received = self.received();
        let now = Instant::now();
        let mut idle = Vec::new();
        received
            .known
            .retain(|_, since| now.saturating_duration_since(*since) < REMEMBERED);
        for letter in letters {
            if received.known.insert(letter.number, now).is_some() {
                continue;
            }
            let run_id = letter.run_id.clone();
            if !received.queues.contains_key(&run_id) {
                idle.push(run_id.clone());
            }
            received.queues.entry(run_id).or_default().push_back(letter);
        }
        idle
    }

    /// After the last one nobody deals with the run any more.
    pub fn next(&self, run_id: &str) -> Option<Letter> {
        let mut received = self.received();
        let next = received.queues.get_mut(run_id).and_then(VecDeque::pop_front);
        if next.is_none() {
            received.queues.remove(run_id);
        }
        next
    }

    /// It is not this hub's to do, unless the run comes back.
    pub fn give_back(&self, letter: i64) {
        self.received().known.remove(&letter);
    }

    fn sent(&self) -> MutexGuard<'_, Sent> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn received(&self) -> MutexGuard<'_, Received> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letter(number: i64, run_id: &str) -> Letter {
        Letter {
            number,
            run_id: run_id.to_owned(),
            body: String::new(),
            is_late: false,
        }
    }

    #[test]
    fn an_answer_is_heard_however_quick_it_is() {
        let post = Post::default();
        assert!(!post.answered(1, Reply::Done));
        assert_eq!(post.expect(1).try_recv(), Ok(Reply::Done));
        let mut replied = post.expect(2);
        assert!(post.answered(2, Reply::Undone));
        assert_eq!(replied.try_recv(), Ok(Reply::Undone));
        assert!((10..2000).all(|number| !post.answered(number, Reply::Done)));
        assert_eq!(post.sent().early.len(), MOST_EARLY);
    }

    #[test]
    fn letters_are_dealt_with_once_and_in_order_and_one_run_does_not_wait_for_another() {
        let post = Post::default();
        assert_eq!(
            post.take(vec![letter(1, "a"), letter(2, "b"), letter(3, "a")]),
            ["a", "b"]
        );
        assert!(
            post.take(vec![letter(1, "a"), letter(3, "a"), letter(4, "a")])
                .is_empty()
        );
        let numbers = |run_id| {
            std::iter::from_fn(|| post.next(run_id))
                .map(|letter| letter.number)
                .collect::<Vec<_>>()
        };
        assert_eq!(numbers("a"), [1, 3, 4]);
        assert_eq!(post.take(vec![letter(4, "a"), letter(5, "a")]), ["a"]);
        assert_eq!((numbers("a"), numbers("b")), (vec![5], vec![2]));
        post.give_back(5);
        assert_eq!(post.take(vec![letter(4, "a"), letter(5, "a")]), ["a"]);
        assert_eq!(numbers("a"), [5]);
    }
}
