//! What runs there are.

use countersign_protocol::runs::{ListedRun, LiveRun};
use countersign_store::StoreError;
use countersign_store::ops::run::{ListRuns, RunSummary};

use crate::app::Hub;

/// The wire has no pages.
const MOST_LISTED: i64 = 1000;

impl Hub {
    /// Those in memory, in the order of their starts.
    pub fn live_runs(&self) -> Vec<LiveRun> {
        let mut runs: Vec<LiveRun> = self.runs.all().iter().map(|run| run.listed()).collect();
        runs.sort_by(|one, other| (one.started_at, &one.run_id).cmp(&(other.started_at, &other.run_id)));
        runs
    }

    /// Those that are stored, the latest first.
    pub async fn stored_runs(&self, cwd: Option<String>) -> Result<Vec<ListedRun>, StoreError> {
        let page = self.store.run(ListRuns { cwd, before: None, limit: MOST_LISTED }).await?;
        Ok(page.runs.into_iter().map(listed).collect())
    }
}

fn listed(run: RunSummary) -> ListedRun {
    let (status, completed_at) = (run.state.status(), run.state.completed_at());
    let RunSummary { run_id, cwd, strategy_name, strategy_path, started_at, .. } = run;
    ListedRun { run_id, cwd, strategy_name, strategy_path, started_at, completed_at, status }
}
