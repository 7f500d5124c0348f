//! The one way in: messages are accepted, decided and announced here, whatever door they came by. Only `doors/hap/import.rs`
//! stores cues that were asked, and perhaps answered, in another program before.

pub mod cue_waiters;
mod decide;
mod run_host;
mod timers;

use std::sync::Arc;

use countersign_core::message::Source;
use countersign_protocol::a2h::Kind;
use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;
use countersign_runs::RunRegistry;
use countersign_store::completion::run_to_completion;
use countersign_store::model::{AgentView, NewMessage, ResolvedMessage, Submission};
use countersign_store::ops::message::submit::Submit;
use countersign_store::waiters::Waiters;
use countersign_store::{Store, StoreError};
use timers::Alarm;
use tokio::sync::watch;

use crate::background::indexer::Indexer;
use crate::cluster::{Cluster, LiveChange, Signal};
use crate::delivery::Outbox;
use crate::live::LiveBroadcaster;
use crate::messages::cue_waiters::CueWaiters;
use crate::metrics::Metrics;
pub use timers::{expire, purge, purge_once};

pub struct MessagesParts {
    pub store: Arc<Store>,
    pub live: Arc<LiveBroadcaster>,
    pub cluster: Arc<Cluster>,
    pub cue_waiters: Arc<CueWaiters>,
    pub runs: Arc<RunRegistry>,
    pub outbox: Arc<Outbox>,
    pub indexer: Arc<Indexer>,
    pub(crate) metrics: Arc<Metrics>,
    pub stopping: watch::Receiver<bool>,
}

pub struct Messages {
    parts: MessagesParts,
    pub waiters: Arc<Waiters>,
    expiry_alarm: Alarm,
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

    /// Call after the commit of every new message: the inbox, the search index, the expiry timer and the metrics.
    pub fn announce_accepted(&self, accepted: &Accepted) {
        let Accepted { id, kind, expires_at } = accepted;
        self.parts.metrics.submitted(*kind);
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
        let id = &applied.pulled.id;
        let outcome = applied.resolution.outcome;
        self.parts.metrics.resolved(outcome);
        self.parts.cue_waiters.cue_ended(id);
        self.parts
            .runs
            .resolved(&applied.pulled, applied.resolution.resolved_at);
        self.waiters.wake(&applied.pulled);
        if self.parts.cluster.is_first_notice(id) {
            self.parts.live.publish_local(LiveChange::Resolved(id.clone()));
        }
        self.parts.cluster.publish(|| Signal::Resolved {
            id: id.clone(),
            run: run_of(&applied.pulled),
        });
        if let Some(host) = &applied.push_host {
            self.parts.outbox.wake(host);
        }
        tracing::debug!(message_id = %id, %outcome, "message resolved");
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

fn run_of(pulled: &AgentView) -> Option<String> {
    match &pulled.source {
        Source::Runs(source) => Some(source.run_id.clone()).filter(|run_id| !run_id.is_empty()),
        Source::A2h(_) | Source::Hap(_) => None,
    }
}
