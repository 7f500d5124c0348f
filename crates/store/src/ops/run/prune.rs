//! A run keeps its newest events and records and no more. It is measured by the counters in its row, and pruned only when it
//! is a good deal over: most steps then cost nothing.

use super::advance::Held;
use crate::error::StoreError;
use crate::exec::Exec;

pub const MOST_EVENTS: i64 = 10_000;
pub const MOST_RECORDS: i64 = 1_000;
/// Of its events, and of its records.
pub const MOST_BYTES: i64 = 8 * 1024 * 1024;

/// By which part it may be over.
const SLACK: i64 = 10;
const STRETCH: i64 = 1_000;

struct Kept {
    most: i64,
    /// Number and size of the oldest behind ?2 of the run ?1, at most ?3.
    oldest: &'static str,
    forget: &'static str,
}

const EVENTS: Kept = Kept {
    most: MOST_EVENTS,
    oldest: "SELECT seq, size FROM run_event WHERE run_seq = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3",
    forget: "DELETE FROM run_event WHERE run_seq = ?1 AND seq <= ?2",
};
const RECORDS: Kept = Kept {
    most: MOST_RECORDS,
    oldest: "SELECT n, size FROM run_record WHERE run_seq = ?1 AND n > ?2 ORDER BY n LIMIT ?3",
    forget: "DELETE FROM run_record WHERE run_seq = ?1 AND n <= ?2",
};

pub async fn events<X: Exec>(x: &mut X, held: &Held) -> Result<(), StoreError> {
    const COUNT: &str = "UPDATE run SET event_count = ?2, event_bytes = ?3, pruned_seq = ?4 WHERE seq = ?1";
    match EVENTS
        .prune(x, held.run_seq, held.event_count, held.event_bytes)
        .await?
    {
        Some(Left { count, bytes, up_to }) => x
            .exec(COUNT, &[held.run_seq.into(), count.into(), bytes.into(), up_to.into()])
            .await
            .map(drop),
        None => Ok(()),
    }
}

pub async fn records<X: Exec>(x: &mut X, held: &Held) -> Result<(), StoreError> {
    const COUNT: &str = "UPDATE run SET record_count = ?2, record_bytes = ?3 WHERE seq = ?1";
    match RECORDS
        .prune(x, held.run_seq, held.record_count, held.record_bytes)
        .await?
    {
        Some(Left { count, bytes, up_to: _ }) => x
            .exec(COUNT, &[held.run_seq.into(), count.into(), bytes.into()])
            .await
            .map(drop),
        None => Ok(()),
    }
}

struct Left {
    count: i64,
    bytes: i64,
    /// The newest of those that went.
    up_to: i64,
}

impl Left {
    fn is_too_much(&self, most: i64, most_bytes: i64) -> bool {
        // However long it is, the newest one stays.
        self.count > 1 && (self.count > most || self.bytes > most_bytes)
    }
}

impl Kept {
    async fn prune<X: Exec>(
        &self,
        x: &mut X,
        run_seq: i64,
        count: i64,
        bytes: i64,
    ) -> Result<Option<Left>, StoreError> {
        let mut left = Left { count, bytes, up_to: 0 };
        if !left.is_too_much(self.most + self.most / SLACK, MOST_BYTES + MOST_BYTES / SLACK) {
            return Ok(None);
        }
        while left.is_too_much(self.most, MOST_BYTES) {
            let oldest = x
                .rows(self.oldest, &[run_seq.into(), left.up_to.into(), STRETCH.into()])
                .await?;
            if oldest.is_empty() {
                return Err(StoreError::Corrupt(format!(
                    "run {run_seq} keeps less than it has counted"
                )));
            }
            for mut row in oldest {
                if !left.is_too_much(self.most, MOST_BYTES) {
                    break;
                }
                left = Left {
                    count: left.count - 1,
                    up_to: row.int(0)?,
                    bytes: left.bytes - row.int(1)?,
                };
            }
        }
        x.exec(self.forget, &[run_seq.into(), left.up_to.into()]).await?;
        Ok(Some(left))
    }
}
