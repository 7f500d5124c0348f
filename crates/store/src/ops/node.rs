//! The hub processes that work on one store. What a node has under way, deliveries and runs, is its own while its row is
//! there. A row whose lease has run out is removed by whoever notices, and what was its node's is then anybody's: the row,
//! and not the clock of the one who was slow, says whose it is.

use std::time::Duration;

use countersign_protocol::time::Timestamp;

use super::run::{self, Run};
use crate::error::StoreError;
use crate::exec::{Exec, Mode, Op};

/// Credentials under this label and the id of a node end with it.
pub const LABEL: &str = "start@";

/// A sign of life. Says whether the node was there before: if not, what it had is no longer its own.
pub struct RenewNode {
    pub id: String,
    pub lease: Duration,
}

impl Op for RenewNode {
    type Out = bool;
    const MODE: Mode = Mode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<bool, StoreError> {
        const RENEW: &str = "UPDATE node SET lease_until = ?2 WHERE id = ?1";
        const ENTER: &str = "INSERT INTO node (id, started_at, lease_until) VALUES (?1, ?2, ?3)";
        let until = now.plus(self.lease);
        if x.exec(RENEW, &[(&self.id).into(), until.into()]).await? == 1 {
            return Ok(true);
        }
        x.exec(ENTER, &[(&self.id).into(), now.into(), until.into()]).await?;
        Ok(false)
    }
}

/// A node that stops gives back what it had under way, without waiting for its lease. What was cut is no attempt.
pub struct LeaveNode {
    pub id: String,
}

impl Op for LeaveNode {
    type Out = ();
    const MODE: Mode = Mode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<(), StoreError> {
        const RELEASE: &str = "UPDATE delivery SET due_at = ?2, claimed_by = NULL WHERE claimed_by = ?1";
        // Not removed: whoever removes it takes its runs over, and ends its credentials.
        x.exec("UPDATE node SET lease_until = 0 WHERE id = ?1", &[(&self.id).into()]).await?;
        x.exec(RELEASE, &[(&self.id).into(), now.into()]).await.map(drop)
    }
}

/// Whose lease counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Others {
    /// They live as long as their leases.
    Live,
    /// Only those that have left are gone: the database may have been away for all of them.
    MayComeBack,
    /// The store is this node's alone, so every other one is gone.
    AreGone,
}

/// Removes nodes whose lease has run out, and takes over what nobody has any more.
pub struct TakeOver {
    pub node: String,
    pub others: Others,
    /// Looks for what nobody has even if no node had to be removed: another one may have begun and not ended this.
    pub thorough: bool,
    /// Of runs at once.
    pub limit: i64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TakenOver {
    pub removed: Vec<String>,
    /// Where deliveries are due again.
    pub hosts: Vec<String>,
    /// Now this node's. As many as the limit means that there may be more.
    pub runs: Vec<Run>,
}

impl Op for TakeOver {
    type Out = TakenOver;
    const MODE: Mode = Mode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<TakenOver, StoreError> {
        const GONE: &str = "DELETE FROM node WHERE id <> ?1 AND lease_until < ?2 RETURNING id";
        const NOBODYS: &str = "SELECT DISTINCT claimed_by FROM delivery WHERE claimed_by IS NOT NULL \
             AND NOT EXISTS (SELECT 1 FROM node WHERE node.id = delivery.claimed_by) ORDER BY claimed_by";
        // By what was read: where a row has changed meanwhile, PostgreSQL looks at it again, but not at other tables.
        const RELEASE: &str = "UPDATE delivery SET due_at = ?2, claimed_by = NULL WHERE claimed_by = ?1 RETURNING host";
        const END_CREDENTIALS: &str = "DELETE FROM credential WHERE substr(label, 1, 6) = 'start@' \
             AND NOT EXISTS (SELECT 1 FROM node WHERE node.id = substr(credential.label, 7))";
        let before = match self.others {
            Others::Live => now,
            Others::MayComeBack => Timestamp::from_millis(1),
            Others::AreGone => Timestamp::from_millis(i64::MAX),
        };
        let removed = texts(x.rows(GONE, &[(&self.node).into(), before.into()]).await?)?;
        if removed.is_empty() && !self.thorough {
            return Ok(TakenOver::default());
        }
        let mut hosts = Vec::new();
        for gone in texts(x.rows(NOBODYS, &[]).await?)? {
            hosts.extend(texts(x.rows(RELEASE, &[(&gone).into(), now.into()]).await?)?);
        }
        hosts.sort_unstable();
        hosts.dedup();
        x.exec(END_CREDENTIALS, &[]).await?;
        let runs = run::adopt(x, &self.node, self.limit).await?;
        Ok(TakenOver { removed, hosts, runs })
    }
}

fn texts(rows: Vec<crate::exec::Row>) -> Result<Vec<String>, StoreError> {
    rows.into_iter().map(|mut row| row.text(0)).collect()
}

/// Those whose lease has not run out, by their ids.
pub struct LiveNodes;

impl Op for LiveNodes {
    type Out = Vec<String>;
    const MODE: Mode = Mode::Read;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<Vec<String>, StoreError> {
        texts(x.rows("SELECT id FROM node WHERE lease_until >= ?1 ORDER BY id", &[now.into()]).await?)
    }
}
