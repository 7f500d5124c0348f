//! The SQLite side of a copy.

mod read;
mod write;

use std::path::Path;

use countersign_protocol::time::Timestamp;
use futures_util::FutureExt;
use rusqlite::Connection;

use super::table::TableSchema;
use crate::error::StoreError;
use crate::exec::{Op, Row};
use crate::sqlite::connection::{SqliteExec, open_reader, open_writer};

/// The calls block: a batch takes milliseconds, and the program does nothing else.
pub struct SqliteSide {
    connection: Connection,
    reading: Option<TableCursor>,
}

struct TableCursor {
    table: TableSchema,
    /// The key of the last row read.
    after: Option<Row>,
}

impl SqliteSide {
    pub fn open_source(file: &Path) -> Result<Self, StoreError> {
        Ok(Self {
            connection: open_reader(file)?,
            reading: None,
        })
    }

    /// Runs a read-only operation of any length, in one snapshot.
    pub fn read<O: Op>(&mut self, op: &O, now: Timestamp) -> Result<O::Out, StoreError> {
        // In files, because a sort over a whole table may not fit into memory.
        self.connection.execute_batch("PRAGMA temp_store = FILE; BEGIN")?;
        let done = op.run(&mut SqliteExec(&mut self.connection), now).now_or_never();
        self.connection.execute_batch("COMMIT")?;
        done.unwrap_or_else(|| Err(StoreError::Corrupt("an operation did not complete at once".to_owned())))
    }

    pub fn open_target(file: &Path) -> Result<Self, StoreError> {
        Ok(Self {
            connection: open_writer(file)?,
            reading: None,
        })
    }
}
