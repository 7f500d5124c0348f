//! What is said to a run on another node than the one that moves it. The letter waits in the store until that node, or the
//! one that takes the run over, has taken it out.

use countersign_protocol::time::Timestamp;

use super::text::plain;
use crate::error::StoreError;
use crate::exec::{Exec, Mode, Op};

/// Gives the number of the letter, or nothing if the run is not under way.
pub struct WriteToRun {
    pub run_id: String,
    pub body: String,
}

impl Op for WriteToRun {
    type Out = Option<i64>;
    const MODE: Mode = Mode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<Option<i64>, StoreError> {
        const IS_RUNNING: &str = "SELECT 1 FROM run WHERE run_id = ?1 AND status = 'running'";
        const INSERT: &str = "INSERT INTO run_mail (run_id, body, created_at) VALUES (?1, ?2, ?3)";
        if x.row(IS_RUNNING, &[(&self.run_id).into()]).await?.is_none() {
            return Ok(None);
        }
        let body = plain(&self.body);
        x.insert(INSERT, &[(&self.run_id).into(), (&*body).into(), now.into()]).await.map(Some)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Letter {
    pub number: i64,
    pub run_id: String,
    pub body: String,
}

/// Takes out what was written to the runs of a node, in the order in which it was.
pub struct TakeMail {
    pub node: String,
}

impl Op for TakeMail {
    type Out = Vec<Letter>;
    const MODE: Mode = Mode::Write;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Vec<Letter>, StoreError> {
        const TAKE: &str = "DELETE FROM run_mail WHERE EXISTS (SELECT 1 FROM run WHERE run.run_id = run_mail.run_id \
             AND run.node = ?1) RETURNING seq, run_id, body";
        let mut letters = Vec::new();
        for mut row in x.rows(TAKE, &[(&self.node).into()]).await? {
            letters.push(Letter { number: row.int(0)?, run_id: row.text(1)?, body: row.text(2)? });
        }
        letters.sort_by_key(|letter| letter.number);
        Ok(letters)
    }
}
