//! A run advances, asks or ends: its events, records, asks and new state are stored in one transaction.

use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;

use super::convert::{bytes_of, to_i64, without_nul};
use super::model::{NewAsk, RunEnding, RunPhase, StoredEvent};
use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op, Param, Row};
use crate::ops::message::{quota, submit};

pub const MAX_EVENTS: i64 = 10_000;
pub const MAX_RECORDS: i64 = 1_000;
/// For events and records each.
pub const MAX_BYTES: i64 = 8 * 1024 * 1024;

/// The margin, as a fraction: one tenth of the limit.
const MARGIN: i64 = 10;
const CHUNK_ROWS: i64 = 1_000;

/// Returns whether the segment is still running and owned by this node; if not, nothing is written. Idempotent: a write
/// that is repeated after a lost reply is not applied again.
#[derive(Debug, Clone)]
pub struct Advance {
    pub run_id: String,
    pub segment: u64,
    /// The node that runs it.
    pub node: String,
    /// The idempotency key of this write, the same in every retry.
    pub write_id: String,
    pub events: Vec<StoredEvent>,
    pub records: Vec<String>,
    /// Asks whose answers the machine has consumed.
    pub asks_done: Vec<MessageId>,
    pub machine: String,
    pub phase: RunPhase,
    /// As in `NewRun`. It may be lower than before, if reserved numbers were not used.
    pub last_seq: u64,
    /// `None` if unchanged.
    pub body: Option<String>,
}

/// An `Advance` with new asks that the run waits for. The agents of a run have no `agent` row.
#[derive(Debug, Clone)]
pub struct AskInRun {
    pub advance: Advance,
    pub asks: Vec<NewAsk>,
}

/// An `Advance` that ends the segment. The caller cancels the open asks before.
#[derive(Debug, Clone)]
pub struct EndRun {
    pub advance: Advance,
    pub ending: RunEnding,
    pub at: Timestamp,
}

impl Op for Advance {
    type Out = bool;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<bool, StoreError> {
        match self.apply_write(x).await? {
            Some(_) => Ok(true),
            None => self.is_written(x).await,
        }
    }
}

impl Op for AskInRun {
    type Out = bool;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<bool, StoreError> {
        const INSERT: &str = "INSERT INTO run_ask (message_seq, run_seq, segment, number, done, body) \
             VALUES (?1, ?2, ?3, ?4, 0, ?5)";
        let Some(run_seq) = self.advance.apply_write(x).await? else {
            return self.advance.is_written(x).await;
        };
        let segment = to_i64(self.advance.segment);
        for ask in &self.asks {
            let message_seq = submit::create(x, &ask.message, &ask.message.source).await?;
            let body = without_nul(&ask.body);
            let number = to_i64(ask.number);
            let params = [
                message_seq.into(),
                run_seq.into(),
                segment.into(),
                number.into(),
                (&*body).into(),
            ];
            x.exec(INSERT, &params).await?;
        }
        // Last: every ask and every answer in a run locks this one row.
        quota::add_orphans(x, to_i64(self.asks.len())).await?;
        Ok(true)
    }
}

impl Op for EndRun {
    type Out = bool;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<bool, StoreError> {
        const END: &str = "UPDATE run SET status = ?2, completed_at = ?3, machine = '' WHERE seq = ?1";
        const FORGET_ASKS: &str = "UPDATE run_ask SET done = 1, body = '' WHERE run_seq = ?1 AND done = 0";
        let Some(run_seq) = self.advance.apply_write(x).await? else {
            return self.advance.is_written(x).await;
        };
        x.exec(
            END,
            &[run_seq.into(), self.ending.status().as_str().into(), self.at.into()],
        )
        .await?;
        x.exec(FORGET_ASKS, &[run_seq.into()]).await?;
        Ok(true)
    }
}

impl Advance {
    /// Applies the write. Returns the run's seq; its row stays locked.
    async fn apply_write<X: Exec>(&self, x: &mut X) -> Result<Option<i64>, StoreError> {
        const STEP: &str = "UPDATE run SET machine = ?3, phase = ?4, last_seq = ?5, event_count = event_count + ?6, \
             event_bytes = event_bytes + ?7, record_n = record_n + ?8, record_count = record_count + ?8, \
             record_bytes = record_bytes + ?9, write_id = ?11 WHERE run_id = ?1 AND segment = ?2 AND node = ?10 \
             AND status = 'running' AND write_id <> ?11 \
             RETURNING seq, event_count, event_bytes, record_n, record_count, record_bytes";
        const TEXT: &str = "UPDATE run_text SET body = ?2 WHERE seq = ?1";
        let machine = without_nul(&self.machine);
        let params: [Param<'_>; 11] = [
            (&self.run_id).into(),
            to_i64(self.segment).into(),
            (&*machine).into(),
            self.phase.as_str().into(),
            to_i64(self.last_seq).into(),
            to_i64(self.events.len()).into(),
            bytes_of(self.events.iter().map(|event| event.body.as_str())).into(),
            to_i64(self.records.len()).into(),
            bytes_of(self.records.iter().map(String::as_str)).into(),
            (&self.node).into(),
            (&self.write_id).into(),
        ];
        let Some(mut row) = x.row(STEP, &params).await? else {
            return Ok(None);
        };
        let counters = RunCounters::read(&mut row)?;
        add_events(x, &counters, &self.events).await?;
        add_records(x, &counters, &self.records).await?;
        self.finish_asks(x, counters.run_seq).await?;
        if let Some(body) = &self.body {
            let body = without_nul(body);
            x.exec(TEXT, &[counters.run_seq.into(), (&*body).into()]).await?;
        }
        Ok(Some(counters.run_seq))
    }

    /// Whether this was the run's last write.
    async fn is_written<X: Exec>(&self, x: &mut X) -> Result<bool, StoreError> {
        is_written(x, &self.run_id, &self.write_id).await
    }

    async fn finish_asks<X: Exec>(&self, x: &mut X, run_seq: i64) -> Result<(), StoreError> {
        const FINISH: &str = "UPDATE run_ask SET done = 1, body = '' \
             WHERE run_seq = ?1 AND message_seq = (SELECT seq FROM message WHERE id = ?2)";
        for id in &self.asks_done {
            x.exec(FINISH, &[run_seq.into(), id.as_str().into()]).await?;
        }
        Ok(())
    }
}

pub(super) async fn is_written<X: Exec>(x: &mut X, run_id: &str, write_id: &str) -> Result<bool, StoreError> {
    const LAST: &str = "SELECT 1 FROM run WHERE run_id = ?1 AND write_id = ?2";
    Ok(x.row(LAST, &[run_id.into(), write_id.into()]).await?.is_some())
}

/// The run's counters after this write.
pub(super) struct RunCounters {
    pub run_seq: i64,
    pub event_count: i64,
    pub event_bytes: i64,
    pub record_n: i64,
    pub record_count: i64,
    pub record_bytes: i64,
}

impl RunCounters {
    pub fn read(row: &mut Row) -> Result<Self, StoreError> {
        Ok(Self {
            run_seq: row.int(0)?,
            event_count: row.int(1)?,
            event_bytes: row.int(2)?,
            record_n: row.int(3)?,
            record_count: row.int(4)?,
            record_bytes: row.int(5)?,
        })
    }
}

pub(super) async fn add_events<X: Exec>(
    x: &mut X,
    counters: &RunCounters,
    events: &[StoredEvent],
) -> Result<(), StoreError> {
    const INSERT: &str = "INSERT INTO run_event (run_seq, seq, kind, size, body) VALUES (?1, ?2, ?3, ?4, ?5)";
    const PRUNED: &str = "UPDATE run SET pruned_seq = ?2 WHERE seq = ?1";
    for event in events {
        let kind = without_nul(&event.kind);
        let body = without_nul(&event.body);
        let seq = to_i64(event.seq);
        let size = to_i64(event.body.len());
        let params = [
            counters.run_seq.into(),
            seq.into(),
            (&*kind).into(),
            size.into(),
            (&*body).into(),
        ];
        x.exec(INSERT, &params).await?;
    }
    let pruned = EVENTS
        .prune(x, counters.run_seq, counters.event_count, counters.event_bytes)
        .await?;
    if let Some(up_to) = pruned {
        x.exec(PRUNED, &[counters.run_seq.into(), up_to.into()]).await?;
    }
    Ok(())
}

async fn add_records<X: Exec>(x: &mut X, counters: &RunCounters, records: &[String]) -> Result<(), StoreError> {
    const INSERT: &str = "INSERT INTO run_record (run_seq, n, size, body) VALUES (?1, ?2, ?3, ?4)";
    let first = counters.record_n - to_i64(records.len()) + 1;
    for (n, record) in (first..).zip(records) {
        let size = to_i64(record.len());
        let body = without_nul(record);
        x.exec(
            INSERT,
            &[counters.run_seq.into(), n.into(), size.into(), (&*body).into()],
        )
        .await?;
    }
    RECORDS
        .prune(x, counters.run_seq, counters.record_count, counters.record_bytes)
        .await
        .map(drop)
}

/// Prunes old rows of a run. Their size is tracked by counters in the row of the run, and pruning starts only when the limit
/// is exceeded by a margin, so that most writes cost nothing.
struct PruneRule {
    max_rows: i64,
    /// Number and size of the oldest rows after ?2 of the run ?1, at most ?3.
    oldest: &'static str,
    forget: &'static str,
    /// Sets the counters of the run ?1.
    count: &'static str,
}

const EVENTS: PruneRule = PruneRule {
    max_rows: MAX_EVENTS,
    oldest: "SELECT seq, size FROM run_event WHERE run_seq = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3",
    forget: "DELETE FROM run_event WHERE run_seq = ?1 AND seq <= ?2",
    count: "UPDATE run SET event_count = ?2, event_bytes = ?3 WHERE seq = ?1",
};
const RECORDS: PruneRule = PruneRule {
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
    async fn prune<X: Exec>(&self, x: &mut X, run_seq: i64, count: i64, bytes: i64) -> Result<Option<i64>, StoreError> {
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
