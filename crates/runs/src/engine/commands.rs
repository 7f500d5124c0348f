use std::collections::VecDeque;

use countersign_core::runs::policy::TooManyRules;
use countersign_protocol::runs::UpdatePolicy;
use tokio::sync::{mpsc, oneshot};

/// A command to the task of a run. A dropped reply channel means that the run has ended.
pub enum RunCommand {
    Steer {
        text: String,
        /// True if the text was accepted, false if the steering queue is full.
        taken: oneshot::Sender<bool>,
    },
    Policy {
        change: UpdatePolicy,
        changed: oneshot::Sender<Result<(), TooManyRules>>,
    },
    Stop {
        stopped: oneshot::Sender<()>,
    },
    /// Another hub owns the run from now on.
    OwnershipLost,
    /// The hub shuts down. A run that waits for a person is kept as it is.
    HubStops {
        settled: oneshot::Sender<()>,
    },
}

/// The commands waiting for the task of a run.
pub struct CommandQueue {
    receiver: mpsc::Receiver<RunCommand>,
    /// Commands deferred until the task can handle them.
    deferred: VecDeque<RunCommand>,
}

impl CommandQueue {
    /// Waits for the next command, in order. Returns `None` once all senders are gone.
    pub async fn next(&mut self) -> Option<RunCommand> {
        match self.deferred.pop_front() {
            Some(command) => Some(command),
            None => self.receiver.recv().await,
        }
    }

    /// Returns a command that is already there.
    pub fn try_next(&mut self) -> Option<RunCommand> {
        self.deferred.pop_front().or_else(|| self.receiver.try_recv().ok())
    }

    /// Waits for a command that was not deferred before.
    pub async fn next_new(&mut self) -> Option<RunCommand> {
        self.receiver.recv().await
    }

    /// Defers a command, behind those deferred before.
    pub fn defer(&mut self, command: RunCommand) {
        self.deferred.push_back(command);
    }
}

impl From<mpsc::Receiver<RunCommand>> for CommandQueue {
    fn from(receiver: mpsc::Receiver<RunCommand>) -> Self {
        Self {
            receiver,
            deferred: VecDeque::new(),
        }
    }
}
