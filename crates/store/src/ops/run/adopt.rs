//! Adoption: runs of a removed node move to another node.

use countersign_protocol::time::Timestamp;

use super::model::Run;
use super::read::{self, select_whole_runs};
use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};

/// Adopts at most `limit` orphaned runs, oldest first. From here on writes of their previous node are refused
/// (fencing).
pub struct AdoptRuns {
    pub node: String,
    pub limit: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adopted {
    pub runs: Vec<Run>,
    /// No orphaned runs are left, or other nodes are just adopting them.
    pub is_all: bool,
}

impl Op for AdoptRuns {
    type Out = Adopted;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Adopted, StoreError> {
        // A node that was removed itself must adopt nothing: its own runs would be among the orphans.
        const ORPHANED: &str = "SELECT r.seq, r.node FROM run r WHERE r.status = 'running' \
             AND NOT EXISTS (SELECT 1 FROM node n WHERE n.id = r.node) \
             AND EXISTS (SELECT 1 FROM node n WHERE n.id = ?1) ORDER BY r.seq LIMIT ?2";
        // Guarded by the node that was read: PostgreSQL re-checks a changed row, but not the subquery on another table.
        const ADOPT: &str = "UPDATE run SET node = ?1 WHERE seq = ?2 AND node = ?3 AND status = 'running'";
        const SELECT: &str = select_whole_runs!("WHERE r.seq = ?1");
        let node = &self.node;
        let found = x.rows(ORPHANED, &[node.into(), self.limit.into()]).await?;
        let is_all = i64::try_from(found.len()).is_ok_and(|count| count < self.limit);
        let mut runs = Vec::new();
        for mut row in found {
            let seq = row.int(0)?;
            let last = row.text(1)?;
            if last == *node || x.exec(ADOPT, &[node.into(), seq.into(), (&last).into()]).await? == 0 {
                continue;
            }
            let Some(mut row) = x.row(SELECT, &[seq.into()]).await? else {
                continue;
            };
            match read::run(&mut row) {
                Ok(run) => runs.push(run),
                // One unreadable run must not block the others.
                Err(error) => tracing::error!(seq, %error, "decoding an adopted run failed; skipping it"),
            }
        }
        Ok(Adopted { runs, is_all })
    }
}

/// The ids of the running runs that a node owns, each with its last write id.
pub struct RunsOfNode {
    pub node: String,
}

impl Op for RunsOfNode {
    type Out = Vec<(String, String)>;
    const MODE: AccessMode = AccessMode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Vec<(String, String)>, StoreError> {
        const SELECT: &str = "SELECT run_id, write_id FROM run WHERE status = 'running' AND node = ?1";
        let rows = x.rows(SELECT, &[(&self.node).into()]).await?;
        rows.into_iter()
            .map(|mut row| Ok((row.text(0)?, row.text(1)?)))
            .collect()
    }
}
