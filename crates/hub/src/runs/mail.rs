use std::collections::VecDeque;

use countersign_core::runs::policy::TooManyRules;
use countersign_protocol::runs::UpdatePolicy;
use tokio::sync::{mpsc, oneshot};

/// What others say to the task of a run. A reply that never comes means that the run is over.
pub enum RunCommand {
    Steer {
        text: String,
        /// Whether there was room for it.
        taken: oneshot::Sender<bool>,
    },
    Policy {
        change: UpdatePolicy,
        changed: oneshot::Sender<Result<(), TooManyRules>>,
    },
    Stop {
        stopped: oneshot::Sender<()>,
    },
    /// Another hub moves the run from now on.
    OwnershipLost,
    /// A run that waits for a person may stay as it is.
    HubStops {
        settled: oneshot::Sender<()>,
    },
}

/// Where the task of a run hears.
pub struct CommandQueue {
    receiver: mpsc::Receiver<RunCommand>,
    /// What came at a bad moment.
    deferred: VecDeque<RunCommand>,
}

impl CommandQueue {
    /// In the order in which it came. Nothing once nobody can write any more.
    pub async fn next(&mut self) -> Option<RunCommand> {
        match self.deferred.pop_front() {
            Some(command) => Some(command),
            None => self.receiver.recv().await,
        }
    }

    /// What is there already.
    pub fn try_next(&mut self) -> Option<RunCommand> {
        self.deferred.pop_front().or_else(|| self.receiver.try_recv().ok())
    }

    /// What has not been seen yet.
    pub async fn next_new(&mut self) -> Option<RunCommand> {
        self.receiver.recv().await
    }

    /// To be heard next time, behind what was put off before.
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
