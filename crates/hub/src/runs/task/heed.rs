//! What others want of a run.

use std::sync::PoisonError;

use countersign_core::runs::policy::TOOL;
use countersign_protocol::runs::{Event, PolicyName, UpdatePolicy};
use countersign_store::ops::run::Phase;

use super::state::{Halt, Stopped, Task};
use crate::config::OnStop;
use crate::runs::mail::Mail;

impl Task {
    pub(super) async fn heed(&mut self, mail: Mail) -> Result<(), Halt> {
        match mail {
            Mail::Steer { text, taken } => {
                let has_room = self.standing.steering.add(&text);
                if has_room {
                    self.note(&Event::SteerQueued { text });
                    self.commit(self.phase).await?;
                }
                // Who asked may be gone.
                let _ = taken.send(has_room);
                Ok(())
            }
            Mail::Policy { change, changed } => {
                let outcome = self.standing.policy.update(&change);
                if outcome == Ok(true) {
                    self.policy_changed(&change).await?;
                }
                let _ = changed.send(outcome.map(drop));
                Ok(())
            }
            Mail::Stop { stopped } => {
                self.stopped.push(stopped);
                Err(Halt::Cancelled(Stopped::ByClient))
            }
            Mail::Moved => Err(Halt::Lost),
            Mail::HubStops { settled } => {
                self.stopped.push(settled);
                Err(self.when_the_hub_stops())
            }
        }
    }

    /// An agent's work in progress cannot be taken up again; everything else can.
    pub(super) fn when_the_hub_stops(&self) -> Halt {
        match (self.phase, self.hub.config.runs.on_stop) {
            (Phase::Between, OnStop::Keep) => Halt::Left,
            (Phase::Working, OnStop::Keep) | (Phase::Between | Phase::Working, OnStop::Cancel) => {
                Halt::Cancelled(Stopped::ByTheHub)
            }
        }
    }

    async fn policy_changed(&mut self, change: &UpdatePolicy) -> Result<(), Halt> {
        let tool = change.tool.clone().unwrap_or_else(|| TOOL.to_owned());
        self.tell_policy(tool).await
    }

    /// What a person decided for the rest of the run.
    pub(super) async fn remember(&mut self, resource: &str, allow: bool) -> Result<(), Halt> {
        self.standing.policy.remember(resource, allow);
        self.tell_policy(TOOL.to_owned()).await
    }

    async fn tell_policy(&mut self, tool: String) -> Result<(), Halt> {
        let policy = &self.standing.policy;
        self.judged
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone_from(policy);
        let policies = policy.names().into_iter().map(|name| PolicyName { name }).collect();
        self.note(&Event::PolicyUpdated { tool, policies });
        self.commit(self.phase).await
    }
}
