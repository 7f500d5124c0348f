//! What time does to messages: what is due to expire, and what retention empties.

use countersign_core::Command;
use countersign_core::message::{Outcome, Status};
use countersign_protocol::id::{MessageId, ResolutionId};
use countersign_protocol::time::Timestamp;

use super::apply::apply;
use super::{list, rows, search};
use crate::error::StoreError;
use crate::exec::{Exec, Mode, Op};
use crate::model::{Application, Applied, Proposal};

/// Ends open messages past their expiry, longest overdue first: one for each id that is given for a resolution. What another
/// node is just ending is left to it; should that node be gone, its transaction is undone and the next look finds them.
pub struct ExpireDue {
    pub resolution_ids: Vec<ResolutionId>,
}

impl Op for ExpireDue {
    type Out = Vec<Applied>;
    const MODE: Mode = Mode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<Vec<Applied>, StoreError> {
        let limit = i64::try_from(self.resolution_ids.len()).unwrap_or(i64::MAX);
        let mut due = Vec::new();
        for mut row in x.rows(X::DIALECT.overdue, &[now.into(), limit.into()]).await? {
            due.push((row.text(1)?, rows::message_id(&mut row, 0)?));
        }
        // Agents in one order: two who count down the same ones would otherwise wait for each other.
        due.sort_unstable();
        let mut expired = Vec::new();
        for ((_, message_id), resolution_id) in due.into_iter().zip(&self.resolution_ids) {
            let (command, resolution_id) = (Command::Expire, resolution_id.clone());
            let proposal = Proposal { message_id, command, resolution_id, files: Vec::new() };
            if let Application::Resolved(applied) = apply(x, &proposal, now).await? {
                expired.push(*applied);
            }
        }
        Ok(expired)
    }
}

pub struct NextExpiry;

impl Op for NextExpiry {
    type Out = Option<Timestamp>;
    const MODE: Mode = Mode::Read;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        const SELECT: &str = "SELECT expires_at FROM message WHERE status = 'open' AND expires_at IS NOT NULL \
             ORDER BY expires_at LIMIT 1";
        first_instant(x.row(SELECT, &[]).await?)
    }
}

/// What was resolved at an instant or later, at most `limit` of each outcome, latest first.
pub struct ResolvedSince {
    pub since: Timestamp,
    pub limit: i64,
}

impl Op for ResolvedSince {
    type Out = Vec<MessageId>;
    const MODE: Mode = Mode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Vec<MessageId>, StoreError> {
        const SELECT: &str = "SELECT id FROM message WHERE status = ?1 AND resolved_at IS NOT NULL \
             AND resolved_at >= ?2 ORDER BY resolved_at DESC, seq DESC LIMIT ?3";
        let mut found = Vec::new();
        for outcome in Outcome::ALL {
            let params = [Status::Resolved(outcome).as_str().into(), self.since.into(), self.limit.into()];
            for mut row in x.rows(SELECT, &params).await? {
                found.push(rows::message_id(&mut row, 0)?);
            }
        }
        Ok(found)
    }
}

/// Empties what became terminal before an instant. The id, the agent and the audit trail stay; the key is free again.
pub struct Purge {
    pub resolved_before: Timestamp,
    pub limit: i64,
}

impl Op for Purge {
    type Out = u64;
    const MODE: Mode = Mode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<u64, StoreError> {
        const EMPTY: &str = "UPDATE message SET purged_at = ?1, resolved_at = NULL, idempotency_key = NULL, \
             source = '', callback = NULL, resolution_seq = NULL, rev = rev + 1 WHERE seq = ?2 AND purged_at IS NULL";
        const FORGET: [&str; 6] = [
            "DELETE FROM message_text WHERE seq = ?1",
            "DELETE FROM shelf WHERE seq = ?1",
            "DELETE FROM fetched WHERE seq = ?1",
            "DELETE FROM cue WHERE seq = ?1",
            "DELETE FROM attachment WHERE message_seq = ?1",
            "DELETE FROM run_ask WHERE message_seq = ?1",
        ];
        const FORGET_RESOLUTION: &str = "DELETE FROM resolution WHERE seq = ?1";
        const FORGET_DELIVERY: &str = "DELETE FROM delivery WHERE message_id = ?1";
        let due = x.rows(list::ENDED_FIRST, &[self.resolved_before.into(), self.limit.into()]).await?;
        if due.is_empty() {
            return Ok(0);
        }
        search::hold_mark(x).await?;
        let mut emptied = 0;
        for mut row in due {
            let (id, seq) = (row.text(0)?, row.int(1)?);
            emptied += x.exec(EMPTY, &[now.into(), seq.into()]).await?;
            for forget in FORGET.into_iter().chain([X::DIALECT.leave_search]) {
                x.exec(forget, &[seq.into()]).await?;
            }
            x.exec(FORGET_RESOLUTION, &[row.opt_int(2)?.into()]).await?;
            x.exec(FORGET_DELIVERY, &[(&id).into()]).await?;
        }
        Ok(emptied)
    }
}

/// When the oldest terminal message became terminal.
pub struct OldestResolved;

impl Op for OldestResolved {
    type Out = Option<Timestamp>;
    const MODE: Mode = Mode::Read;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        let ends = Outcome::ALL.map(Status::Resolved).into_iter().chain([Status::Delivered]);
        let mut oldest: Option<Timestamp> = None;
        for status in ends {
            let found = first_instant(x.row(list::ENDED_EARLIEST, &[status.as_str().into()]).await?)?;
            oldest = oldest.into_iter().chain(found).min();
        }
        Ok(oldest)
    }
}

fn first_instant(row: Option<crate::exec::Row>) -> Result<Option<Timestamp>, StoreError> {
    row.map(|mut row| row.instant(0)).transpose()
}

/// Goes through the writer and commits, so that whoever asks knows writing works.
pub struct ProveWritable;

impl Op for ProveWritable {
    type Out = ();
    const MODE: Mode = Mode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<(), StoreError> {
        // A row that changes: what changes nothing is committed even where there is no room left.
        const PROVE: &str = "INSERT INTO setting (name, value) VALUES ('proof', ?1) \
             ON CONFLICT (name) DO UPDATE SET value = ?1";
        x.exec(PROVE, &[(&now.as_millis().to_string()).into()]).await.map(drop)
    }
}
