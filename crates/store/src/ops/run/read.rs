//! Decodes rows into runs.

use super::convert::count;
use super::model::{Run, RunCursor, RunEnding, RunPhase, RunSummary, StoredRunState};
use crate::error::StoreError;
use crate::exec::Row;

/// The columns that `summary` reads, then `$more`, which begin at `SUMMARY`.
macro_rules! select_runs {
    ($more:literal, $($rest:tt)+) => {
        concat!(
            "SELECT r.seq, r.run_id, r.strategy_path, r.strategy_name, r.cwd, r.status, r.completed_at, r.segment, \
             r.started_at, r.last_seq",
            $more,
            " FROM run r ",
            $($rest)+
        )
    };
}
pub(super) use select_runs;

const SUMMARY: usize = 10;

/// The columns that `run` reads.
macro_rules! select_whole_runs {
    ($($rest:tt)+) => {
        $crate::ops::run::read::select_runs!(
            ", r.phase, r.pruned_seq, r.machine, t.body, r.node",
            "JOIN run_text t ON t.seq = r.seq ",
            $($rest)+
        )
    };
}
pub(super) use select_whole_runs;

pub fn summary(row: &mut Row) -> Result<RunSummary, StoreError> {
    Ok(RunSummary {
        seq: row.int(0)?,
        run_id: row.text(1)?,
        strategy_path: row.text(2)?,
        strategy_name: row.text(3)?,
        cwd: row.text(4)?,
        state: state(row, 5)?,
        segment: count(row, 7)?,
        started_at: row.instant(8)?,
        last_seq: count(row, 9)?,
    })
}

/// The cursor of a row, whether or not the rest of it can be read.
pub fn cursor(row: &mut Row) -> Result<RunCursor, StoreError> {
    Ok(RunCursor {
        started_at: row.instant(8)?,
        seq: row.int(0)?,
    })
}

pub fn run(row: &mut Row) -> Result<Run, StoreError> {
    let phase = row.text(SUMMARY)?;
    Ok(Run {
        summary: summary(row)?,
        phase: RunPhase::parse(&phase)
            .ok_or_else(|| StoreError::Corrupt(format!("{phase} is not a phase of a run")))?,
        pruned_seq: count(row, SUMMARY + 1)?,
        machine: row.text(SUMMARY + 2)?,
        body: row.text(SUMMARY + 3)?,
        node: row.text(SUMMARY + 4)?,
    })
}

/// From two columns: status and completed_at.
pub fn state(row: &mut Row, column: usize) -> Result<StoredRunState, StoreError> {
    let status = row.text(column)?;
    match (status.as_str(), RunEnding::parse(&status), row.opt_instant(column + 1)?) {
        ("running", None, None) => Ok(StoredRunState::Running),
        (_, Some(ending), Some(at)) => Ok(StoredRunState::Ended { ending, at }),
        (_, Some(_) | None, _) => Err(StoreError::Corrupt(format!(
            "a run has status {status} without a matching completion time"
        ))),
    }
}
