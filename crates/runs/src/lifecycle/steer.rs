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

const NOT_RUNNING: &str = "not running";
/// Bound for policy changes of a prepared run: each one is kept until the run starts.
const MAX_EARLY_CHANGES: usize = 1000;
const MAX_EARLY_BYTES: usize = 1024 * 1024;
const STEERING_FULL: &str = "too many steering texts are queued; wait until the next agent call takes them";

impl RunService {
    pub async fn steer_run(self: &Arc<Self>, run_id: &str, text: String) -> Result<(), RunRefusal> {
        if self.is_run_local(run_id).await {
            return self.steer_local_run(run_id, text).await;
        }
        let steer = ClientMessage::SteerRun {
            run_id: run_id.to_owned(),
            text,
        };
        self.send_to_owner(run_id, &steer, || RunRefusal::not_steerable(run_id, NOT_RUNNING))
            .await
    }

    /// Sends a remote command to the node that owns the run.
    async fn send_to_owner(
        self: &Arc<Self>,
        run_id: &str,
        message: &ClientMessage,
        not_running: impl FnOnce() -> RunRefusal,
    ) -> Result<(), RunRefusal> {
        match self.send_run_command(run_id, message).await? {
            Some(CommandReply::Done) => Ok(()),
            Some(CommandReply::Refused { code, message }) => Err(RunRefusal::new(code, message)),
            Some(CommandReply::Undone) => Err(CommandFailure::NotApplied.into()),
            None => Err(not_running()),
        }
    }

    pub(crate) async fn steer_local_run(self: &Arc<Self>, run_id: &str, text: String) -> Result<(), RunRefusal> {
        let refuse = |why| RunRefusal::not_steerable(run_id, why);
        let Some(run) = self.registry.get(run_id) else {
            return Err(refuse(NOT_RUNNING));
        };
        if let Some(was_taken) = self.steer_early(&run, &text) {
            return if was_taken { Ok(()) } else { Err(refuse(STEERING_FULL)) };
        }
        let Some(command_sender) = run.command_sender() else {
            return Err(refuse(NOT_RUNNING));
        };
        let (taken, reply) = oneshot::channel();
        // A task that has ended drops the reply channel.
        let _ = command_sender.send(RunCommand::Steer { text, taken }).await;
        match reply.await {
            Ok(true) => Ok(()),
            Ok(false) => Err(refuse(STEERING_FULL)),
            Err(_) => Err(refuse(NOT_RUNNING)),
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
        self.send_to_owner(&run_id, &change, || RunRefusal::no_active_run(&run_id))
            .await
    }

    pub(crate) async fn change_local_policy(self: &Arc<Self>, change: UpdatePolicy) -> Result<(), RunRefusal> {
        let run_id = change.run_id.clone();
        let Some(run) = self.registry.get(&run_id) else {
            return Err(RunRefusal::no_active_run(&run_id));
        };
        if let Some(changed) = self.change_policy_early(&run, &change) {
            return changed;
        }
        let Some(command_sender) = run.command_sender() else {
            return Err(RunRefusal::no_active_run(&run_id));
        };
        let (changed, reply) = oneshot::channel();
        let _ = command_sender.send(RunCommand::Policy { change, changed }).await;
        match reply.await {
            Ok(changed) => changed.map_err(too_many),
            Err(_) => Err(RunRefusal::no_active_run(&run_id)),
        }
    }

    fn change_policy_early(&self, run: &TrackedRun, change: &UpdatePolicy) -> Option<Result<(), RunRefusal>> {
        let now = self.store.clock().now();
        let mut state = run.lock();
        let RunStage::Prepared(prepared) = &mut state.stage else {
            return None;
        };
        if has_many_changes(&prepared.early_events) {
            return Some(Err(too_many(
                "the policy of this prepared run was changed too often; start the run first",
            )));
        }
        match prepared.policy.update(change) {
            Ok(true) => {}
            Ok(false) => return Some(Ok(())),
            Err(error) => return Some(Err(too_many(error))),
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

fn too_many(error: impl std::fmt::Display) -> RunRefusal {
    RunRefusal::new("VALIDATION_ERROR", format!("Invalid message: allow: {error}"))
}
