//! Prunes old events and records of a run. The size is tracked by counters in the run's row, and pruning starts only
//! when the limit is exceeded by a margin, so that most writes cost nothing.

use crate::error::StoreError;
use crate::exec::Exec;

pub const MAX_EVENTS: i64 = 10_000;
pub const MAX_RECORDS: i64 = 1_000;
/// For events and records each.
pub const MAX_BYTES: i64 = 8 * 1024 * 1024;

/// The margin, as a fraction: one tenth of the limit.
const MARGIN: i64 = 10;
const CHUNK_ROWS: i64 = 1_000;

pub struct PruneRule {
    max_rows: i64,
    /// Number and size of the oldest rows after ?2 of the run ?1, at most ?3.
    oldest: &'static str,
    forget: &'static str,
    /// Sets the counters of the run ?1.
    count: &'static str,
}

pub const EVENTS: PruneRule = PruneRule {
    max_rows: MAX_EVENTS,
    oldest: "SELECT seq, size FROM run_event WHERE run_seq = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3",
    forget: "DELETE FROM run_event WHERE run_seq = ?1 AND seq <= ?2",
    count: "UPDATE run SET event_count = ?2, event_bytes = ?3 WHERE seq = ?1",
};
pub const RECORDS: PruneRule = PruneRule {
    max_rows: MAX_RECORDS,
    oldest: "SELECT n, size FROM run_record WHERE run_seq = ?1 AND n > ?2 ORDER BY n LIMIT ?3",
    forget: "DELETE FROM run_record WHERE run_seq = ?1 AND n <= ?2",
    count: "UPDATE run SET record_count = ?2, record_bytes = ?3 WHERE seq = ?1",
};

struct PruneProgress {
    count: i64,
    bytes: i64,
    /// The highest deleted number.
    up_to: i64,
}

impl PruneProgress {
    fn exceeds(&self, max_rows: i64, max_bytes: i64) -> bool {
        // The newest row stays, regardless of its size.
        self.count > 1 && (self.count > max_rows || self.bytes > max_bytes)
    }
}

impl PruneRule {
    /// `count` and `bytes` are the counters of the run. Returns the highest deleted number.
    pub async fn prune<X: Exec>(
        &self,
        x: &mut X,
        run_seq: i64,
        count: i64,
        bytes: i64,
    ) -> Result<Option<i64>, StoreError> {
        let mut left = PruneProgress { count, bytes, up_to: 0 };
        if !left.exceeds(self.max_rows + self.max_rows / MARGIN, MAX_BYTES + MAX_BYTES / MARGIN) {
            return Ok(None);
        }
        while left.exceeds(self.max_rows, MAX_BYTES) {
            let oldest = x
                .rows(self.oldest, &[run_seq.into(), left.up_to.into(), CHUNK_ROWS.into()])
                .await?;
            if oldest.is_empty() {
                return Err(StoreError::Corrupt(format!(
                    "run {run_seq} has fewer rows than its counters say"
                )));
            }
            for mut row in oldest {
                if !left.exceeds(self.max_rows, MAX_BYTES) {
                    break;
                }
                left = PruneProgress {
                    count: left.count - 1,
                    up_to: row.int(0)?,
                    bytes: left.bytes - row.int(1)?,
                };
            }
        }
        x.exec(self.forget, &[run_seq.into(), left.up_to.into()]).await?;
        x.exec(self.count, &[run_seq.into(), left.count.into(), left.bytes.into()])
            .await?;
        Ok(Some(left.up_to))
    }
}
