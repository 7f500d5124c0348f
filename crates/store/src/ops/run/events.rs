//! The stored events of a run.

use countersign_protocol::time::Timestamp;

use super::convert::{count, to_i64};
use super::model::StoredEvent;
use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op, Row};

/// The events after a number, in order. Numbers are missing where an event was not stored or was pruned;
/// `Run::pruned_seq` is the last pruned number.
pub struct RunEvents {
    pub run_id: String,
    pub after: u64,
    pub limit: i64,
}

impl Op for RunEvents {
    type Out = Vec<StoredEvent>;
    const MODE: AccessMode = AccessMode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Vec<StoredEvent>, StoreError> {
        const SELECT: &str = "SELECT e.seq, e.kind, e.body FROM run r JOIN run_event e ON e.run_seq = r.seq \
             WHERE r.run_id = ?1 AND e.seq > ?2 ORDER BY e.seq LIMIT ?3";
        let params = [(&self.run_id).into(), to_i64(self.after).into(), self.limit.into()];
        x.rows(SELECT, &params)
            .await?
            .into_iter()
            .map(|mut row| event(&mut row))
            .collect()
    }
}

/// The last events before a number, or the last of all, in order.
pub struct LatestEvents {
    pub run_id: String,
    pub before: Option<u64>,
    pub limit: i64,
}

impl Op for LatestEvents {
    type Out = Vec<StoredEvent>;
    const MODE: AccessMode = AccessMode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Vec<StoredEvent>, StoreError> {
        const SELECT: &str = "SELECT e.seq, e.kind, e.body FROM run r JOIN run_event e ON e.run_seq = r.seq \
             WHERE r.run_id = ?1 AND e.seq < ?2 ORDER BY e.seq DESC LIMIT ?3";
        let before = to_i64(self.before.unwrap_or(u64::MAX));
        let params = [(&self.run_id).into(), before.into(), self.limit.into()];
        x.rows(SELECT, &params)
            .await?
            .into_iter()
            .rev()
            .map(|mut row| event(&mut row))
            .collect()
    }
}

pub(super) fn event(row: &mut Row) -> Result<StoredEvent, StoreError> {
    Ok(StoredEvent {
        seq: count(row, 0)?,
        kind: row.text(1)?,
        body: row.text(2)?,
    })
}
