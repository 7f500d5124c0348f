//! What time does to runs.

use countersign_protocol::time::Timestamp;

use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};

/// Forgets runs that ended before an instant, longest ago first, with all they told and asked. Their messages stay: those
/// have a time of their own. Says how many; fewer than `limit` does not mean that no more are due, none does.
pub struct PurgeRuns {
    pub ended_before: Timestamp,
    pub limit: i64,
}

/// How many rows go at once, about: everybody else waits meanwhile.
const MAX_ROWS: i64 = 10_000;

impl Op for PurgeRuns {
    type Out = u64;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<u64, StoreError> {
        const DUE: &str = "SELECT seq, event_count + record_count FROM run \
             WHERE completed_at IS NOT NULL AND completed_at < ?1 ORDER BY completed_at, seq LIMIT ?2";
        // One that is continued at this moment is not taken.
        const FORGET: &str = "DELETE FROM run WHERE seq = ?1 AND completed_at IS NOT NULL AND completed_at < ?2";
        const FORGET_REST: [&str; 4] = [
            "DELETE FROM run_text WHERE seq = ?1",
            "DELETE FROM run_event WHERE run_seq = ?1",
            "DELETE FROM run_record WHERE run_seq = ?1",
            "DELETE FROM run_ask WHERE run_seq = ?1",
        ];
        // While its run still says which it was.
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

/// When the first of them ended.
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
