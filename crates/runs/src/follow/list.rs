//! Listing runs.

use std::collections::HashMap;
use std::sync::Arc;

use countersign_protocol::runs::{ListedRun, LiveRun, PendingInput};
use countersign_store::StoreError;
use countersign_store::ops::run::{ListRuns, RunSummary, StoredRunState};

use super::pending::PendingAsk;
use crate::run::TrackedRun;
use crate::service::RunService;

/// The protocol has no paging.
const MAX_LISTED: i64 = 1000;

impl RunService {
    /// Runs in memory and running runs of other nodes, ordered by start.
    pub async fn live_runs(self: &Arc<Self>) -> Result<Vec<LiveRun>, StoreError> {
        let mut known: HashMap<String, Arc<TrackedRun>> = self
            .registry
            .all()
            .into_iter()
            .map(|run| (run.id.clone(), run))
            .collect();
        let mut runs = Vec::new();
        if self.store.is_shared() {
            let page = self
                .store
                .run(ListRuns {
                    cwd: None,
                    before: None,
                    limit: MAX_LISTED,
                })
                .await?;
            for run in page.runs.into_iter().filter(|run| run.state == StoredRunState::Running) {
                // A run that has ended or is only prepared here was continued by another node.
                if known.get(&run.run_id).is_some_and(|known| known.is_authoritative()) {
                    continue;
                }
                known.remove(&run.run_id);
                let pending = self.pending_in_store(&run.run_id).await?;
                runs.push(live(run, pending.iter().filter_map(PendingAsk::input).collect()));
            }
        }
        runs.extend(known.values().map(|run| run.listed()));
        runs.sort_by(|one, other| (one.started_at, &one.run_id).cmp(&(other.started_at, &other.run_id)));
        Ok(runs)
    }

    /// Stored runs, latest first.
    pub async fn stored_runs(self: &Arc<Self>, cwd: Option<String>) -> Result<Vec<ListedRun>, StoreError> {
        let page = self
            .store
            .run(ListRuns {
                cwd,
                before: None,
                limit: MAX_LISTED,
            })
            .await?;
        Ok(page.runs.into_iter().map(listed).collect())
    }
}

fn live(run: RunSummary, pending_inputs: Vec<PendingInput>) -> LiveRun {
    LiveRun {
        run_id: run.run_id,
        strategy_name: run.strategy_name,
        status: run.state.status(),
        started_at: run.started_at,
        completed_at: None,
        pending_inputs,
    }
}

fn listed(run: RunSummary) -> ListedRun {
    let status = run.state.status();
    let completed_at = run.state.completed_at();
    let RunSummary {
        run_id,
        cwd,
        strategy_name,
        strategy_path,
        started_at,
        ..
    } = run;
    ListedRun {
        run_id,
        cwd,
        strategy_name,
        strategy_path,
        started_at,
        completed_at,
        status,
    }
}
