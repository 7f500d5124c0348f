//! The asks that a run waits for.

use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;

use super::convert::count;
use super::model::StoredAsk;
use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op, Row};
use crate::ops::rows;

/// The asks of the current segment whose answers have not been consumed, oldest first, with their answers if there are
/// any. Purged and unreadable asks are left out: the run has to ask again.
pub struct PendingAsks {
    pub run_id: String,
}

impl Op for PendingAsks {
    type Out = Vec<StoredAsk>;
    const MODE: AccessMode = AccessMode::Read;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Vec<StoredAsk>, StoreError> {
        const SELECT: &str = "SELECT m.id, m.status, s.body, a.number, a.body FROM run r \
             JOIN run_ask a ON a.run_seq = r.seq AND a.segment = r.segment JOIN message m ON m.seq = a.message_seq \
             LEFT JOIN resolution s ON s.seq = m.resolution_seq \
             WHERE r.run_id = ?1 AND a.done = 0 ORDER BY a.message_seq";
        let found = x.rows(SELECT, &[(&self.run_id).into()]).await?;
        rows::readable(found, "run_ask", ask)
    }
}

fn ask(row: &mut Row) -> Result<StoredAsk, StoreError> {
    Ok(StoredAsk {
        message_id: rows::message_id(row, 0)?,
        state: rows::state(&row.text(1)?, row.opt_text(2)?.as_deref())?,
        number: count(row, 3)?,
        body: row.text(4)?,
    })
}

/// The run that asked, while the run and the message are kept.
pub struct RunOfAsk {
    pub message_id: MessageId,
}

impl Op for RunOfAsk {
    type Out = Option<String>;
    const MODE: AccessMode = AccessMode::Read;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Option<String>, StoreError> {
        const SELECT: &str = "SELECT r.run_id FROM message m JOIN run_ask a ON a.message_seq = m.seq \
             JOIN run r ON r.seq = a.run_seq WHERE m.id = ?1";
        let found = x.row(SELECT, &[self.message_id.as_str().into()]).await?;
        found.map(|mut row| row.text(0)).transpose()
    }
}
