//! The hub processes on one store. A node owns its claimed deliveries and its runs while its row exists. Any node that
//! sees an expired lease removes that row, after which other nodes may take over: the row decides ownership, not the
//! clock of the slow node.

use std::time::Duration;

use countersign_protocol::time::Timestamp;

use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};

/// The label prefix of a node's credentials, followed by its id. They are deleted when the node leaves.
pub const LABEL: &str = "start@";

/// How long the credentials outlive a node whose lease expired: the process may only have been slow.
const CREDENTIAL_GRACE: Duration = Duration::from_secs(3600);

/// Registers a node under a new id.
pub struct RegisterNode {
    pub id: String,
    pub lease: Duration,
}

impl Op for RegisterNode {
    type Out = ();
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<(), StoreError> {
        // Idempotent, for a retry after a lost reply.
        const UPSERT: &str = "INSERT INTO node (id, started_at, lease_until) VALUES (?1, ?2, ?3) \
             ON CONFLICT (id) DO UPDATE SET lease_until = ?3";
        x.exec(UPSERT, &[(&self.id).into(), now.into(), now.plus(self.lease).into()])
            .await
            .map(drop)
    }
}

/// Renews the lease. Returns whether the node still exists; if not, it has lost its claims and runs.
pub struct RenewNode {
    pub id: String,
    pub lease: Duration,
}

impl Op for RenewNode {
    type Out = bool;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<bool, StoreError> {
        renew(x, &self.id, now.plus(self.lease)).await
    }
}

async fn renew<X: Exec>(x: &mut X, id: &str, until: Timestamp) -> Result<bool, StoreError> {
    const RENEW: &str = "UPDATE node SET lease_until = ?2 WHERE id = ?1";
    Ok(x.exec(RENEW, &[id.into(), until.into()]).await? == 1)
}

/// Ends the lease of a node that stops and releases its claims at once. Interrupted attempts are not counted.
pub struct LeaveNode {
    pub id: String,
}

impl Op for LeaveNode {
    type Out = ();
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<(), StoreError> {
        const RELEASE: &str = "UPDATE delivery SET due_at = ?2, claimed_by = NULL WHERE claimed_by = ?1";
        // The row stays: the node that removes it takes over the runs.
        x.exec("UPDATE node SET lease_until = 0 WHERE id = ?1", &[(&self.id).into()])
            .await?;
        x.exec(
            "DELETE FROM credential WHERE label = ?1",
            &[(&format!("{LABEL}{}", self.id)).into()],
        )
        .await?;
        x.exec(RELEASE, &[(&self.id).into(), now.into()]).await.map(drop)
    }
}

/// Which other nodes are treated as gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GoneNodes {
    /// Nodes whose lease has expired.
    LeaseExpired,
    /// Only nodes that have left: the database may have been unreachable for all of them.
    Departed,
    /// All other nodes: the store belongs to this node alone.
    All,
}

/// Renews the lease, removes nodes that are gone and releases their claims.
pub struct TakeOver {
    pub node: String,
    pub lease: Duration,
    pub others: GoneNodes,
    /// Looks for orphaned claims even if no node was removed: another node may have been interrupted while doing so.
    pub thorough: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TakenOver {
    /// This node renewed so late that a shared cause, such as the database or the machine, may have delayed the others
    /// too: only nodes that had left were removed.
    pub was_late: bool,
    pub removed: Vec<String>,
    /// The hosts with deliveries that are due again.
    pub hosts: Vec<String>,
}

impl Op for TakeOver {
    /// `None` if the node itself has been removed; then nothing is done.
    type Out = Option<TakenOver>;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<Option<TakenOver>, StoreError> {
        const UNTIL: &str = "SELECT lease_until, (SELECT count(*) FROM node WHERE id <> ?1 AND lease_until > ?2) \
             FROM node WHERE id = ?1";
        // A lease further ahead than any can be was renewed before the clock was set back; it starts anew.
        const SHORTEN: &str = "UPDATE node SET lease_until = ?1 WHERE id <> ?2 AND lease_until > ?3";
        const GONE: &str = "DELETE FROM node WHERE id <> ?1 AND lease_until < ?2 RETURNING id";
        let latest = now.plus(self.lease * 2);
        let Some(mut row) = x.row(UNTIL, &[(&self.node).into(), latest.into()]).await? else {
            return Ok(None);
        };
        let was_late = row.instant(0)? < now.plus(self.lease / 2);
        let too_long = row.int(1)?;
        if !renew(x, &self.node, now.plus(self.lease)).await? {
            return Ok(None);
        }
        if too_long > 0 {
            let until = now.plus(self.lease);
            x.exec(SHORTEN, &[until.into(), (&self.node).into(), latest.into()])
                .await?;
        }
        let before = match self.others {
            GoneNodes::LeaseExpired if !was_late => now,
            GoneNodes::LeaseExpired | GoneNodes::Departed => Timestamp::from_millis(1),
            GoneNodes::All => Timestamp::from_millis(i64::MAX),
        };
        let removed = texts(x.rows(GONE, &[(&self.node).into(), before.into()]).await?)?;
        let hosts = match removed.is_empty() && !self.thorough {
            true => Vec::new(),
            false => release_orphaned_claims(x, now).await?,
        };
        Ok(Some(TakenOver {
            was_late,
            removed,
            hosts,
        }))
    }
}

/// Releases the claims of nodes that no longer exist. Returns the hosts whose deliveries are due again.
async fn release_orphaned_claims<X: Exec>(x: &mut X, now: Timestamp) -> Result<Vec<String>, StoreError> {
    const ORPHANED: &str = "SELECT DISTINCT claimed_by FROM delivery WHERE claimed_by IS NOT NULL \
         AND NOT EXISTS (SELECT 1 FROM node WHERE node.id = delivery.claimed_by) ORDER BY claimed_by";
    // Guarded by the node id that was read: PostgreSQL re-checks a changed row, but not the subquery on another table.
    const RELEASE: &str = "UPDATE delivery SET due_at = ?2, claimed_by = NULL WHERE claimed_by = ?1 RETURNING host";
    const SHORTEN: &str = "UPDATE credential SET expires_at = ?1 WHERE substr(label, 1, 6) = 'start@' \
         AND (expires_at IS NULL OR expires_at > ?1) \
         AND NOT EXISTS (SELECT 1 FROM node WHERE node.id = substr(credential.label, 7))";
    const FORGET: &str = "DELETE FROM credential WHERE substr(label, 1, 6) = 'start@' AND expires_at < ?1";
    let mut hosts = Vec::new();
    for gone in texts(x.rows(ORPHANED, &[]).await?)? {
        hosts.extend(texts(x.rows(RELEASE, &[(&gone).into(), now.into()]).await?)?);
    }
    hosts.sort_unstable();
    hosts.dedup();
    x.exec(SHORTEN, &[now.plus(CREDENTIAL_GRACE).into()]).await?;
    x.exec(FORGET, &[now.into()]).await?;
    Ok(hosts)
}

fn texts(rows: Vec<crate::exec::Row>) -> Result<Vec<String>, StoreError> {
    rows.into_iter().map(|mut row| row.text(0)).collect()
}

/// How many nodes have a valid lease, and how many deliveries are claimed by one.
pub struct CountLeases;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseCounts {
    pub nodes: i64,
    pub claimed_deliveries: i64,
}

impl Op for CountLeases {
    type Out = LeaseCounts;
    const MODE: AccessMode = AccessMode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<LeaseCounts, StoreError> {
        const COUNT: &str = "SELECT (SELECT COUNT(*) FROM node WHERE lease_until >= ?1), \
             (SELECT COUNT(*) FROM delivery WHERE claimed_by IS NOT NULL)";
        let row = x.row(COUNT, &[now.into()]).await?;
        let mut row = row.ok_or_else(|| StoreError::Corrupt("a count returned no row".to_owned()))?;
        Ok(LeaseCounts {
            nodes: row.int(0)?,
            claimed_deliveries: row.int(1)?,
        })
    }
}

/// The ids of the nodes with a valid lease, sorted.
pub struct LiveNodes;

impl Op for LiveNodes {
    type Out = Vec<String>;
    const MODE: AccessMode = AccessMode::Read;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<Vec<String>, StoreError> {
        texts(
            x.rows("SELECT id FROM node WHERE lease_until >= ?1 ORDER BY id", &[now.into()])
                .await?,
        )
    }
}
