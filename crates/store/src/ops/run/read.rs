//! Decodes rows into runs.

use super::convert::count;
use super::model::{Run, RunCursor, RunEnding, RunPhase, RunSummary, StoredRunState};
use crate::error::StoreError;
use crate::exec::Row;

/// The columns that `summary` reads, then `$more`.
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

const SEQ: usize = 0;
const RUN_ID: usize = 1;
const STRATEGY_PATH: usize = 2;
const STRATEGY_NAME: usize = 3;
const CWD: usize = 4;
const STATUS: usize = 5;
const SEGMENT: usize = 7;
const STARTED_AT: usize = 8;
const LAST_SEQ: usize = 9;

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

const PHASE: usize = 10;
const PRUNED_SEQ: usize = 11;
const MACHINE: usize = 12;
const BODY: usize = 13;
const NODE: usize = 14;

pub fn summary(row: &mut Row) -> Result<RunSummary, StoreError> {
    Ok(RunSummary {
        seq: row.int(SEQ)?,
        run_id: row.text(RUN_ID)?,
        strategy_path: row.text(STRATEGY_PATH)?,
        strategy_name: row.text(STRATEGY_NAME)?,
        cwd: row.text(CWD)?,
        state: state(row, STATUS)?,
        segment: count(row, SEGMENT)?,
        started_at: row.instant(STARTED_AT)?,
        last_seq: count(row, LAST_SEQ)?,
    })
}

/// The cursor of a row, whether or not the rest of it can be read.
pub fn cursor(row: &mut Row) -> Result<RunCursor, StoreError> {
    Ok(RunCursor {
        started_at: row.instant(STARTED_AT)?,
        seq: row.int(SEQ)?,
    })
}

pub fn run(row: &mut Row) -> Result<Run, StoreError> {
    let phase = row.text(PHASE)?;
    Ok(Run {
        summary: summary(row)?,
        phase: RunPhase::parse(&phase)
            .ok_or_else(|| StoreError::Corrupt(format!("{phase} is not a phase of a run")))?,
        pruned_seq: count(row, PRUNED_SEQ)?,
        machine: row.text(MACHINE)?,
        body: row.text(BODY)?,
        node: row.text(NODE)?,
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
