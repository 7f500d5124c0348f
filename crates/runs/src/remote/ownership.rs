//! Ownership: finding a run in memory, in the store, or on another node. On a shared store a run that has ended here may have
//! been continued by another node.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use countersign_protocol::runs::is_run_id;
use countersign_store::StoreError;
use countersign_store::ops::run::{FollowRun, NewSegment, RunVersion, RunVersions, StoredRunState as StoredState};

use super::replicas::AddedReplica;
use crate::refusal::RunRefusal;
use crate::run::{RunStage, TrackedRun, TrackedRunState};
use crate::service::RunService;

/// Reconciliation interval for lost signals.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Runs checked in one query.
const MAX_CHECKED_TOGETHER: usize = 1000;

/// Why a run could not be looked up.
#[derive(Debug)]
pub enum FindRunError {
    Store(StoreError),
    /// The limit of replicas is reached.
    TooManyReplicas {
        limit: usize,
    },
}

impl From<StoreError> for FindRunError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<FindRunError> for RunRefusal {
    fn from(error: FindRunError) -> Self {
        match error {
            FindRunError::Store(error) => error.into(),
            FindRunError::TooManyReplicas { limit } => Self::TooManyReplicas { limit },
        }
    }
}

/// Runs until dropped. On an unshared store it stays pending.
pub async fn watch(service: Arc<RunService>) {
    if !service.store.is_shared() {
        return std::future::pending().await;
    }
    loop {
        tokio::time::sleep(CHECK_INTERVAL).await;
        if let Err(error) = service.check_watched_runs().await {
            tracing::warn!(%error, "checking followed runs of other nodes failed; retrying");
        }
    }
}

impl RunService {
    /// Finds a run in memory, an ended run in the store, or a run of another node.
    pub async fn find_run(self: &Arc<Self>, run_id: &str) -> Result<Option<Arc<TrackedRun>>, FindRunError> {
        if let Some(run) = self.current_run(run_id).await? {
            return Ok(Some(run));
        }
        if !is_run_id(run_id) {
            return Ok(None);
        }
        let whole = FollowRun {
            run_id: run_id.to_owned(),
            after: None,
            limit: 0,
            known_segment: None,
        };
        let Some(found) = self.store.run(whole).await? else {
            return Ok(None);
        };
        let Some(NewSegment { run: stored, .. }) = found.new_segment else {
            return Ok(None);
        };
        let state = TrackedRunState::stored(&stored, found.last_event, found.open, &self.registry.byte_budget)?;
        let run = TrackedRun::new(run_id.to_owned(), state);
        match stored.summary.state {
            StoredState::Ended { .. } => Ok(Some(self.registry.adopt(run))),
            StoredState::Running if self.store.is_shared() => self.open_replica(run).map(Some),
            StoredState::Running => Ok(None),
        }
    }

    /// Adds a replica, kept while it has followers. No await may come between adding it and spawning its task.
    fn open_replica(self: &Arc<Self>, run: Arc<TrackedRun>) -> Result<Arc<TrackedRun>, FindRunError> {
        match self.registry.add_replica(run) {
            AddedReplica::New(run, wakeup) => {
                self.spawn_replica_task(&run, wakeup);
                Ok(run)
            }
            AddedReplica::Existing(run) => Ok(run),
            AddedReplica::TooManyReplicas { limit } => Err(FindRunError::TooManyReplicas { limit }),
        }
    }

    /// The run in memory, checked against the store. If another node continued it, it becomes a replica, or is forgotten if it has
    /// no followers.
    pub(crate) async fn current_run(self: &Arc<Self>, run_id: &str) -> Result<Option<Arc<TrackedRun>>, StoreError> {
        let Some(run) = self.registry.get(run_id) else {
            return Ok(None);
        };
        if !self.store.is_shared() || run.is_authoritative() {
            return Ok(Some(run));
        }
        let version = self
            .store
            .run(RunVersions {
                run_ids: vec![run_id.to_owned()],
            })
            .await?
            .pop();
        if !version.is_some_and(|version| run.is_behind(&version)) {
            return Ok(Some(run));
        }
        if self.registry.forget_if_idle(&run) {
            return Ok(None);
        }
        self.follow_remote(&run);
        self.refresh(&run).await?;
        Ok(Some(run))
    }

    /// True if no other node can own the run.
    pub(crate) async fn is_run_local(self: &Arc<Self>, run_id: &str) -> bool {
        // On a store error the caller tries the other nodes.
        !self.store.is_shared() || matches!(self.current_run(run_id).await, Ok(Some(run)) if !run.is_remote())
    }

    fn follow_remote(self: &Arc<Self>, run: &Arc<TrackedRun>) {
        if run.is_past() {
            self.become_replica(run);
        }
    }

    /// Handles the signal that another node has stored events of a run.
    pub fn on_remote_advance(self: &Arc<Self>, run_id: &str) {
        if self.registry.wake_replica(run_id) || self.registry.get(run_id).is_none_or(|run| run.is_authoritative()) {
            return;
        }
        let service = Arc::clone(self);
        let run_id = run_id.to_owned();
        tokio::spawn(async move {
            if let Err(error) = service.current_run(&run_id).await {
                tracing::warn!(run_id, %error, "reading a run continued by another node failed");
            }
        });
    }

    /// Checks the row versions of all watched runs, in batches.
    async fn check_watched_runs(self: &Arc<Self>) -> Result<(), StoreError> {
        for some in self.registry.watched().chunks(MAX_CHECKED_TOGETHER) {
            let run_ids = some.iter().map(|run| run.id.clone()).collect();
            let versions = self.store.run(RunVersions { run_ids }).await?;
            let versions: HashMap<_, _> = versions
                .iter()
                .map(|version| (version.run_id.as_str(), version))
                .collect();
            for run in some {
                let version = versions.get(run.id.as_str()).copied();
                match version {
                    Some(version) if run.is_behind(version) => self.follow_remote(run),
                    Some(_) | None => self.registry.wake_if_changed(run, version),
                }
            }
        }
        Ok(())
    }
}

impl TrackedRun {
    /// True if the store has nothing newer to say: the run is driven here, is a replica, or was never stored.
    pub fn is_authoritative(&self) -> bool {
        let state = self.lock();
        match &state.stage {
            RunStage::Starting(_) | RunStage::Running(_) | RunStage::Remote => true,
            RunStage::Prepared(_) => !state.is_stored(),
            RunStage::Over { .. } | RunStage::Forgotten => false,
        }
    }

    fn is_past(&self) -> bool {
        matches!(self.lock().stage, RunStage::Over { .. } | RunStage::Prepared(_))
    }

    /// True if another node has continued the run.
    fn is_behind(&self, version: &RunVersion) -> bool {
        let state = self.lock();
        let is_running = version.state == StoredState::Running;
        match &state.stage {
            RunStage::Over { .. } => version.segment != state.segment || is_running,
            // The row version may be older than this preparation.
            RunStage::Prepared(_) => {
                version.segment > state.segment || (version.segment == state.segment && is_running)
            }
            RunStage::Starting(_) | RunStage::Running(_) | RunStage::Remote | RunStage::Forgotten => false,
        }
    }
}
