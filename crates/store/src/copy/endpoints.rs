//! The operations a copy needs from the database it reads from and from the one it writes to.

use std::collections::BTreeMap;

use super::marker::CopyMarker;
use super::table::TableSchema;
use crate::error::StoreError;
use crate::exec::Row;

/// The size of one batch: full at this many rows, or with the row that reaches this many bytes.
#[derive(Debug, Clone, Copy)]
pub struct BatchSize {
    pub rows: usize,
    pub bytes: usize,
}

impl Default for BatchSize {
    fn default() -> Self {
        Self {
            rows: 10_000,
            bytes: 4 * 1024 * 1024,
        }
    }
}

impl BatchSize {
    pub fn is_reached(self, rows: usize, bytes: usize) -> bool {
        rows >= self.rows || bytes >= self.bytes
    }
}

/// The highest `seq` ever assigned, by table, for tables whose database remembers it after the row is deleted.
pub type SequenceNumbers = BTreeMap<String, i64>;

pub trait CopySource {
    /// Whether a text may contain U+0000.
    const ALLOWS_NUL: bool;

    /// A description of the running hubs, if there are any.
    async fn running_hubs(&mut self) -> Result<Option<String>, StoreError>;
    /// The schema version; `None` without a schema.
    async fn version(&mut self) -> Result<Option<i64>, StoreError>;
    async fn marker(&mut self) -> Result<Option<CopyMarker>, StoreError>;
    /// The tables to copy, sorted by name.
    async fn tables(&mut self) -> Result<Vec<TableSchema>, StoreError>;
    /// From here on reads see one snapshot, and no other connection can change the tables.
    async fn lock_and_snapshot(&mut self, tables: &[TableSchema]) -> Result<(), StoreError>;
    async fn numbers(&mut self) -> Result<SequenceNumbers, StoreError>;
    /// Starts reading the rows of a table in key order.
    async fn start_reading(&mut self, table: &TableSchema, after: Option<Row>) -> Result<(), StoreError>;
    /// Empty at the end of the table.
    async fn next_rows(&mut self, batch_size: BatchSize) -> Result<Vec<Row>, StoreError>;
}

pub trait CopyTarget: CopySource {
    /// Locks out other copies while this one runs; false if another one holds the lock.
    async fn lock(&mut self) -> Result<bool, StoreError>;
    async fn count(&mut self, table: &TableSchema) -> Result<u64, StoreError>;
    async fn migrate(&mut self) -> Result<(), StoreError>;
    /// Sets the marker, and resets the skipped tables to their initial state.
    async fn set_marker(&mut self, mark: &CopyMarker) -> Result<(), StoreError>;
    async fn remove_marker(&mut self) -> Result<(), StoreError>;
    async fn last_key(&mut self, table: &TableSchema) -> Result<Option<Row>, StoreError>;
    /// Inserts the rows in one transaction.
    async fn insert(&mut self, table: &TableSchema, rows: &[Row]) -> Result<(), StoreError>;
    /// Advances the sequences, so that no `seq` is ever assigned twice.
    async fn advance_sequences(&mut self, numbers: &SequenceNumbers) -> Result<(), StoreError>;
    /// Maintenance that is better done now than on a running hub.
    async fn optimize(&mut self) -> Result<(), StoreError>;
}
