//! The list of runs, latest start first.

use countersign_protocol::runs::RunStatus;
use countersign_protocol::time::Timestamp;
use countersign_runs::{PendingAskView, RunView, pending_views};
use countersign_store::StoreError;
use countersign_store::ops::run::{ListRuns, RunCursor, RunSummary};

use crate::Hub;

/// Rows scanned for one page when the list is filtered by status; the next page continues from there.
const MAX_SCANNED_RUNS: i64 = 1000;

/// A run by its latest segment. Its history comes from the store, its pending asks from the hub's memory.
pub struct RunOverview {
    pub run_id: String,
    pub strategy_name: String,
    pub strategy_path: String,
    pub cwd: String,
    pub status: RunStatus,
    pub segment: u64,
    pub started_at: Timestamp,
    pub completed_at: Option<Timestamp>,
    pub last_seq: u64,
    /// Oldest first.
    pub waiting: Vec<PendingAskView>,
}

impl RunOverview {
    pub fn of(hub: &Hub, run: RunSummary) -> Self {
        let live = live(hub, &run.run_id, run.segment);
        let is_prepared = live.as_ref().is_some_and(|live| live.status == RunStatus::Pending);
        let status = run.state.status();
        // A finished run that was prepared again is about to continue.
        let is_next = is_prepared && status.is_over();
        Self {
            status: if is_next { RunStatus::Pending } else { status },
            completed_at: run.state.completed_at().filter(|_| !is_next),
            segment: run.segment,
            started_at: run.started_at,
            last_seq: live.as_ref().map_or(run.last_seq, |live| live.last_seq),
            waiting: live
                .map(|live| live.waiting)
                .filter(|_| !status.is_over())
                .unwrap_or_default(),
            run_id: run.run_id,
            strategy_name: run.strategy_name,
            strategy_path: run.strategy_path,
            cwd: run.cwd,
        }
    }

    /// Adds the pending asks of a run that another node owns.
    pub async fn with_remote_asks(mut self, hub: &Hub) -> Result<Self, StoreError> {
        if hub.store.is_shared()
            && self.status == RunStatus::Running
            && hub
                .runs
                .registry
                .get(&self.run_id)
                .is_none_or(|run| run.command_sender().is_none())
        {
            self.waiting = pending_views(&hub.runs.pending_in_store(&self.run_id).await?);
        }
        Ok(self)
    }

    /// A run that was prepared and never started, so the store does not know it.
    pub fn in_memory(run_id: &str, view: RunView) -> Self {
        Self {
            run_id: run_id.to_owned(),
            strategy_name: view.plan.strategy.name.clone(),
            strategy_path: view.plan.strategy_path.clone(),
            cwd: view.plan.cwd.clone(),
            status: view.status,
            segment: view.segment,
            started_at: view.started_at,
            completed_at: view.completed_at,
            last_seq: view.last_seq,
            waiting: view.waiting,
        }
    }
}

/// The local view of a segment. Returns `None` if another node started the segment, even when an earlier one is here.
fn live(hub: &Hub, run_id: &str, segment: u64) -> Option<RunView> {
    hub.runs
        .registry
        .get(run_id)
        .map(|run| run.view())
        .filter(|view| view.segment == segment)
}

/// Filter and page of the list.
pub struct RunListQuery {
    pub status: Option<RunStatus>,
    pub cwd: Option<String>,
    pub before: Option<RunCursor>,
    pub limit: i64,
}

/// Returns prepared runs that never started, then started runs, and the cursor of the next page.
pub async fn runs(hub: &Hub, query: RunListQuery) -> Result<(Vec<RunOverview>, Option<RunCursor>), StoreError> {
    let RunListQuery {
        status,
        cwd,
        before,
        limit,
    } = query;
    let is_match = |run: &RunOverview| status.is_none_or(|status| status == run.status);
    let max_runs = usize::try_from(limit).unwrap_or(0);
    let mut found = Vec::new();
    if before.is_none() {
        found = prepared(hub, cwd.as_deref()).into_iter().filter(is_match).collect();
        // Every page needs at least one started run, because the cursor points at a started run.
        found.truncate(max_runs.saturating_sub(1));
    }
    let scan_limit = if status.is_some() {
        MAX_SCANNED_RUNS.max(limit)
    } else {
        limit
    };
    let page = hub
        .store
        .run(ListRuns {
            cwd,
            before,
            limit: scan_limit,
        })
        .await?;
    let mut last = None;
    let mut next = page.next;
    for summary in page.runs {
        let cursor = summary.cursor();
        let run = RunOverview::of(hub, summary).with_remote_asks(hub).await?;
        if !is_match(&run) {
            continue;
        }
        if found.len() == max_runs {
            next = last;
            break;
        }
        last = Some(cursor);
        found.push(run);
    }
    Ok((found, next))
}

/// Prepared runs that never started, latest first. They exist in memory only.
fn prepared(hub: &Hub, cwd: Option<&str>) -> Vec<RunOverview> {
    let runs = hub
        .runs
        .registry
        .all()
        .into_iter()
        .map(|run| (run.id.clone(), run.view()));
    let runs = runs.filter(|(_, view)| view.segment == 0 && view.status == RunStatus::Pending);
    let runs = runs.filter(|(_, view)| cwd.is_none_or(|cwd| cwd == view.plan.cwd));
    let mut runs: Vec<RunOverview> = runs
        .map(|(run_id, view)| RunOverview::in_memory(&run_id, view))
        .collect();
    runs.sort_by(|one, other| (other.started_at, &other.run_id).cmp(&(one.started_at, &one.run_id)));
    runs
}
