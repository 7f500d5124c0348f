//! The hub processes that work on one store. What a node has under way, deliveries and runs, is its own while its row is
//! there. A row whose lease has run out is removed by whoever notices, and what was its node's is then anybody's: the row,
//! and not the clock of the one who was slow, says whose it is.

use std::time::Duration;

use countersign_protocol::time::Timestamp;

use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};

/// Credentials under this label and the id of a node end with it: at once when it leaves.
pub const LABEL: &str = "start@";

/// A credential of a node that fell silent lives on for so long: the process may be there, and only have been slow.
const CREDENTIAL_GRACE: Duration = Duration::from_secs(3600);

/// A node that begins, under an id that nobody had before.
pub struct RegisterNode {
    pub id: String,
    pub lease: Duration,
}

impl Op for RegisterNode {
    type Out = ();
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<(), StoreError> {
        // Again, if the first time nobody heard that it was done.
        const ENTER: &str = "INSERT INTO node (id, started_at, lease_until) VALUES (?1, ?2, ?3) \
             ON CONFLICT (id) DO UPDATE SET lease_until = ?3";
        x.exec(ENTER, &[(&self.id).into(), now.into(), now.plus(self.lease).into()])
            .await
            .map(drop)
    }
}

/// A sign of life. Says whether the node is still there: if not, what it had is no longer its own.
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

/// A node that stops gives back what it had under way, without waiting for its lease. What was cut is no attempt.
pub struct LeaveNode {
    pub id: String,
}

impl Op for LeaveNode {
    type Out = ();
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<(), StoreError> {
        const RELEASE: &str = "UPDATE delivery SET due_at = ?2, claimed_by = NULL WHERE claimed_by = ?1";
        // Not removed: whoever removes it takes its runs over.
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

/// Whose lease counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GoneNodes {
    /// They live as long as their leases.
    LeaseExpired,
    /// Only those that have left are gone: the database may have been away for all of them.
    Departed,
    /// The store is this node's alone, so every other one is gone.
    All,
}

/// A sign of life that removes nodes whose lease has run out, and frees what they had under way.
pub struct TakeOver {
    pub node: String,
    pub lease: Duration,
    pub others: GoneNodes,
    /// Looks for what nobody has even if no node had to be removed: another one may have begun and not ended this.
    pub thorough: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TakenOver {
    /// This node was silent for so long that others may have been kept from a sign of life too, by the database or by a
    /// machine that they share: nobody was removed but who had left.
    pub was_late: bool,
    pub removed: Vec<String>,
    /// Where deliveries are due again.
    pub hosts: Vec<String>,
}

impl Op for TakeOver {
    /// Nothing if the node itself has been removed; then nothing is done.
    type Out = Option<TakenOver>;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<Option<TakenOver>, StoreError> {
        const UNTIL: &str = "SELECT lease_until FROM node WHERE id = ?1";
        const GONE: &str = "DELETE FROM node WHERE id <> ?1 AND lease_until < ?2 RETURNING id";
        let Some(mut row) = x.row(UNTIL, &[(&self.node).into()]).await? else {
            return Ok(None);
        };
        let was_late = row.instant(0)? < now.plus(self.lease / 2);
        if !renew(x, &self.node, now.plus(self.lease)).await? {
            return Ok(None);
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

/// Whatever nobody has any more. Gives the hosts of what is due again.
async fn release_orphaned_claims<X: Exec>(x: &mut X, now: Timestamp) -> Result<Vec<String>, StoreError> {
    const ORPHANED: &str = "SELECT DISTINCT claimed_by FROM delivery WHERE claimed_by IS NOT NULL \
         AND NOT EXISTS (SELECT 1 FROM node WHERE node.id = delivery.claimed_by) ORDER BY claimed_by";
    // By what was read: where a row has changed meanwhile, PostgreSQL looks at it again, but not at other tables.
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

/// Those whose lease has not run out, by their ids.
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
