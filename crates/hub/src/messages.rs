//! Every change to a message goes through here: the command to the store, and the announcement after the commit.

use std::time::{Duration, Instant};

use countersign_core::decide::is_overdue_at;
use countersign_core::message::Door;
use countersign_core::{Command, Outcome, Rejection, Resolution, State};
use countersign_protocol::id::{MessageId, ResolutionId};
use countersign_store::StoreError;
use countersign_store::completion::run_to_completion;
use countersign_store::model::{AgentView, ApplyOutcome, Lookup, ResolveRequest, ResolvedMessage};
use countersign_store::ops::message::apply::Apply;
use countersign_store::ops::message::pull::Pull;
use uuid::Uuid;

use crate::app::Hub;
use crate::cluster::Signal;
use crate::live::LiveChange;
use crate::problem::Problem;

/// Between two tries to find out whether a commit succeeded, after the store was lost in the middle of it.
const RECONCILE_INTERVAL: Duration = Duration::from_millis(200);
/// Bounds the reconciliation, because each try may take seconds on a store that hangs, and the person deciding waits
/// for it.
const RECONCILE_TIMEOUT: Duration = Duration::from_secs(5);

impl Hub {
    pub async fn apply_command(&self, message_id: &MessageId, command: Command) -> Result<ApplyOutcome, StoreError> {
        self.apply_command_with_files(message_id, command, Vec::new()).await
    }

    /// `files` holds the contents of the files that the verdict lists, in the same order.
    pub async fn apply_command_with_files(
        &self,
        message_id: &MessageId,
        command: Command,
        files: Vec<Vec<u8>>,
    ) -> Result<ApplyOutcome, StoreError> {
        let resolution_id = ResolutionId::from_uuid(Uuid::new_v4());
        let proposal = ResolveRequest {
            message_id: message_id.clone(),
            command,
            resolution_id,
            files,
        };
        let Some(hub) = self.me.upgrade() else {
            return self.apply(proposal).await;
        };
        // The command runs to completion after a disconnect; otherwise a run could wait forever for its announcement.
        run_to_completion(async move { hub.apply(proposal).await }).await
    }

    async fn apply(&self, proposal: ResolveRequest) -> Result<ApplyOutcome, StoreError> {
        let again = self.store.is_shared().then(|| proposal.clone());
        let application = match (self.store.run(Apply(proposal)).await, again) {
            (Err(StoreError::CommitUnknown(_)), Some(proposal)) => self.reconcile(proposal).await,
            (applied, _) => applied,
        };
        let application = application.inspect_err(|error| self.resync_if_unsure(error))?;
        self.indexer.note_activity();
        if let ApplyOutcome::Resolved(applied) = &application {
            self.announce(applied);
        }
        Ok(application)
    }

    /// Resolves an unsure commit: the resolution is found by its own id, or the command is applied again.
    async fn reconcile(&self, proposal: ResolveRequest) -> Result<ApplyOutcome, StoreError> {
        let began = Instant::now();
        loop {
            tokio::time::sleep(RECONCILE_INTERVAL).await;
            match self.apply_or_find(&proposal).await {
                // Still unsure, because the first commit may stand.
                Err(error) if began.elapsed() > RECONCILE_TIMEOUT => {
                    return Err(StoreError::CommitUnknown(error.to_string()));
                }
                Err(_) => {}
                applied => return applied,
            }
        }
    }

    async fn apply_or_find(&self, proposal: &ResolveRequest) -> Result<ApplyOutcome, StoreError> {
        let application = self.store.run(Apply(proposal.clone())).await?;
        let ApplyOutcome::Rejected(Rejection::AlreadyTerminal { .. }) = &application else {
            return Ok(application);
        };
        Ok(match self.store.run(Pull(proposal.message_id.clone())).await? {
            Some(Lookup::Present(pulled)) => own_resolution(pulled, proposal).unwrap_or(application),
            Some(Lookup::Purged { .. }) | None => application,
        })
    }

    /// Call after a failed submit or resolve. If the commit may have happened, waiters, pages and other nodes re-read
    /// everything.
    pub fn resync_if_unsure(&self, error: &StoreError) {
        if matches!(error, StoreError::CommitUnknown(_)) {
            self.waiters.invalidate_all();
            self.news.publish_resync();
            self.cluster.publish_resync();
        }
    }

    /// Applies a command; any outcome other than the commanded one is a `Problem`.
    pub async fn apply_or_problem(&self, message_id: &MessageId, command: Command) -> Result<Resolution, Problem> {
        self.apply_or_problem_with_files(message_id, command, Vec::new()).await
    }

    /// As `apply_or_problem`, with the contents of the files that the verdict lists.
    pub async fn apply_or_problem_with_files(
        &self,
        message_id: &MessageId,
        command: Command,
        files: Vec<Vec<u8>>,
    ) -> Result<Resolution, Problem> {
        let wanted = match &command {
            Command::Resolve { verdict, .. } => verdict.outcome(),
            Command::Cancel | Command::Supersede { .. } => Outcome::Cancelled,
            Command::Expire => Outcome::Expired,
        };
        match self.apply_command_with_files(message_id, command, files).await? {
            ApplyOutcome::Resolved(applied) if applied.resolution.outcome == wanted => Ok(applied.resolution),
            // The command came after the expiry, and so caused it.
            ApplyOutcome::Resolved(applied) => Err(Rejection::already(message_id, &applied.resolution).into()),
            ApplyOutcome::Rejected(rejection) => Err(rejection.into()),
            ApplyOutcome::Purged => Err(Problem::Gone),
            ApplyOutcome::NotFound => Err(Problem::no_message()),
        }
    }

    /// Call after the commit of every resolution: wakes waiters, runs, pages, other nodes and the outbox.
    pub fn announce(&self, applied: &ResolvedMessage) {
        let id = &applied.pulled.id;
        let outcome = applied.resolution.outcome;
        self.metrics.resolved(outcome);
        self.cue_waiters.cue_ended(id);
        self.runs.resolved(&applied.pulled, applied.resolution.resolved_at);
        self.waiters.wake(&applied.pulled);
        if self.cluster.is_first_notice(id) {
            self.news.publish_local(LiveChange::Resolved(id.clone()));
        }
        self.cluster.publish(|| Signal::Resolved {
            id: id.clone(),
            run: run_of(&applied.pulled),
        });
        if let Some(host) = &applied.push_host {
            self.outbox.wake(host);
        }
        tracing::debug!(%id, %outcome, "resolved");
    }

    /// Expires an overdue message that is read before the timer got to it. Returns whether it was overdue.
    pub async fn expire_if_overdue(&self, pulled: &AgentView) -> Result<bool, StoreError> {
        let is_open = matches!(pulled.state, State::Open);
        if !is_open || !is_overdue_at(pulled.expires_at, self.store.clock().now()) {
            return Ok(false);
        }
        // Boxed because it is rare: inline, its state would enlarge every waiting future.
        Box::pin(self.apply_command(&pulled.id, Command::Expire))
            .await
            .map(|_| true)
    }
}

/// The stored outcome, if this very request produced it. The outbox finds its push by polling, so no host is given.
fn own_resolution(pulled: AgentView, proposal: &ResolveRequest) -> Option<ApplyOutcome> {
    let State::Resolved(resolution) = &pulled.state else {
        return None;
    };
    let resolution = Some(resolution.clone()).filter(|resolution| resolution.id == proposal.resolution_id)?;
    Some(ApplyOutcome::Resolved(Box::new(ResolvedMessage {
        resolution,
        pulled,
        push_host: None,
    })))
}

fn run_of(pulled: &AgentView) -> Option<String> {
    match pulled.source.door {
        Door::Runs => pulled.source.ids.get("runId").cloned(),
        Door::A2h | Door::Hap => None,
    }
}
