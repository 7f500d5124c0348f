//! Decisions: one command against one message, on the same path for every door and surface.

use std::sync::Arc;
use std::time::{Duration, Instant};

use countersign_core::decide::is_overdue_at;
use countersign_core::{Command, Outcome, Rejection, Resolution, State};
use countersign_protocol::id::{MessageId, ResolutionId};
use countersign_store::StoreError;
use countersign_store::completion::run_to_completion;
use countersign_store::model::{AgentView, ApplyOutcome, Lookup, ResolveRequest, ResolvedMessage};
use countersign_store::ops::message::apply::Apply;
use countersign_store::ops::message::pull::Pull;
use uuid::Uuid;

use super::Messages;
use crate::problem::Problem;

/// Between two tries to find out whether a commit succeeded, after the store was lost in the middle of it.
const RECONCILE_INTERVAL: Duration = Duration::from_millis(200);
/// Bounds the reconciliation, because each try may take seconds on a store that hangs, and the person deciding waits
/// for it.
const RECONCILE_TIMEOUT: Duration = Duration::from_secs(5);

impl Messages {
    pub async fn decide(
        self: &Arc<Self>,
        message_id: &MessageId,
        command: Command,
    ) -> Result<ApplyOutcome, StoreError> {
        self.decide_with_files(message_id, command, Vec::new()).await
    }

    /// `files` holds the contents of the files that the verdict lists, in the same order.
    pub async fn decide_with_files(
        self: &Arc<Self>,
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
        let messages = Arc::clone(self);
        // The command runs to completion after a disconnect; otherwise a run could wait forever for its announcement.
        run_to_completion(async move { messages.apply(proposal).await }).await
    }

    async fn apply(&self, proposal: ResolveRequest) -> Result<ApplyOutcome, StoreError> {
        let again = self.parts.store.is_shared().then(|| proposal.clone());
        let application = match (self.parts.store.run(Apply(proposal)).await, again) {
            (Err(StoreError::CommitUnknown(_)), Some(proposal)) => self.reconcile(proposal).await,
            (applied, _) => applied,
        };
        let application = application.inspect_err(|error| self.resync_if_unsure(error))?;
        self.parts.indexer.note_activity();
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
        let application = self.parts.store.run(Apply(proposal.clone())).await?;
        let ApplyOutcome::Rejected(Rejection::AlreadyTerminal { .. }) = &application else {
            return Ok(application);
        };
        Ok(match self.parts.store.run(Pull(proposal.message_id.clone())).await? {
            Some(Lookup::Present(pulled)) => own_resolution(pulled, proposal).unwrap_or(application),
            Some(Lookup::Purged { .. }) | None => application,
        })
    }

    /// Applies a command; any outcome other than the commanded one is a `Problem`.
    pub async fn decide_exactly(
        self: &Arc<Self>,
        message_id: &MessageId,
        command: Command,
    ) -> Result<Resolution, Problem> {
        self.decide_exactly_with_files(message_id, command, Vec::new()).await
    }

    /// As `decide_exactly`, with the contents of the files that the verdict lists.
    pub async fn decide_exactly_with_files(
        self: &Arc<Self>,
        message_id: &MessageId,
        command: Command,
        files: Vec<Vec<u8>>,
    ) -> Result<Resolution, Problem> {
        let wanted = match &command {
            Command::Resolve { verdict, .. } => verdict.outcome(),
            Command::Cancel | Command::Supersede { .. } => Outcome::Cancelled,
            Command::Expire => Outcome::Expired,
        };
        match self.decide_with_files(message_id, command, files).await? {
            ApplyOutcome::Resolved(applied) if applied.resolution.outcome == wanted => Ok(applied.resolution),
            // The command came after the expiry, and so caused it.
            ApplyOutcome::Resolved(applied) => Err(Rejection::already(message_id, &applied.resolution).into()),
            ApplyOutcome::Rejected(rejection) => Err(rejection.into()),
            ApplyOutcome::Purged => Err(Problem::Gone),
            ApplyOutcome::NotFound => Err(Problem::no_message()),
        }
    }

    /// Expires an overdue message that is read before the timer got to it. Returns whether it was overdue.
    pub async fn expire_if_overdue(self: &Arc<Self>, pulled: &AgentView) -> Result<bool, StoreError> {
        let is_open = matches!(pulled.state, State::Open);
        if !is_open || !is_overdue_at(pulled.expires_at, self.parts.store.clock().now()) {
            return Ok(false);
        }
        // Boxed because it is rare: inline, its state would enlarge every waiting future.
        Box::pin(self.decide(&pulled.id, Command::Expire)).await.map(|_| true)
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
