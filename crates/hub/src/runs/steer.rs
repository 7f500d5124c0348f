//! What clients say to a run besides answers.

use countersign_core::runs::policy::TOOL;
use countersign_protocol::runs::{ClientMessage, Event, PolicyName, UpdatePolicy};
use countersign_store::ops::run::StoredEvent;
use tokio::sync::oneshot;

use super::mail::Mail;
use super::refusal::Refusal;
use super::run::{Run, Stage};
use crate::app::Hub;
use crate::peers::{Reply, Unheard};

const NOT_RUNNING: &str = "not running";
/// How often the policy of a run that has not begun may change: each time is kept until it begins.
const MOST_EARLY: usize = 1000;
const MOST_EARLY_BYTES: usize = 1024 * 1024;
const TOO_MUCH: &str = "too much has been said already; wait until an agent has heard it";

impl Hub {
    pub async fn steer_run(&self, run_id: &str, text: String) -> Result<(), Refusal> {
        if self.is_run_here(run_id).await {
            return self.steer_run_here(run_id, text).await;
        }
        let steer = ClientMessage::SteerRun {
            run_id: run_id.to_owned(),
            text,
        };
        self.said_elsewhere(run_id, &steer, || Refusal::not_steerable(run_id, NOT_RUNNING))
            .await
    }

    /// By a letter to the hub that moves the run.
    async fn said_elsewhere(
        &self,
        run_id: &str,
        message: &ClientMessage,
        nobody: impl FnOnce() -> Refusal,
    ) -> Result<(), Refusal> {
        match self.write_to_run(run_id, message).await? {
            Some(Reply::Done) => Ok(()),
            Some(Reply::Refused { code, message }) => Err(Refusal::new(code, message)),
            Some(Reply::Undone) => Err(Unheard::Undone.into()),
            None => Err(nobody()),
        }
    }

    pub(crate) async fn steer_run_here(&self, run_id: &str, text: String) -> Result<(), Refusal> {
        let refuse = |why| Refusal::not_steerable(run_id, why);
        let Some(run) = self.runs.get(run_id) else {
            return Err(refuse(NOT_RUNNING));
        };
        if let Some(was_taken) = self.steer_early(&run, &text) {
            return if was_taken { Ok(()) } else { Err(refuse(TOO_MUCH)) };
        }
        let Some(mailbox) = run.mailbox() else {
            return Err(refuse(NOT_RUNNING));
        };
        let (taken, reply) = oneshot::channel();
        // A task that does not hear any more drops the reply.
        let _ = mailbox.send(Mail::Steer { text, taken }).await;
        match reply.await {
            Ok(true) => Ok(()),
            Ok(false) => Err(refuse(TOO_MUCH)),
            Err(_) => Err(refuse(NOT_RUNNING)),
        }
    }

    /// Of a run that is prepared. Nothing if it is not.
    fn steer_early(&self, run: &Run, text: &str) -> Option<bool> {
        let now = self.store.clock().now();
        let mut state = run.lock();
        let Stage::Prepared(prepared) = &mut state.stage else {
            return None;
        };
        if !prepared.steering.add(text) {
            return Some(false);
        }
        state.tell_early(&run.id, &Event::SteerQueued { text: text.to_owned() }, now);
        Some(true)
    }

    pub async fn change_policy(&self, change: UpdatePolicy) -> Result<(), Refusal> {
        let run_id = change.run_id.clone();
        if self.is_run_here(&run_id).await {
            return self.change_policy_here(change).await;
        }
        let change = ClientMessage::UpdatePolicy(change);
        self.said_elsewhere(&run_id, &change, || Refusal::no_active_run(&run_id))
            .await
    }

    pub(crate) async fn change_policy_here(&self, change: UpdatePolicy) -> Result<(), Refusal> {
        let run_id = change.run_id.clone();
        let Some(run) = self.runs.get(&run_id) else {
            return Err(Refusal::no_active_run(&run_id));
        };
        if let Some(changed) = self.change_policy_early(&run, &change) {
            return changed;
        }
        let Some(mailbox) = run.mailbox() else {
            return Err(Refusal::no_active_run(&run_id));
        };
        let (changed, reply) = oneshot::channel();
        let _ = mailbox.send(Mail::Policy { change, changed }).await;
        match reply.await {
            Ok(changed) => changed.map_err(too_many),
            Err(_) => Err(Refusal::no_active_run(&run_id)),
        }
    }

    fn change_policy_early(&self, run: &Run, change: &UpdatePolicy) -> Option<Result<(), Refusal>> {
        let now = self.store.clock().now();
        let mut state = run.lock();
        let Stage::Prepared(prepared) = &mut state.stage else {
            return None;
        };
        if has_told_much(&prepared.told) {
            return Some(Err(too_many("the policy was changed too often; start the run")));
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
        state.tell_early(&run.id, &Event::PolicyUpdated { tool, policies }, now);
        Some(Ok(()))
    }
}

/// What people say to it is bounded for itself.
fn has_told_much(told: &[StoredEvent]) -> bool {
    let changes = || told.iter().filter(|event| event.kind == "policy_updated");
    changes().count() >= MOST_EARLY || changes().map(|event| event.body.len()).sum::<usize>() >= MOST_EARLY_BYTES
}

fn too_many(error: impl std::fmt::Display) -> Refusal {
    Refusal::new("VALIDATION_ERROR", format!("Invalid message: allow: {error}"))
}
