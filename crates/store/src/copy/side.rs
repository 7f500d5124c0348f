//! What a copy asks of a database, as the one it reads from and as the one it writes to.

use std::collections::BTreeMap;

use super::mark::CopyMarker;
use super::table::TableSchema;
use crate::error::StoreError;
use crate::exec::Row;

/// How much is read or written at once: so many rows, or the one with which they reach so many bytes.
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

/// The highest number that was ever given to a row, by table, where the database remembers it beyond the row.
pub type SequenceNumbers = BTreeMap<String, i64>;

pub trait CopySource {
    /// Whether U+0000 can stand in a text.
    const ALLOWS_NUL: bool;

    /// What shows that there are any, in words.
    async fn running_hubs(&mut self) -> Result<Option<String>, StoreError>;
    /// Of the schema; nothing where there is none.
    async fn version(&mut self) -> Result<Option<i64>, StoreError>;
    async fn marker(&mut self) -> Result<Option<CopyMarker>, StoreError>;
    /// What is to be copied, by name.
    async fn tables(&mut self) -> Result<Vec<TableSchema>, StoreError>;
    /// From here on everything is read as it is at this moment, and nobody changes it.
    async fn lock_and_snapshot(&mut self, tables: &[TableSchema]) -> Result<(), StoreError>;
    async fn numbers(&mut self) -> Result<SequenceNumbers, StoreError>;
    /// All rows of a table in the order of its key.
    async fn start_reading(&mut self, table: &TableSchema, after: Option<Row>) -> Result<(), StoreError>;
    /// None when there are no more.
    async fn next_rows(&mut self, batch_size: BatchSize) -> Result<Vec<Row>, StoreError>;
}

pub trait CopyTarget: CopySource {
    /// Keeps other copies out for as long as this one goes on; false if one is there already.
    async fn lock(&mut self) -> Result<bool, StoreError>;
    async fn count(&mut self, table: &TableSchema) -> Result<u64, StoreError>;
    async fn migrate(&mut self) -> Result<(), StoreError>;
    /// Together with what is left out being as in a new store.
    async fn set_marker(&mut self, mark: &CopyMarker) -> Result<(), StoreError>;
    async fn remove_marker(&mut self) -> Result<(), StoreError>;
    async fn last_key(&mut self, table: &TableSchema) -> Result<Option<Row>, StoreError>;
    /// In one transaction.
    async fn insert(&mut self, table: &TableSchema, rows: &[Row]) -> Result<(), StoreError>;
    /// No number is given to a row that another row has, or had.
    async fn advance_sequences(&mut self, numbers: &SequenceNumbers) -> Result<(), StoreError>;
    /// What a database does better now than when a hub works on it.
    async fn optimize(&mut self) -> Result<(), StoreError>;
}
