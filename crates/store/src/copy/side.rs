//! What a copy asks of a database, as the one it reads from and as the one it writes to.

use std::collections::BTreeMap;

use super::mark::Mark;
use super::table::Table;
use crate::error::StoreError;
use crate::exec::Row;

/// How much is read or written at once: so many rows, or the one with which they reach so many bytes.
#[derive(Debug, Clone, Copy)]
pub struct Portion {
    pub rows: usize,
    pub bytes: usize,
}

impl Default for Portion {
    fn default() -> Self {
        Self {
            rows: 10_000,
            bytes: 4 * 1024 * 1024,
        }
    }
}

impl Portion {
    pub fn is_reached(self, rows: usize, bytes: usize) -> bool {
        rows >= self.rows || bytes >= self.bytes
    }
}

/// The highest number that was ever given to a row, by table, where the database remembers it beyond the row.
pub type Numbers = BTreeMap<String, i64>;

pub trait Source {
    /// Whether U+0000 can stand in a text.
    const TAKES_NUL: bool;

    /// What shows that there are any, in words.
    async fn hubs_at_work(&mut self) -> Result<Option<String>, StoreError>;
    /// Of the schema; nothing where there is none.
    async fn version(&mut self) -> Result<Option<i64>, StoreError>;
    async fn mark(&mut self) -> Result<Option<Mark>, StoreError>;
    /// What is to be copied, by name.
    async fn tables(&mut self) -> Result<Vec<Table>, StoreError>;
    /// From here on everything is read as it is at this moment, and nobody changes it.
    async fn hold(&mut self, tables: &[Table]) -> Result<(), StoreError>;
    async fn numbers(&mut self) -> Result<Numbers, StoreError>;
    /// All rows of a table in the order of its key.
    async fn start_reading(&mut self, table: &Table, after: Option<Row>) -> Result<(), StoreError>;
    /// None when there are no more.
    async fn next_rows(&mut self, portion: Portion) -> Result<Vec<Row>, StoreError>;
}

pub trait Target: Source {
    /// Keeps other copies out for as long as this one goes on; false if one is there already.
    async fn take(&mut self) -> Result<bool, StoreError>;
    async fn count(&mut self, table: &Table) -> Result<u64, StoreError>;
    async fn migrate(&mut self) -> Result<(), StoreError>;
    /// Together with what is left out being as in a new store.
    async fn put_mark(&mut self, mark: &Mark) -> Result<(), StoreError>;
    async fn remove_mark(&mut self) -> Result<(), StoreError>;
    async fn last_key(&mut self, table: &Table) -> Result<Option<Row>, StoreError>;
    /// In one transaction.
    async fn insert(&mut self, table: &Table, rows: &[Row]) -> Result<(), StoreError>;
    /// No number is given to a row that another row has, or had.
    async fn go_on_after(&mut self, numbers: &Numbers) -> Result<(), StoreError>;
    /// What a database does better now than when a hub works on it.
    async fn settle(&mut self) -> Result<(), StoreError>;
}
