use std::path::Path;

use rusqlite::{OptionalExtension, params};

use super::SqliteSide;
use crate::copy::endpoints::{CopyTarget, SequenceNumbers};
use crate::copy::marker::CopyMarker;
use crate::copy::sql;
use crate::copy::table::TableSchema;
use crate::error::StoreError;
use crate::exec::{Param, Row, Value};
use crate::sqlite::connection::bind;
use crate::sqlite::high_water_mark;
use crate::sqlite::migrate;

/// FTS5's own command empties the index: it stores no texts that a DELETE could remove.
const BEGIN_MARK: &str = "CREATE TABLE copying (source_name TEXT NOT NULL, content BLOB NOT NULL);
    INSERT INTO message_search (message_search) VALUES ('delete-all');
    UPDATE search_mark SET settled = 0, high = 0, horizon = 0;";

impl CopyTarget for SqliteSide {
    /// The caller holds the directory lock.
    async fn lock(&mut self) -> Result<bool, StoreError> {
        Ok(true)
    }

    async fn count(&mut self, table: &TableSchema) -> Result<u64, StoreError> {
        let count: i64 = self.connection.query_row(&sql::count(table), [], |row| row.get(0))?;
        Ok(count.unsigned_abs())
    }

    async fn migrate(&mut self) -> Result<(), StoreError> {
        migrate::run(&mut self.connection)
    }

    async fn set_marker(&mut self, mark: &CopyMarker) -> Result<(), StoreError> {
        const INSERT: &str = "INSERT INTO copying (source_name, content) VALUES (?1, ?2)";
        // The high-water mark of an earlier store in this file says nothing about the copy.
        if let Some(file) = self.connection.path() {
            high_water_mark::remove(Path::new(file))?;
        }
        let transaction = self.connection.transaction()?;
        transaction.execute_batch(BEGIN_MARK)?;
        transaction.execute(INSERT, params![mark.source_name, mark.content.as_bytes()])?;
        Ok(transaction.commit()?)
    }

    async fn remove_marker(&mut self) -> Result<(), StoreError> {
        Ok(self.connection.execute_batch("DROP TABLE copying")?)
    }

    async fn last_key(&mut self, table: &TableSchema) -> Result<Option<Row>, StoreError> {
        let key = |row: &rusqlite::Row<'_>| {
            let value = |index| Ok::<_, rusqlite::Error>(Value::from(row.get::<_, rusqlite::types::Value>(index)?));
            (0..table.key.len()).map(value).collect::<Result<_, _>>().map(Row)
        };
        Ok(self
            .connection
            .query_row(&sql::SQLITE.last_key(table), [], key)
            .optional()?)
    }

    async fn insert(&mut self, table: &TableSchema, rows: &[Row]) -> Result<(), StoreError> {
        let transaction = self.connection.transaction()?;
        let mut statement = transaction.prepare_cached(&sql::SQLITE.insert(table))?;
        for row in rows {
            bind(&mut statement, row.0.iter().map(Param::from))?;
            statement.raw_execute()?;
        }
        drop(statement);
        Ok(transaction.commit()?)
    }

    /// Only AUTOINCREMENT tables remember their last number; the others continue after their last row.
    async fn advance_sequences(&mut self, numbers: &SequenceNumbers) -> Result<(), StoreError> {
        const COUNT_AUTOINCREMENT: &str =
            "SELECT count(*) FROM sqlite_schema WHERE name = ?1 AND sql LIKE '%AUTOINCREMENT%'";
        const RAISE_SEQUENCE: &str = "UPDATE sqlite_sequence SET seq = max(seq, ?2) WHERE name = ?1";
        const INSERT_SEQUENCE: &str = "INSERT INTO sqlite_sequence (name, seq) VALUES (?1, ?2)";
        for (table, number) in numbers {
            let autoincrement_tables: i64 = self
                .connection
                .query_row(COUNT_AUTOINCREMENT, [table], |row| row.get(0))?;
            if autoincrement_tables > 0 && self.connection.execute(RAISE_SEQUENCE, params![table, number])? == 0 {
                self.connection.execute(INSERT_SEQUENCE, params![table, number])?;
            }
        }
        Ok(())
    }

    /// Checkpoints, so that the file alone holds the whole store except the marker; closing the connection handles
    /// that.
    async fn optimize(&mut self) -> Result<(), StoreError> {
        Ok(self.connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")?)
    }
}

impl From<rusqlite::types::Value> for Value {
    fn from(value: rusqlite::types::Value) -> Self {
        use rusqlite::types::Value as Found;
        match value {
            Found::Integer(number) => Self::Int(number),
            Found::Text(text) => Self::Text(text),
            Found::Blob(bytes) => Self::Blob(bytes),
            Found::Null | Found::Real(_) => Self::Null,
        }
    }
}
