//! The runs there are, the latest to start first.

use countersign_protocol::runs::RunStatus;
use countersign_protocol::time::Timestamp;
use countersign_store::StoreError;
use countersign_store::ops::run::{ListRuns, RunPlace, RunSummary};

use crate::app::Hub;
use crate::runs::{Look, Wait};

/// So many are looked at for those of one status; the next page looks further.
const MOST_LOOKED_AT: i64 = 1000;

/// A run by its latest segment. The store knows what it did, and the hub's memory what it waits for.
pub struct Listed {
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
    pub waiting: Vec<Wait>,
}

impl Listed {
    pub fn of(hub: &Hub, run: RunSummary) -> Self {
        let live = hub.runs.get(&run.run_id).map(|run| run.look());
        let is_prepared = live.as_ref().is_some_and(|live| live.status == RunStatus::Pending);
        let status = run.state.status();
        Self {
            // Prepared once more, it is about to go on.
            status: if is_prepared && status.is_over() { RunStatus::Pending } else { status },
            completed_at: run.state.completed_at(),
            segment: run.segment,
            started_at: run.started_at,
            last_seq: live.as_ref().map_or(run.last_seq, |live| live.last_seq),
            waiting: live.map(|live| live.waiting).filter(|_| !status.is_over()).unwrap_or_default(),
            run_id: run.run_id,
            strategy_name: run.strategy_name,
            strategy_path: run.strategy_path,
            cwd: run.cwd,
        }
    }

    /// One that the store does not know: it was prepared and never begun.
    pub fn in_memory(run_id: &str, look: Look) -> Self {
        Self {
            run_id: run_id.to_owned(),
            strategy_name: look.plan.strategy.name.clone(),
            strategy_path: look.plan.strategy_path.clone(),
            cwd: look.plan.cwd.clone(),
            status: look.status,
            segment: look.segment,
            started_at: look.started_at,
            completed_at: look.completed_at,
            last_seq: look.last_seq,
            waiting: look.waiting,
        }
    }
}

/// Which of them.
pub struct Asking {
    pub status: Option<RunStatus>,
    pub cwd: Option<String>,
    pub before: Option<RunPlace>,
    pub limit: i64,
}

/// Those that have begun, and where the list goes on.
pub async fn runs(hub: &Hub, asking: Asking) -> Result<(Vec<Listed>, Option<RunPlace>), StoreError> {
    let Asking { status, cwd, before, limit } = asking;
    let looked_at = if status.is_some() { MOST_LOOKED_AT.max(limit) } else { limit };
    let page = hub.store.run(ListRuns { cwd, before, limit: looked_at }).await?;
    let (most, mut found, mut last, mut next) = (usize::try_from(limit).unwrap_or(0), Vec::new(), None, page.next);
    for summary in page.runs {
        let place = summary.place();
        let run = Listed::of(hub, summary);
        if status.is_some_and(|status| status != run.status) {
            continue;
        }
        if found.len() == most {
            next = last;
            break;
        }
        last = Some(place);
        found.push(run);
    }
    Ok((found, next))
}
