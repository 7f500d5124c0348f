//! Starts a segment of a run.

use countersign_core::Digest;
use countersign_protocol::time::Timestamp;

use super::advance::{self, RunCounters};
use super::convert::{bytes_of, to_i64, without_nul};
use super::model::{BeginOutcome, NewRun, StoredEvent};
use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op, Param};

/// Starts a run, or continues an ended one. A continuation keeps the history, and may use another strategy.
#[derive(Debug, Clone)]
pub struct BeginRun {
    pub run: NewRun,
    pub events: Vec<StoredEvent>,
}

impl Op for BeginRun {
    type Out = BeginOutcome;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<BeginOutcome, StoreError> {
        let is_first = self.run.segment == 1;
        let written = if is_first {
            self.insert(x).await?
        } else {
            self.continue_run(x).await?
        };
        if let Some(counters) = written {
            advance::add_events(x, &counters, &self.events).await?;
            return Ok(BeginOutcome::New);
        }
        if advance::is_written(x, &self.run.run_id, &self.run.write_id).await? {
            return Ok(BeginOutcome::New);
        }
        Ok(if is_first || is_known(x, &self.run.run_id).await? {
            BeginOutcome::Exists
        } else {
            BeginOutcome::Missing
        })
    }
}

impl BeginRun {
    async fn insert<X: Exec>(&self, x: &mut X) -> Result<Option<RunCounters>, StoreError> {
        const INSERT: &str = "INSERT INTO run (run_id, strategy_path, strategy_name, cwd, cwd_sha256, segment, \
             started_at, last_seq, machine, event_count, event_bytes, node, write_id, status, phase, pruned_seq, \
             record_n, record_count, record_bytes) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, 'running', 'between', 0, 0, 0, 0) \
             ON CONFLICT (run_id) DO NOTHING \
             RETURNING seq, event_count, event_bytes, record_n, record_count, record_bytes";
        const INSERT_TEXT: &str = "INSERT INTO run_text (seq, body) VALUES (?1, ?2)";
        self.write(x, INSERT, INSERT_TEXT).await
    }

    /// Guarded by the previous segment, which must have ended.
    async fn continue_run<X: Exec>(&self, x: &mut X) -> Result<Option<RunCounters>, StoreError> {
        const UPDATE: &str = "UPDATE run SET strategy_path = ?2, strategy_name = ?3, cwd = ?4, cwd_sha256 = ?5, \
             segment = ?6, started_at = ?7, last_seq = ?8, machine = ?9, event_count = event_count + ?10, \
             event_bytes = event_bytes + ?11, node = ?12, write_id = ?13, status = 'running', phase = 'between', \
             completed_at = NULL \
             WHERE run_id = ?1 AND segment + 1 = ?6 AND status <> 'running' \
             RETURNING seq, event_count, event_bytes, record_n, record_count, record_bytes";
        const UPDATE_TEXT: &str = "UPDATE run_text SET body = ?2 WHERE seq = ?1";
        self.write(x, UPDATE, UPDATE_TEXT).await
    }

    async fn write<X: Exec>(
        &self,
        x: &mut X,
        row: &'static str,
        text: &'static str,
    ) -> Result<Option<RunCounters>, StoreError> {
        let run = &self.run;
        let path = without_nul(&run.strategy_path);
        let name = without_nul(&run.strategy_name);
        let cwd = without_nul(&run.cwd);
        let machine = without_nul(&run.machine);
        let body = without_nul(&run.body);
        let cwd_sha256 = Digest::of(cwd.as_bytes());
        let params: [Param<'_>; 13] = [
            (&run.run_id).into(),
            (&*path).into(),
            (&*name).into(),
            (&*cwd).into(),
            (&cwd_sha256).into(),
            to_i64(run.segment).into(),
            run.started_at.into(),
            to_i64(run.last_seq).into(),
            (&*machine).into(),
            to_i64(self.events.len()).into(),
            bytes_of(self.events.iter().map(|event| event.body.as_str())).into(),
            (&run.node).into(),
            (&run.write_id).into(),
        ];
        let Some(mut row) = x.row(row, &params).await? else {
            return Ok(None);
        };
        let counters = RunCounters::read(&mut row)?;
        x.exec(text, &[counters.run_seq.into(), (&*body).into()]).await?;
        Ok(Some(counters))
    }
}

/// Reserves event numbers up to `up_to` before their events are stored. Returns whether the run has not changed since
/// that segment ended.
pub struct ReserveNumbers {
    pub run_id: String,
    pub segment: u64,
    pub up_to: u64,
}

impl Op for ReserveNumbers {
    type Out = bool;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<bool, StoreError> {
        const RESERVE: &str = "UPDATE run SET last_seq = CASE WHEN last_seq > ?3 THEN last_seq ELSE ?3 END \
             WHERE run_id = ?1 AND segment = ?2 AND status <> 'running'";
        let params = [
            (&self.run_id).into(),
            to_i64(self.segment).into(),
            to_i64(self.up_to).into(),
        ];
        Ok(x.exec(RESERVE, &params).await? == 1)
    }
}

async fn is_known<X: Exec>(x: &mut X, run_id: &str) -> Result<bool, StoreError> {
    Ok(x.row("SELECT seq FROM run WHERE run_id = ?1", &[run_id.into()])
        .await?
        .is_some())
}
