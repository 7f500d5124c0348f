//! The one way in: messages are accepted, decided and announced here, whatever door they came by. Only `doors/hap/import.rs`
//! stores cues that were asked, and perhaps answered, in another program before.

pub mod cue_waiters;
mod holds;
mod run_host;
mod timers;

use std::sync::Arc;
use std::time::{Duration, Instant};

use countersign_core::decide::is_overdue_at;
use countersign_core::message::{Message, Source};
use countersign_core::vocabulary::Ending;
use countersign_core::{Command, Outcome, Rejection, Resolution, State};
use countersign_protocol::a2h::Kind;
use countersign_protocol::id::{MessageId, ResolutionId};
use countersign_protocol::time::Timestamp;
use countersign_runs::RunRegistry;
use countersign_store::completion::run_to_completion;
use countersign_store::model::{
    AgentView, ApplyOutcome, Lookup, NewMessage, ResolveRequest, ResolvedMessage, Submission,
};
use countersign_store::ops::message::apply::Apply;
use countersign_store::ops::message::pull::{Pull, View};
use countersign_store::ops::message::submit::Submit;
use countersign_store::waiters::Waiters;
use countersign_store::{Store, StoreError};
use countersign_telemetry::metrics::{Decision, Metrics};
use timers::Alarm;
use tokio::sync::watch;
use uuid::Uuid;

use crate::background::indexer::Indexer;
use crate::cluster::{Cluster, LiveChange, Signal};
use crate::delivery::Outbox;
use crate::live::LiveBroadcaster;
use crate::messages::cue_waiters::CueWaiters;
use crate::problem::Problem;
pub use holds::PersonDecision;
pub use timers::{expire, purge, purge_once, release};

/// Between two tries to find out whether a commit succeeded, after the store was lost in the middle of it.
const RECONCILE_INTERVAL: Duration = Duration::from_millis(200);
/// Bounds the reconciliation, because each try may take seconds on a store that hangs, and the person deciding waits
/// for it.
const RECONCILE_TIMEOUT: Duration = Duration::from_secs(5);

pub struct MessagesParts {
    pub store: Arc<Store>,
    pub live: Arc<LiveBroadcaster>,
    pub cluster: Arc<Cluster>,
    pub cue_waiters: Arc<CueWaiters>,
    pub runs: Arc<RunRegistry>,
    pub outbox: Arc<Outbox>,
    pub indexer: Arc<Indexer>,
    pub metrics: Arc<Metrics>,
    pub stopping: watch::Receiver<bool>,
    /// For people who have set no undo time.
    pub default_undo_seconds: u32,
}

pub struct Messages {
    parts: MessagesParts,
    pub waiters: Arc<Waiters>,
    expiry_alarm: Alarm,
    release_alarm: Alarm,
}

/// A committed message, as far as its announcement needs it.
pub struct Accepted {
    pub id: MessageId,
    pub kind: Kind,
    pub expires_at: Option<Timestamp>,
}

impl Accepted {
    pub fn of(message: &NewMessage) -> Self {
        Self {
            id: message.id.clone(),
            kind: message.kind,
            expires_at: message.expires_at,
        }
    }
}

impl Messages {
    pub fn new(parts: MessagesParts) -> Arc<Self> {
        Arc::new(Self {
            parts,
            waiters: Arc::default(),
            expiry_alarm: Alarm::default(),
            release_alarm: Alarm::default(),
        })
    }

    /// Stores a message and announces it. The submit runs to completion after a disconnect.
    pub async fn accept(self: &Arc<Self>, message: NewMessage, max_open: i64) -> Result<Submission, StoreError> {
        let messages = Arc::clone(self);
        run_to_completion(async move {
            let accepted = Accepted::of(&message);
            let submitted = messages.parts.store.run(Submit { message, max_open }).await;
            let submission = submitted.inspect_err(|error| messages.resync_if_unsure(error))?;
            if matches!(submission, Submission::Created) {
                messages.announce_accepted(&accepted);
            }
            Ok(submission)
        })
        .await
    }

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
        let request = resolve_request(message_id, command, files);
        let messages = Arc::clone(self);
        // The command runs to completion after a disconnect; otherwise a run could wait forever for its announcement.
        run_to_completion(async move {
            let outcome = messages.apply(request).await;
            let outcome = outcome.inspect_err(|error| messages.resync_if_unsure(error))?;
            messages.parts.indexer.note_activity();
            if let ApplyOutcome::Resolved(applied) = &outcome {
                messages.announce(applied);
            }
            Ok(outcome)
        })
        .await
    }

    async fn apply(&self, request: ResolveRequest) -> Result<ApplyOutcome, StoreError> {
        let store = &self.parts.store;
        let again = (store.is_shared() || request.command.is_by_agent()).then(|| request.clone());
        let applied = match (store.run(Apply(request)).await, &again) {
            (Err(StoreError::CommitUnknown(_)), Some(request)) => reconcile(|| self.apply_or_find(request)).await,
            (applied, _) => applied,
        };
        match (applied, again) {
            (Ok(ApplyOutcome::Rejected(Rejection::Held { until, .. })), Some(request))
                if request.command.is_by_agent() =>
            {
                Box::pin(self.apply_after_hold(request, until)).await
            }
            (applied, _) => applied,
        }
    }

    async fn apply_or_find(&self, request: &ResolveRequest) -> Result<ApplyOutcome, StoreError> {
        let outcome = self.parts.store.run(Apply(request.clone())).await?;
        self.find_own(request, outcome).await
    }

    /// The stored outcome instead of a rejection, if this very request produced it.
    async fn find_own(&self, request: &ResolveRequest, outcome: ApplyOutcome) -> Result<ApplyOutcome, StoreError> {
        let ApplyOutcome::Rejected(Rejection::AlreadyTerminal { .. }) = &outcome else {
            return Ok(outcome);
        };
        let store = &self.parts.store;
        let view = store.run(Pull(request.message_id.clone())).await?;
        // The view of its agent has no content that says whether the answer is a no.
        let item = store.run(View(request.message_id.clone())).await?;
        Ok(match (view, item) {
            (Some(Lookup::Present(view)), Some(Lookup::Present(item))) => {
                own_resolution(view, &item.message, request).unwrap_or(outcome)
            }
            _ => outcome,
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
        let wanted = wanted_outcome(&command);
        let outcome = self.decide_with_files(message_id, command, files).await?;
        expect_outcome(message_id, wanted, outcome)
    }

    /// Expires an overdue message that is read before the timer got to it. Returns whether it has ended since.
    pub async fn expire_if_overdue(self: &Arc<Self>, view: &AgentView) -> Result<bool, StoreError> {
        let is_open = matches!(view.state, State::Open);
        if !is_open || !is_overdue_at(view.expires_at, self.parts.store.clock().now()) {
            return Ok(false);
        }
        // Boxed because it is rare: inline, its state would enlarge every waiting future.
        let outcome = Box::pin(self.decide(&view.id, Command::Expire)).await?;
        // An answer on hold came in time; for the agent the message stays open until the hold ends.
        Ok(!matches!(outcome, ApplyOutcome::Rejected(Rejection::Held { .. })))
    }

    /// Call after the commit of every new message: the inbox, the search index, the expiry timer and the metrics.
    pub fn announce_accepted(&self, accepted: &Accepted) {
        let Accepted { id, kind, expires_at } = accepted;
        self.parts.metrics.submitted(kind.as_str());
        if let Some(expires_at) = expires_at {
            self.expiry_alarm.due(*expires_at);
        }
        self.parts.indexer.note_submitted();
        tracing::debug!(message_id = %id, kind = kind.as_str(), "message submitted");
        self.parts.live.publish(match kind {
            Kind::Notify => LiveChange::Noticed(id.clone()),
            Kind::Ask | Kind::Task => LiveChange::Opened(id.clone()),
        });
    }

    /// Call after the commit of every resolution: wakes waiters, runs, pages, other nodes and the outbox.
    pub fn announce(&self, applied: &ResolvedMessage) {
        let id = &applied.view.id;
        let resolution = &applied.resolution;
        let outcome = resolution.outcome;
        self.parts.metrics.resolved(&Decision {
            door: applied.view.source.door().as_str(),
            outcome: outcome.as_str(),
            took: resolution.resolved_at.since(applied.view.received_at),
            is_default: resolution.defaulted,
            is_denied: applied.is_no,
        });
        match &applied.view.source {
            Source::A2h(_) => self.parts.cue_waiters.forget(id),
            Source::Hap(_) => self.parts.cue_waiters.cue_ended(id),
            Source::Runs(_) => self.parts.runs.resolved(&applied.view, resolution.resolved_at),
        }
        self.waiters.wake(&applied.view);
        if self.parts.cluster.is_first_notice(id) {
            self.parts.live.publish_local(LiveChange::Resolved(id.clone()));
        }
        self.parts.cluster.publish(|| Signal::Resolved {
            id: id.clone(),
            run: run_of(&applied.view),
        });
        if let Some(host) = &applied.push_host {
            self.parts.outbox.wake(host);
        }
        tracing::debug!(message_id = %id, %outcome, "message resolved");
    }

    /// Whether a process waits for this message here, or an agent at another node.
    pub fn is_awaited(&self, id: &MessageId) -> bool {
        self.waiters.has_waiter(id) || self.parts.cue_waiters.has_agent(id)
    }

    /// Call after a failed submit or resolve. If the commit may have happened, waiters, pages and other nodes re-read
    /// everything.
    pub fn resync_if_unsure(&self, error: &StoreError) {
        if matches!(error, StoreError::CommitUnknown(_)) {
            self.waiters.invalidate_all();
            self.parts.live.publish_resync();
            self.parts.cluster.publish_resync();
        }
    }
}

fn wanted_outcome(command: &Command) -> Outcome {
    match command {
        Command::Resolve { verdict, .. } => verdict.outcome(),
        Command::Cancel | Command::Supersede { .. } => Outcome::Cancelled,
        Command::Expire => Outcome::Expired,
    }
}

fn expect_outcome(message_id: &MessageId, wanted: Outcome, outcome: ApplyOutcome) -> Result<Resolution, Problem> {
    match outcome {
        ApplyOutcome::Resolved(applied) if applied.resolution.outcome == wanted => Ok(applied.resolution),
        // The command came after the expiry, and so caused it.
        ApplyOutcome::Resolved(applied) => Err(Rejection::already(message_id, &applied.resolution).into()),
        ApplyOutcome::Rejected(rejection) => Err(rejection.into()),
        ApplyOutcome::Purged => Err(Problem::Gone),
        ApplyOutcome::NotFound => Err(Problem::no_message()),
    }
}

/// The request, with a new resolution id.
fn resolve_request(message_id: &MessageId, command: Command, files: Vec<Vec<u8>>) -> ResolveRequest {
    ResolveRequest {
        message_id: message_id.clone(),
        command,
        resolution_id: ResolutionId::from_uuid(Uuid::new_v4()),
        files,
    }
}

/// Resolves an unsure commit: `attempt` finds the outcome by its own id, or applies the command again.
async fn reconcile<T, F>(attempt: impl Fn() -> F) -> Result<T, StoreError>
where
    F: Future<Output = Result<T, StoreError>>,
{
    let began = Instant::now();
    loop {
        tokio::time::sleep(RECONCILE_INTERVAL).await;
        match attempt().await {
            // Still unsure, because the first commit may stand.
            Err(error) if began.elapsed() > RECONCILE_TIMEOUT => {
                return Err(StoreError::CommitUnknown(error.to_string()));
            }
            Err(_) => {}
            applied => return applied,
        }
    }
}

fn run_of(view: &AgentView) -> Option<String> {
    match &view.source {
        Source::Runs(source) => Some(source.run_id.clone()).filter(|run_id| !run_id.is_empty()),
        Source::A2h(_) | Source::Hap(_) => None,
    }
}

/// The stored outcome, if this very request produced it. The outbox finds its push by polling, so no host is given.
fn own_resolution(view: AgentView, message: &Message, request: &ResolveRequest) -> Option<ApplyOutcome> {
    let State::Resolved(resolution) = &view.state else {
        return None;
    };
    let resolution = Some(resolution.clone()).filter(|resolution| resolution.id == request.resolution_id)?;
    Some(ApplyOutcome::Resolved(Box::new(ResolvedMessage {
        resolution,
        is_no: Ending::of_message(message).is_some_and(Ending::is_no),
        view,
        push_host: None,
    })))
}
