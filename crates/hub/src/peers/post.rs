//! What a hub remembers of letters: which of its own are to be answered, and which of others' it has in hand.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use countersign_store::ops::run::RemoteCommand;
use tokio::sync::oneshot;

use super::letters::CommandReply;

/// Answers that came before anybody waited for them, also to letters of other hubs.
const MAX_EARLY_REPLIES: usize = 256;
/// Longer than a letter is good for.
const HANDLED_TTL: Duration = Duration::from_secs(60);

#[derive(Default)]
pub struct CommandTracker {
    awaited: Mutex<AwaitedReplies>,
    queued: Mutex<CommandQueues>,
}

#[derive(Default)]
struct AwaitedReplies {
    expected: HashMap<i64, oneshot::Sender<CommandReply>>,
    /// Whoever does what a letter says may be quicker than its writer hears of its number.
    early: VecDeque<(i64, CommandReply)>,
}

#[derive(Default)]
struct CommandQueues {
    /// In hand or done.
    handled: HashMap<i64, Instant>,
    /// Of each run that somebody deals with.
    queues: HashMap<String, VecDeque<RemoteCommand>>,
}

impl CommandTracker {
    pub fn expect_reply(&self, command: i64) -> oneshot::Receiver<CommandReply> {
        let (reply, replied) = oneshot::channel();
        let mut awaited = self.awaited();
        awaited.expected.retain(|_, waiting| !waiting.is_closed());
        let early = awaited.early.iter().position(|(number, _)| *number == command);
        match early.and_then(|index| awaited.early.remove(index)) {
            Some((_, early)) => drop(reply.send(early)),
            None => drop(awaited.expected.insert(command, reply)),
        }
        replied
    }

    /// Says whether it was written here.
    pub fn reply_arrived(&self, command: i64, reply: CommandReply) -> bool {
        let mut awaited = self.awaited();
        let Some(expected) = awaited.expected.remove(&command) else {
            awaited.early.truncate(MAX_EARLY_REPLIES - 1);
            awaited.early.push_front((command, reply));
            return false;
        };
        // Nobody may wait any more.
        let _ = expected.send(reply);
        true
    }

    /// Gives the runs that nobody deals with so far: whoever is given them does.
    pub fn enqueue(&self, commands: Vec<RemoteCommand>) -> Vec<String> {
        let mut queued = self.queued();
        let now = Instant::now();
        let mut idle = Vec::new();
        queued
            .handled
            .retain(|_, since| now.saturating_duration_since(*since) < HANDLED_TTL);
        for command in commands {
            if queued.handled.insert(command.number, now).is_some() {
                continue;
            }
            let run_id = command.run_id.clone();
            if !queued.queues.contains_key(&run_id) {
                idle.push(run_id.clone());
            }
            queued.queues.entry(run_id).or_default().push_back(command);
        }
        idle
    }

    /// After the last one nobody deals with the run any more.
    pub fn next(&self, run_id: &str) -> Option<RemoteCommand> {
        let mut queued = self.queued();
        let next = queued.queues.get_mut(run_id).and_then(VecDeque::pop_front);
        if next.is_none() {
            queued.queues.remove(run_id);
        }
        next
    }

    /// It is not this hub's to do, unless the run comes back.
    pub fn give_back(&self, command: i64) {
        self.queued().handled.remove(&command);
    }

    fn awaited(&self) -> MutexGuard<'_, AwaitedReplies> {
        self.awaited.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn queued(&self) -> MutexGuard<'_, CommandQueues> {
        self.queued.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(number: i64, run_id: &str) -> RemoteCommand {
        RemoteCommand {
            number,
            run_id: run_id.to_owned(),
            body: String::new(),
            is_late: false,
        }
    }

    #[test]
    fn a_reply_that_arrives_early_is_kept() {
        let tracker = CommandTracker::default();
        assert!(!tracker.reply_arrived(1, CommandReply::Done));
        assert_eq!(tracker.expect_reply(1).try_recv(), Ok(CommandReply::Done));
        let mut replied = tracker.expect_reply(2);
        assert!(tracker.reply_arrived(2, CommandReply::Undone));
        assert_eq!(replied.try_recv(), Ok(CommandReply::Undone));
        assert!((10..2000).all(|number| !tracker.reply_arrived(number, CommandReply::Done)));
        assert_eq!(tracker.awaited().early.len(), MAX_EARLY_REPLIES);
    }

    #[test]
    fn commands_run_once_and_in_order_and_runs_do_not_wait_for_each_other() {
        let tracker = CommandTracker::default();
        assert_eq!(
            tracker.enqueue(vec![command(1, "a"), command(2, "b"), command(3, "a")]),
            ["a", "b"]
        );
        assert!(
            tracker
                .enqueue(vec![command(1, "a"), command(3, "a"), command(4, "a")])
                .is_empty()
        );
        let numbers = |run_id| {
            std::iter::from_fn(|| tracker.next(run_id))
                .map(|command| command.number)
                .collect::<Vec<_>>()
        };
        assert_eq!(numbers("a"), [1, 3, 4]);
        assert_eq!(tracker.enqueue(vec![command(4, "a"), command(5, "a")]), ["a"]);
        assert_eq!((numbers("a"), numbers("b")), (vec![5], vec![2]));
        tracker.give_back(5);
        assert_eq!(tracker.enqueue(vec![command(4, "a"), command(5, "a")]), ["a"]);
        assert_eq!(numbers("a"), [5]);
    }
}
