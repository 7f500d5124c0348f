//! Steering texts and policy changes from clients.

use std::sync::Arc;

use countersign_core::runs::policy::TOOL;
use countersign_protocol::runs::{ClientMessage, Event, PolicyName, UpdatePolicy};
use countersign_store::ops::run::StoredEvent;
use tokio::sync::oneshot;

use crate::engine::commands::RunCommand;
use crate::refusal::RunRefusal;
use crate::remote::commands::{CommandFailure, CommandReply};
use crate::run::{RunStage, TrackedRun};
use crate::service::RunService;

/// Bound for policy changes of a prepared run: each one is kept until the run starts.
const MAX_EARLY_CHANGES: usize = 1000;
const MAX_EARLY_BYTES: usize = 1024 * 1024;

impl RunService {
    pub async fn steer_run(self: &Arc<Self>, run_id: &str, text: String) -> Result<(), RunRefusal> {
        if self.is_run_local(run_id).await {
            return self.steer_local_run(run_id, text).await;
        }
        let steer = ClientMessage::SteerRun {
            run_id: run_id.to_owned(),
            text,
        };
        self.send_to_owning_node(run_id, &steer).await
    }

    /// Sends a remote command to the node that owns the run.
    async fn send_to_owning_node(self: &Arc<Self>, run_id: &str, message: &ClientMessage) -> Result<(), RunRefusal> {
        match self.send_run_command(run_id, message).await? {
            Some(CommandReply::Done) => Ok(()),
            Some(CommandReply::Refused(text)) => Err(RunRefusal::ByOwningNode(text)),
            Some(CommandReply::NotApplied) => {
                let run_id = run_id.to_owned();
                Err(CommandFailure::NotApplied { run_id }.into())
            }
            None => Err(RunRefusal::NotRunning),
        }
    }

    pub(crate) async fn steer_local_run(self: &Arc<Self>, run_id: &str, text: String) -> Result<(), RunRefusal> {
        let Some(run) = self.registry.get(run_id) else {
            return Err(RunRefusal::NotRunning);
        };
        if let Some(was_taken) = self.steer_early(&run, &text) {
            return if was_taken {
                Ok(())
            } else {
                Err(RunRefusal::SteeringFull)
            };
        }
        let Some(command_sender) = run.command_sender() else {
            return Err(RunRefusal::NotRunning);
        };
        let (taken, reply) = oneshot::channel();
        // A task that has ended drops the reply channel.
        let _ = command_sender.send(RunCommand::Steer { text, taken }).await;
        match reply.await {
            Ok(true) => Ok(()),
            Ok(false) => Err(RunRefusal::SteeringFull),
            Err(_) => Err(RunRefusal::NotRunning),
        }
    }

    /// Steers a prepared run. Returns `None` if the run is not prepared.
    fn steer_early(&self, run: &TrackedRun, text: &str) -> Option<bool> {
        let now = self.store.clock().now();
        let mut state = run.lock();
        let RunStage::Prepared(prepared) = &mut state.stage else {
            return None;
        };
        if !prepared.steering.add(text) {
            return Some(false);
        }
        state.broadcast_early(&run.id, &Event::SteerQueued { text: text.to_owned() }, now);
        Some(true)
    }

    pub async fn change_policy(self: &Arc<Self>, change: UpdatePolicy) -> Result<(), RunRefusal> {
        let run_id = change.run_id.clone();
        if self.is_run_local(&run_id).await {
            return self.change_local_policy(change).await;
        }
        let change = ClientMessage::UpdatePolicy(change);
        self.send_to_owning_node(&run_id, &change).await
    }

    pub(crate) async fn change_local_policy(self: &Arc<Self>, change: UpdatePolicy) -> Result<(), RunRefusal> {
        let run_id = change.run_id.clone();
        let Some(run) = self.registry.get(&run_id) else {
            return Err(RunRefusal::NotRunning);
        };
        if let Some(changed) = self.change_policy_early(&run, &change) {
            return changed;
        }
        let Some(command_sender) = run.command_sender() else {
            return Err(RunRefusal::NotRunning);
        };
        let (changed, reply) = oneshot::channel();
        let _ = command_sender.send(RunCommand::Policy { change, changed }).await;
        match reply.await {
            Ok(changed) => changed.map_err(RunRefusal::TooManyRules),
            Err(_) => Err(RunRefusal::NotRunning),
        }
    }

    fn change_policy_early(&self, run: &TrackedRun, change: &UpdatePolicy) -> Option<Result<(), RunRefusal>> {
        let now = self.store.clock().now();
        let mut state = run.lock();
        let RunStage::Prepared(prepared) = &mut state.stage else {
            return None;
        };
        if has_many_changes(&prepared.early_events) {
            return Some(Err(RunRefusal::TooManyPolicyChanges));
        }
        match prepared.policy.update(change) {
            Ok(true) => {}
            Ok(false) => return Some(Ok(())),
            Err(error) => return Some(Err(RunRefusal::TooManyRules(error))),
        }
        let policies = prepared
            .policy
            .names()
            .into_iter()
            .map(|name| PolicyName { name })
            .collect();
        let tool = change.tool.clone().unwrap_or_else(|| TOOL.to_owned());
        state.broadcast_early(&run.id, &Event::PolicyUpdated { tool, policies }, now);
        Some(Ok(()))
    }
}

/// Counts policy changes only; steering texts have their own bound.
fn has_many_changes(early_events: &[StoredEvent]) -> bool {
    let changes = || early_events.iter().filter(|event| event.kind == "policy_updated");
    changes().count() >= MAX_EARLY_CHANGES || changes().map(|event| event.body.len()).sum::<usize>() >= MAX_EARLY_BYTES
}
