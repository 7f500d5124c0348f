//! What time does to messages: what is due to expire, and what retention empties.

use countersign_core::message::{Outcome, Status};
use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;

use super::{list, rows, search};
use crate::error::StoreError;
use crate::exec::{Exec, Mode, Op};

/// Open messages past their expiry, longest overdue first.
pub struct Overdue {
    pub limit: i64,
}

impl Op for Overdue {
    type Out = Vec<MessageId>;
    const MODE: Mode = Mode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<Vec<MessageId>, StoreError> {
        const SELECT: &str = "SELECT id FROM message WHERE status = 'open' AND expires_at IS NOT NULL \
             AND expires_at < ?1 ORDER BY expires_at LIMIT ?2";
        let found = x.rows(SELECT, &[now.into(), self.limit.into()]).await?;
        found.into_iter().map(|mut row| rows::message_id(&mut row, 0)).collect()
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

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<(), StoreError> {
        // Touches no row, and still needs the right to write one.
        x.exec("UPDATE agent SET open = open WHERE id = ''", &[]).await.map(drop)
    }
}
