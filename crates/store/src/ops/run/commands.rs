//! Commands to a run that another node owns. A command waits in the store until the owning node, or its successor, has
//! handled it.

use countersign_protocol::time::Timestamp;

use super::convert::without_nul;
use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};

/// Returns the number of the command, or `None` if the run is not running.
pub struct SendRunCommand {
    pub run_id: String,
    pub body: String,
}

impl Op for SendRunCommand {
    type Out = Option<i64>;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<Option<i64>, StoreError> {
        const IS_RUNNING: &str = "SELECT 1 FROM run WHERE run_id = ?1 AND status = 'running'";
        const INSERT: &str = "INSERT INTO run_mail (run_id, body, created_at) VALUES (?1, ?2, ?3)";
        if x.row(IS_RUNNING, &[(&self.run_id).into()]).await?.is_none() {
            return Ok(None);
        }
        let body = without_nul(&self.body);
        x.insert(INSERT, &[(&self.run_id).into(), (&*body).into(), now.into()])
            .await
            .map(Some)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteCommand {
    pub number: i64,
    pub run_id: String,
    pub body: String,
    /// The sender has stopped waiting, or the command was meant for an earlier segment.
    pub is_late: bool,
}

/// The commands for the runs of a node, in order. A command stays until it is deleted.
pub struct ReadRunCommands {
    pub node: String,
    /// Commands sent before this time are late.
    pub since: Timestamp,
}

/// Milliseconds. A segment's start is stamped by its hub's clock, which may differ slightly from the database's.
const CLOCK_SLACK_MILLIS: i64 = 1000;
const MAX_COMMANDS: i64 = 1000;

impl Op for ReadRunCommands {
    type Out = Vec<RemoteCommand>;
    const MODE: AccessMode = AccessMode::Read;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Vec<RemoteCommand>, StoreError> {
        // Starts from the commands, of which there are few, regardless of the planner's statistics.
        const SELECT: &str = "SELECT seq, run_id, body, created_at, \
             (SELECT started_at FROM run WHERE run.run_id = run_mail.run_id) FROM run_mail \
             WHERE (SELECT node FROM run WHERE run.run_id = run_mail.run_id) = ?1 ORDER BY seq LIMIT ?2";
        let mut commands = Vec::new();
        for mut row in x.rows(SELECT, &[(&self.node).into(), MAX_COMMANDS.into()]).await? {
            let number = row.int(0)?;
            let run_id = row.text(1)?;
            let body = row.text(2)?;
            let sent_at = row.int(3)?;
            let begun_at = row.int(4)?;
            let is_late = sent_at < self.since.as_millis() || sent_at + CLOCK_SLACK_MILLIS < begun_at;
            commands.push(RemoteCommand {
                number,
                run_id,
                body,
                is_late,
            });
        }
        Ok(commands)
    }
}

/// Deletes a command that was handled, or never will be.
pub struct DeleteRunCommand {
    pub number: i64,
}

impl Op for DeleteRunCommand {
    type Out = ();
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<(), StoreError> {
        x.exec("DELETE FROM run_mail WHERE seq = ?1", &[self.number.into()])
            .await
            .map(drop)
    }
}
