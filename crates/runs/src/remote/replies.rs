//! Remote run commands in memory: replies this node awaits, and commands of other nodes it has queued.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use countersign_store::ops::run::RemoteCommand;
use tokio::sync::oneshot;

use super::commands::CommandReply;

/// Replies that arrived before they were awaited, including replies to commands of other nodes.
const MAX_EARLY_REPLIES: usize = 256;
/// Longer than the TTL of a command.
const HANDLED_TTL: Duration = Duration::from_secs(60);

#[derive(Default)]
pub struct CommandTracker {
    awaited: Mutex<AwaitedReplies>,
    queued: Mutex<CommandQueues>,
}

#[derive(Default)]
struct AwaitedReplies {
    expected: HashMap<i64, oneshot::Sender<CommandReply>>,
    /// The reply may arrive before the sender has learned the number of its command.
    early: VecDeque<(i64, CommandReply)>,
}

#[derive(Default)]
struct CommandQueues {
    /// Queued or done.
    handled: HashMap<i64, Instant>,
    /// One queue per run that is being processed.
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

    /// Returns true if the command was sent by this node.
    pub fn reply_arrived(&self, command: i64, reply: CommandReply) -> bool {
        let mut awaited = self.awaited();
        let Some(expected) = awaited.expected.remove(&command) else {
            awaited.early.truncate(MAX_EARLY_REPLIES - 1);
            awaited.early.push_front((command, reply));
            return false;
        };
        // The waiting request may have timed out.
        let _ = expected.send(reply);
        true
    }

    /// Returns the runs that had no queue before; the caller has to process them.
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

    /// Returns `None` after the last command, which also ends the processing of this run.
    pub fn next(&self, run_id: &str) -> Option<RemoteCommand> {
        let mut queued = self.queued();
        let next = queued.queues.get_mut(run_id).and_then(VecDeque::pop_front);
        if next.is_none() {
            queued.queues.remove(run_id);
        }
        next
    }

    /// Forgets a command that another node has to execute; it may come back with the run.
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
        assert!(tracker.reply_arrived(2, CommandReply::NotApplied));
        assert_eq!(replied.try_recv(), Ok(CommandReply::NotApplied));
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
