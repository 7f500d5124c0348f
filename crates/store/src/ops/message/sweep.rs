//! Expiry and retention of messages.

use countersign_core::message::{Outcome, Status};
use countersign_core::{Command, Digest};
use countersign_protocol::id::{MessageId, ResolutionId};
use countersign_protocol::time::Timestamp;

use super::apply::{LoadedDecision, load_and_decide, write_one_of_many};
use super::quota::ReleasedSlots;
use crate::error::{StoreError, Unreadable};
use crate::exec::{AccessMode, BatchStatement, Exec, Op, Param, Row};
use crate::model::{ResolveRequest, ResolvedMessage};
use crate::ops::{list, rows, search};

/// Expires open messages, the longest overdue first, one for each given resolution id. Messages that another node is
/// just expiring are skipped; if that node dies, its transaction is rolled back and the next sweep finds them.
pub struct ExpireDue {
    pub resolution_ids: Vec<ResolutionId>,
    /// The ids of messages found unreadable before: they are skipped, so that they do not block the others.
    pub skipped: Vec<String>,
}

#[derive(Debug, Default)]
pub struct Swept {
    pub applied: Vec<ResolvedMessage>,
    /// Due messages that cannot be decoded. Skip them the next time.
    pub unreadable: Vec<Unreadable>,
}

impl Op for ExpireDue {
    type Out = Swept;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<Swept, StoreError> {
        let limit = to_i64(self.resolution_ids.len() + self.skipped.len());
        let mut due = Vec::new();
        for mut row in x.rows(X::DIALECT.overdue, &[now.into(), limit.into()]).await? {
            due.push(row.text(0)?);
        }
        due.retain(|id| !self.skipped.contains(id));
        let mut expired = Swept::default();
        let mut slots = ReleasedSlots::default();
        for (id, resolution_id) in due.iter().zip(&self.resolution_ids) {
            match decide_expiry(x, id, resolution_id, now).await {
                Ok(LoadedDecision::Accepted(loaded, resolution)) => {
                    expired
                        .applied
                        .push(write_one_of_many(x, *loaded, resolution, &mut slots).await?);
                }
                Ok(LoadedDecision::Refused(_)) => {}
                Err(StoreError::Unreadable(message)) => expired.unreadable.push(message),
                Err(error) => return Err(error),
            }
        }
        slots.release(x).await?;
        Ok(expired)
    }

    fn damage(expired: &Swept) -> Vec<StoreError> {
        expired.unreadable.iter().cloned().map(StoreError::Unreadable).collect()
    }
}

async fn decide_expiry<X: Exec>(
    x: &mut X,
    id: &str,
    resolution_id: &ResolutionId,
    now: Timestamp,
) -> Result<LoadedDecision, StoreError> {
    let request = ResolveRequest {
        message_id: rows::parse_message_id(id).map_err(|error| error.in_message(id))?,
        command: Command::Expire,
        resolution_id: resolution_id.clone(),
        files: Vec::new(),
    };
    load_and_decide(x, &request, now).await
}

pub(super) fn to_i64(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// When the next open message expires, or should have expired. Messages on hold are left out.
#[derive(Default)]
pub struct NextExpiry {
    /// As in `ExpireDue`.
    pub skipped: Vec<String>,
}

impl Op for NextExpiry {
    type Out = Option<Timestamp>;
    const MODE: AccessMode = AccessMode::Read;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        const SELECT: &str = "SELECT expires_at, id FROM message WHERE status = 'open' AND expires_at IS NOT NULL \
             AND held_until IS NULL ORDER BY expires_at LIMIT ?1";
        let limit = to_i64(self.skipped.len() + 1);
        for mut row in x.rows(SELECT, &[limit.into()]).await? {
            if !self.skipped.contains(&row.text(1)?) {
                return row.instant(0).map(Some);
            }
        }
        Ok(None)
    }
}

/// The messages resolved at or after a time, at most `limit` of each outcome, latest first.
pub struct ResolvedSince {
    pub since: Timestamp,
    pub limit: i64,
}

impl Op for ResolvedSince {
    type Out = Vec<MessageId>;
    const MODE: AccessMode = AccessMode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Vec<MessageId>, StoreError> {
        const SELECT: &str = "SELECT id FROM message WHERE status = ?1 AND resolved_at IS NOT NULL \
             AND resolved_at >= ?2 ORDER BY resolved_at DESC, seq DESC LIMIT ?3";
        let mut found = Vec::new();
        for outcome in Outcome::ALL {
            let params = [
                Status::Resolved(outcome).as_str().into(),
                self.since.into(),
                self.limit.into(),
            ];
            let rows = x.rows(SELECT, &params).await?;
            // Nothing waits for an id that is not valid.
            found.extend(
                rows.into_iter()
                    .filter_map(|mut row| rows::message_id(&mut row, 0).ok()),
            );
        }
        Ok(found)
    }
}

/// Purges messages that became terminal before a time. The id, the agent and the audit trail stay (a tombstone); the
/// idempotency key is free again.
pub struct Purge {
    pub resolved_before: Timestamp,
    pub limit: i64,
}

impl Op for Purge {
    type Out = u64;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<u64, StoreError> {
        let mut due = Vec::new();
        for mut row in x
            .rows(list::OLDEST_TERMINAL, &[self.resolved_before.into(), self.limit.into()])
            .await?
        {
            due.push(PurgeTarget {
                seq: [row.int(0)?.into()],
                resolution_seq: [row.opt_int(1)?.into()],
            });
        }
        if due.is_empty() {
            return Ok(0);
        }
        search::lock_index(x).await?;
        let mut purged = 0;
        for targets in due.chunks(PURGE_BATCH) {
            purged += purge_batch(x, targets, now).await?;
        }
        Ok(purged)
    }
}

/// How many messages are purged in one batch.
const PURGE_BATCH: usize = 32;

struct PurgeTarget {
    seq: [Param<'static>; 1],
    resolution_seq: [Param<'static>; 1],
}

/// Returns how many were purged here, and not by another node before.
async fn purge_batch<X: Exec>(x: &mut X, ended: &[PurgeTarget], now: Timestamp) -> Result<u64, StoreError> {
    // First: notes lock the message, so a concurrent note is either deleted below or never written.
    const EMPTY: &str = "UPDATE message SET purged_at = ?1, resolved_at = NULL, idempotency_key = NULL, \
         source = '', callback = NULL, resolution_seq = NULL, rev = rev + 1 WHERE seq = ?2 AND purged_at IS NULL";
    const FORGET: [&str; 7] = [
        "DELETE FROM message_text WHERE seq = ?1",
        "DELETE FROM shelf WHERE seq = ?1",
        "DELETE FROM fetched WHERE seq = ?1",
        "DELETE FROM cue WHERE seq = ?1",
        "DELETE FROM attachment WHERE message_seq = ?1",
        "DELETE FROM run_ask WHERE message_seq = ?1",
        "DELETE FROM delivery WHERE message_id = (SELECT id FROM message WHERE seq = ?1)",
    ];
    const FORGET_RESOLUTION: &str = "DELETE FROM resolution WHERE seq = ?1";
    let purge_params: Vec<_> = ended
        .iter()
        .map(|PurgeTarget { seq: [seq], .. }| [now.into(), *seq])
        .collect();
    let mut steps: Vec<_> = purge_params
        .iter()
        .map(|params| BatchStatement::change(EMPTY, params))
        .collect();
    for PurgeTarget { seq, resolution_seq } in ended {
        let forget = FORGET.into_iter().chain([X::DIALECT.remove_from_index]);
        steps.extend(forget.map(|sql| BatchStatement::change(sql, seq)));
        steps.push(BatchStatement::change(FORGET_RESOLUTION, resolution_seq));
    }
    let changed = x.batch(&steps).await?;
    Ok(changed
        .iter()
        .take(ended.len())
        .map(|changed| changed.unsigned_abs())
        .sum())
}

/// When the oldest terminal message became terminal.
pub struct OldestResolved;

impl Op for OldestResolved {
    type Out = Option<Timestamp>;
    const MODE: AccessMode = AccessMode::Read;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        let ends = Outcome::ALL
            .map(Status::Resolved)
            .into_iter()
            .chain([Status::Delivered]);
        let mut oldest: Option<Timestamp> = None;
        for status in ends {
            let found = first_instant(x.row(list::EARLIEST_END, &[status.as_str().into()]).await?)?;
            oldest = oldest.into_iter().chain(found).min();
        }
        Ok(oldest)
    }
}

fn first_instant(row: Option<Row>) -> Result<Option<Timestamp>, StoreError> {
    row.map(|mut row| row.instant(0)).transpose()
}

/// A committed test write, for readiness checks. It takes as much room as an answer with its rows, indexes and audit
/// entry: on a nearly full disk a smaller one would succeed where answers fail.
pub struct ProveWritable {
    proof: String,
}

/// 64 characters each.
const PROOF_DIGESTS: u32 = 1024;

impl Op for ProveWritable {
    type Out = ();
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<(), StoreError> {
        const PROVE: &str = "INSERT INTO setting (name, value) VALUES ('proof', ?1) \
             ON CONFLICT (name) DO UPDATE SET value = ?1";
        x.exec(PROVE, &[(&self.proof).into()]).await.map(drop)
    }
}

impl ProveWritable {
    /// Writes a text that changes, because a commit without changes succeeds even on a full disk, and that PostgreSQL
    /// cannot compress.
    pub fn at(now: Timestamp) -> Self {
        let digest = |number| Digest::of(format!("{} {number}", now.as_millis()).as_bytes()).to_string();
        Self {
            proof: (0..PROOF_DIGESTS).map(digest).collect(),
        }
    }
}
