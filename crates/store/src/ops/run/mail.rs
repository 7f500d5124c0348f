//! What is said to a run on another node than the one that moves it. The letter waits in the store until that node, or the
//! one that takes the run over, has done what it says.

use countersign_protocol::time::Timestamp;

use super::text::without_nul;
use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};

/// Gives the number of the letter, or nothing if the run is not under way.
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
    /// Whoever wrote it does not wait any more, or it was meant for an earlier segment.
    pub is_late: bool,
}

/// What was written to the runs of a node, in the order in which it was. It stays until it is dropped.
pub struct ReadRunCommands {
    pub node: String,
    /// What was written before is late.
    pub since: Timestamp,
}

/// A segment begins by the clock of its hub, which need not be to the millisecond that of the database.
const CLOCK_SLACK_MILLIS: i64 = 1000;
const MAX_COMMANDS: i64 = 1000;

impl Op for ReadRunCommands {
    type Out = Vec<RemoteCommand>;
    const MODE: AccessMode = AccessMode::Read;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Vec<RemoteCommand>, StoreError> {
        // By the letters, of which there are few, whatever the database knows of how many there are.
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

/// It was done, or never will be.
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
