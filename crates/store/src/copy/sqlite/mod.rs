//! The SQLite side of a copy.

mod read;
mod write;

use std::path::Path;

use rusqlite::Connection;

use super::table::TableSchema;
use crate::error::StoreError;
use crate::exec::Row;
use crate::sqlite::connection::{open_reader, open_writer};

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

    pub fn open_target(file: &Path) -> Result<Self, StoreError> {
        Ok(Self {
            connection: open_writer(file)?,
            reading: None,
        })
    }
}
