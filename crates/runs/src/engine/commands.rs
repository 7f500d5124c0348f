//! Commands to the task of a run, and how it handles them.

use std::collections::VecDeque;
use std::sync::PoisonError;

use countersign_core::runs::policy::{TOOL, TooManyRules};
use countersign_protocol::runs::{Event, PolicyName, UpdatePolicy};
use countersign_store::ops::run::RunPhase;
use tokio::sync::{mpsc, oneshot};

use super::task::{Halt, RunTask, Stopped};
use crate::settings::OnStop;

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
    /// Another node owns the run from now on.
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

impl RunTask {
    pub(crate) async fn handle_command(&mut self, command: RunCommand) -> Result<(), Halt> {
        match command {
            RunCommand::Steer { text, taken } => {
                let has_room = self.checkpoint.steering.add(&text);
                if has_room {
                    self.buffer_event(&Event::SteerQueued { text });
                    self.commit(self.phase).await?;
                }
                // The client may have disconnected.
                let _ = taken.send(has_room);
                Ok(())
            }
            RunCommand::Policy { change, changed } => {
                let outcome = self.checkpoint.policy.update(&change);
                if outcome == Ok(true) {
                    self.publish_policy(change.tool.unwrap_or_else(|| TOOL.to_owned()))
                        .await?;
                }
                let _ = changed.send(outcome.map(drop));
                Ok(())
            }
            RunCommand::Stop { stopped } => {
                self.stopped.push(stopped);
                Err(Halt::Cancelled(Stopped::ByClient))
            }
            RunCommand::OwnershipLost => Err(Halt::OwnershipLost),
            RunCommand::HubStops { settled } => {
                self.stopped.push(settled);
                Err(self.halt_for_shutdown())
            }
        }
    }

    /// An agent call in progress cannot be resumed after a restart; a waiting run can.
    pub(crate) fn halt_for_shutdown(&self) -> Halt {
        match (self.phase, self.service.settings.on_stop) {
            (RunPhase::Between, OnStop::Keep) => Halt::Suspended,
            (RunPhase::Working, OnStop::Keep) | (RunPhase::Between | RunPhase::Working, OnStop::Cancel) => {
                Halt::Cancelled(Stopped::ByTheHub)
            }
        }
    }

    /// Stores a person's decision for the rest of the run.
    pub(crate) async fn remember(&mut self, resource: &str, allow: bool) -> Result<(), Halt> {
        self.checkpoint.policy.remember(resource, allow);
        self.publish_policy(TOOL.to_owned()).await
    }

    async fn publish_policy(&mut self, tool: String) -> Result<(), Halt> {
        let policy = &self.checkpoint.policy;
        self.shared_policy
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone_from(policy);
        let policies = policy.names().into_iter().map(|name| PolicyName { name }).collect();
        self.buffer_event(&Event::PolicyUpdated { tool, policies });
        self.commit(self.phase).await
    }
}
