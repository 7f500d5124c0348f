//! Reads whole runs.

use countersign_protocol::time::Timestamp;

use super::model::{Run, RunWithRecords};
use super::read::{self, select_whole_runs};
use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};

pub struct FindRun {
    pub run_id: String,
}

impl Op for FindRun {
    type Out = Option<RunWithRecords>;
    const MODE: AccessMode = AccessMode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Option<RunWithRecords>, StoreError> {
        const SELECT: &str = select_whole_runs!("WHERE r.run_id = ?1");
        const RECORDS: &str = "SELECT body FROM run_record WHERE run_seq = ?1 ORDER BY n";
        let Some(mut row) = x.row(SELECT, &[(&self.run_id).into()]).await? else {
            return Ok(None);
        };
        let run = read::run(&mut row)?;
        let records = x.rows(RECORDS, &[run.summary.seq.into()]).await?;
        let records = records
            .into_iter()
            .map(|mut row| row.text(0))
            .collect::<Result<_, _>>()?;
        Ok(Some(RunWithRecords { run, records }))
    }
}

/// The run without the records of its agents' calls.
pub struct ReadRun {
    pub run_id: String,
}

impl Op for ReadRun {
    type Out = Option<Run>;
    const MODE: AccessMode = AccessMode::Read;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Option<Run>, StoreError> {
        const SELECT: &str = select_whole_runs!("WHERE r.run_id = ?1");
        x.row(SELECT, &[(&self.run_id).into()])
            .await?
            .map(|mut row| read::run(&mut row))
            .transpose()
    }
}
