//! Where a run is: in memory, in the store, or at another hub. On a store that others share, what is over here proves nothing:
//! another hub may have gone on with it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use countersign_protocol::runs::is_run_id;
use countersign_store::StoreError;
use countersign_store::ops::run::{Entered, FollowRun, Glance, GlanceAtRuns, RunState as StoredState};

use super::mirrors::Put;
use super::refusal::Refusal;
use super::run::{Run, RunState, Stage};
use crate::app::Hub;

/// The net under the words of the hubs that move runs.
const ROUND: Duration = Duration::from_secs(1);
/// Runs that are asked about together.
const MOST: usize = 1000;

/// Why a run that may be there is not found.
#[derive(Debug)]
pub enum NotFound {
    Store(StoreError),
    /// So many runs of other hubs are followed here.
    TooMany(usize),
}

impl From<StoreError> for NotFound {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl NotFound {
    pub fn refuse(self, refuse: fn(String) -> Refusal) -> Refusal {
        match self {
            Self::Store(error) => error.into(),
            Self::TooMany(most) => refuse(format!(
                "{most} runs of other hubs are followed here, and no more may be; ask the hub itself"
            )),
        }
    }
}

/// Runs until it is dropped; without peers it waits for ever.
pub async fn watch(hub: Arc<Hub>) {
    if !hub.store.is_shared() {
        return std::future::pending().await;
    }
    loop {
        tokio::time::sleep(ROUND).await;
        if let Err(error) = hub.look_around().await {
            tracing::warn!(%error, "runs of other hubs could not be looked at");
        }
    }
}

impl Hub {
    /// One in memory, one that is over and in the store, or one of another hub.
    pub async fn find_run(&self, run_id: &str) -> Result<Option<Arc<Run>>, NotFound> {
        if let Some(run) = self.known_run(run_id).await? {
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
        let Some(Entered { run: stored, .. }) = found.entered else {
            return Ok(None);
        };
        let state = RunState::stored(&stored, found.last_event, found.open, &self.runs.together)?;
        let run = Run::new(run_id.to_owned(), state);
        match stored.summary.state {
            StoredState::Ended { .. } => Ok(Some(self.runs.adopt(run))),
            StoredState::Running if self.store.is_shared() => self.mirror(run).map(Some),
            StoredState::Running => Ok(None),
        }
    }

    /// Here from now on, for as long as somebody follows it. Nothing may wait between the two.
    fn mirror(&self, run: Arc<Run>) -> Result<Arc<Run>, NotFound> {
        match self.runs.put_mirror(run) {
            Put::New(run, bell) => {
                self.follow_elsewhere(&run, bell);
                Ok(run)
            }
            Put::Known(run) => Ok(run),
            Put::TooMany(most) => Err(NotFound::TooMany(most)),
        }
    }

    /// One in memory, as it is now: if another hub has gone on with it, it is followed, or forgotten where nobody does.
    pub(super) async fn known_run(&self, run_id: &str) -> Result<Option<Arc<Run>>, StoreError> {
        let Some(run) = self.runs.get(run_id) else {
            return Ok(None);
        };
        if !self.store.is_shared() || run.is_certain() {
            return Ok(Some(run));
        }
        let glance = self
            .store
            .run(GlanceAtRuns {
                run_ids: vec![run_id.to_owned()],
            })
            .await?
            .pop();
        if !glance.is_some_and(|glance| run.is_behind(&glance)) {
            return Ok(Some(run));
        }
        if self.runs.forget_past(&run) {
            return Ok(None);
        }
        self.gone_on_elsewhere(&run);
        self.refresh(&run).await?;
        Ok(Some(run))
    }

    /// Whether nobody else has to be asked.
    pub(super) async fn is_run_here(&self, run_id: &str) -> bool {
        // What cannot be known now is for whoever asks the others.
        !self.store.is_shared() || matches!(self.known_run(run_id).await, Ok(Some(run)) if !run.is_elsewhere())
    }

    fn gone_on_elsewhere(&self, run: &Arc<Run>) {
        if run.is_past() {
            self.moved_elsewhere(run);
        }
    }

    /// Another hub has stored something of a run.
    pub(crate) fn advanced_elsewhere(&self, run_id: &str) {
        if self.runs.ring_mirror(run_id) || self.runs.get(run_id).is_none_or(|run| run.is_certain()) {
            return;
        }
        let Some(hub) = self.me.upgrade() else { return };
        let run_id = run_id.to_owned();
        tokio::spawn(async move {
            if let Err(error) = hub.known_run(&run_id).await {
                tracing::warn!(run_id, %error, "a run that goes on elsewhere could not be looked at");
            }
        });
    }

    /// All that may have become different elsewhere, in one question.
    async fn look_around(&self) -> Result<(), StoreError> {
        for some in self.runs.watched().chunks(MOST) {
            let run_ids = some.iter().map(|run| run.id.clone()).collect();
            let glances = self.store.run(GlanceAtRuns { run_ids }).await?;
            let glances: HashMap<_, _> = glances.iter().map(|glance| (glance.run_id.as_str(), glance)).collect();
            for run in some {
                let glance = glances.get(run.id.as_str()).copied();
                match glance {
                    Some(glance) if run.is_behind(glance) => self.gone_on_elsewhere(run),
                    Some(_) | None => self.runs.compare(run, glance),
                }
            }
        }
        Ok(())
    }
}

impl Run {
    /// Nobody else can know more of it: it is moved here, is followed already, or was never stored.
    pub fn is_certain(&self) -> bool {
        let state = self.lock();
        match &state.stage {
            Stage::Starting(_) | Stage::Running(_) | Stage::Elsewhere => true,
            Stage::Prepared(_) => !state.is_stored(),
            Stage::Over { .. } | Stage::Forgotten => false,
        }
    }

    fn is_past(&self) -> bool {
        matches!(self.lock().stage, Stage::Over { .. } | Stage::Prepared(_))
    }

    /// Another hub has gone on with it.
    fn is_behind(&self, glance: &Glance) -> bool {
        let state = self.lock();
        let is_running = glance.state == StoredState::Running;
        match &state.stage {
            Stage::Over { .. } => glance.segment != state.segment || is_running,
            // What was seen may be older than this preparation.
            Stage::Prepared(_) => glance.segment > state.segment || (glance.segment == state.segment && is_running),
            Stage::Starting(_) | Stage::Running(_) | Stage::Elsewhere | Stage::Forgotten => false,
        }
    }
}
