//! The files of an answer.

use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;

use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};

/// One file by its index in the resolution. The caller checks access.
pub struct Attachment {
    pub id: MessageId,
    pub index: i64,
}

impl Op for Attachment {
    type Out = Option<Vec<u8>>;
    const MODE: AccessMode = AccessMode::Read;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Option<Vec<u8>>, StoreError> {
        const FIND: &str = "SELECT a.body FROM message m JOIN attachment a ON a.message_seq = m.seq \
             WHERE m.id = ?1 AND a.idx = ?2";
        let found = x.row(FIND, &[self.id.as_str().into(), self.index.into()]).await?;
        found.map(|mut row| row.blob(0)).transpose()
    }
}

/// Stores the files in the order of the resolution.
pub async fn store_files<X: Exec>(x: &mut X, message_seq: i64, bodies: &[Vec<u8>]) -> Result<(), StoreError> {
    const INSERT: &str = "INSERT INTO attachment (message_seq, idx, body) VALUES (?1, ?2, ?3)";
    for (index, body) in (0_i64..).zip(bodies) {
        x.exec(INSERT, &[message_seq.into(), index.into(), body.as_slice().into()])
            .await?;
    }
    Ok(())
}
