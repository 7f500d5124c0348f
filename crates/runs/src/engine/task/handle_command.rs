//! Handling the commands to a run.

use std::sync::PoisonError;

use countersign_core::runs::policy::TOOL;
use countersign_protocol::runs::{Event, PolicyName, UpdatePolicy};
use countersign_store::ops::run::RunPhase;

use super::state::{Halt, RunTask, Stopped};
use crate::engine::commands::RunCommand;
use crate::settings::OnStop;

impl RunTask {
    pub(crate) async fn handle_command(&mut self, command: RunCommand) -> Result<(), Halt> {
        match command {
            RunCommand::Steer { text, taken } => {
                let has_room = self.checkpoint.steering.add(&text);
                if has_room {
                    self.note(&Event::SteerQueued { text });
                    self.commit(self.phase).await?;
                }
                // The client may have disconnected.
                let _ = taken.send(has_room);
                Ok(())
            }
            RunCommand::Policy { change, changed } => {
                let outcome = self.checkpoint.policy.update(&change);
                if outcome == Ok(true) {
                    self.policy_changed(&change).await?;
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

    async fn policy_changed(&mut self, change: &UpdatePolicy) -> Result<(), Halt> {
        let tool = change.tool.clone().unwrap_or_else(|| TOOL.to_owned());
        self.publish_policy(tool).await
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
        self.note(&Event::PolicyUpdated { tool, policies });
        self.commit(self.phase).await
    }
}
