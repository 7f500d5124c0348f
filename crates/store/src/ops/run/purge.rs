//! Retention of runs.

use countersign_protocol::time::Timestamp;

use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};

/// Deletes runs that ended before a time, oldest first, with their events, records and asks. Their messages have a
/// retention of their own. Returns how many; only 0 means that no more are due.
pub struct PurgeRuns {
    pub ended_before: Timestamp,
    pub limit: i64,
}

/// The approximate number of rows deleted in one transaction, which blocks other writers.
const MAX_ROWS: i64 = 10_000;

impl Op for PurgeRuns {
    type Out = u64;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<u64, StoreError> {
        const DUE: &str = "SELECT seq, event_count + record_count FROM run \
             WHERE completed_at IS NOT NULL AND completed_at < ?1 ORDER BY completed_at, seq LIMIT ?2";
        // A run that is continued at the same time is skipped.
        const FORGET: &str = "DELETE FROM run WHERE seq = ?1 AND completed_at IS NOT NULL AND completed_at < ?2";
        const FORGET_REST: [&str; 4] = [
            "DELETE FROM run_text WHERE seq = ?1",
            "DELETE FROM run_event WHERE run_seq = ?1",
            "DELETE FROM run_record WHERE run_seq = ?1",
            "DELETE FROM run_ask WHERE run_seq = ?1",
        ];
        // Before the run is deleted, because the commands refer to it by id.
        const FORGET_MAIL: &str = "DELETE FROM run_mail WHERE run_id = (SELECT run_id FROM run WHERE seq = ?1 \
             AND completed_at IS NOT NULL AND completed_at < ?2)";
        let mut gone = 0;
        let mut rows = 0;
        for mut row in x.rows(DUE, &[self.ended_before.into(), self.limit.into()]).await? {
            let seq = row.int(0)?;
            if rows >= MAX_ROWS {
                break;
            }
            rows += row.int(1)?;
            x.exec(FORGET_MAIL, &[seq.into(), self.ended_before.into()]).await?;
            if x.exec(FORGET, &[seq.into(), self.ended_before.into()]).await? == 0 {
                continue;
            }
            gone += 1;
            for forget in FORGET_REST {
                x.exec(forget, &[seq.into()]).await?;
            }
        }
        Ok(gone)
    }
}

/// When the oldest ended run ended.
pub struct OldestEndedRun;

impl Op for OldestEndedRun {
    type Out = Option<Timestamp>;
    const MODE: AccessMode = AccessMode::Read;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        const SELECT: &str =
            "SELECT completed_at FROM run WHERE completed_at IS NOT NULL ORDER BY completed_at, seq LIMIT 1";
        x.row(SELECT, &[]).await?.map(|mut row| row.instant(0)).transpose()
    }
}
