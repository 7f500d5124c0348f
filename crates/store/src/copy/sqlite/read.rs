use rusqlite::types::ValueRef;

use super::{SqliteSide, TableCursor};
use crate::copy::catalogue;
use crate::copy::endpoints::{BatchSize, CopySource, SequenceNumbers};
use crate::copy::marker::{self, CopyMarker};
use crate::copy::sql;
use crate::copy::table::TableSchema;
use crate::error::StoreError;
use crate::exec::{Param, Row, Value};
use crate::sqlite::connection::bind;

/// The tables of the search index have the types "virtual" and "shadow"; SQLite's own tables start with `sqlite_`.
const CATALOGUE: &str = "SELECT t.name, c.name, c.type, c.pk FROM pragma_table_list t, pragma_table_info(t.name) c \
     WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";

impl CopySource for SqliteSide {
    const ALLOWS_NUL: bool = true;

    /// The caller holds the directory lock, so no hub is running.
    async fn running_hubs(&mut self) -> Result<Option<String>, StoreError> {
        Ok(None)
    }

    async fn version(&mut self) -> Result<Option<i64>, StoreError> {
        let found: i64 = self.connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        Ok((found != 0).then_some(found))
    }

    async fn marker(&mut self) -> Result<Option<CopyMarker>, StoreError> {
        marker::of_file(&self.connection)
    }

    async fn tables(&mut self) -> Result<Vec<TableSchema>, StoreError> {
        let mut statement = self.connection.prepare(CATALOGUE)?;
        let row = |row: &rusqlite::Row<'_>| {
            Ok(Row(vec![
                Value::Text(row.get(0)?),
                Value::Text(row.get(1)?),
                Value::Text(row.get(2)?),
                Value::Int(row.get(3)?),
            ]))
        };
        catalogue::tables(statement.query_map([], row)?.collect::<Result<_, _>>()?)
    }

    async fn lock_and_snapshot(&mut self, _tables: &[TableSchema]) -> Result<(), StoreError> {
        Ok(self.connection.execute_batch("BEGIN")?)
    }

    async fn numbers(&mut self) -> Result<SequenceNumbers, StoreError> {
        let mut statement = self.connection.prepare("SELECT name, seq FROM sqlite_sequence")?;
        let numbers = statement
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<_, _>>()?;
        Ok(numbers)
    }

    async fn start_reading(&mut self, table: &TableSchema, after: Option<Row>) -> Result<(), StoreError> {
        self.reading = Some(TableCursor {
            table: table.clone(),
            after,
        });
        Ok(())
    }

    async fn next_rows(&mut self, batch_size: BatchSize) -> Result<Vec<Row>, StoreError> {
        let Some(TableCursor { table, after }) = &mut self.reading else {
            return Ok(Vec::new());
        };
        let text = match after {
            None => sql::SQLITE.select_all(table),
            Some(_) => sql::SQLITE.select_rest(table),
        };
        let mut statement = self.connection.prepare_cached(&text)?;
        bind(&mut statement, after.iter().flat_map(|key| &key.0).map(Param::from))?;
        let mut found = Vec::new();
        let mut bytes = 0;
        let mut rows = statement.raw_query();
        while !batch_size.is_reached(found.len(), bytes)
            && let Some(row) = rows.next()?
        {
            let row = owned(table, row)?;
            bytes += row.size();
            found.push(row);
        }
        if let Some(last) = found.last() {
            *after = Some(table.key_of(last));
        }
        Ok(found)
    }
}

fn owned(table: &TableSchema, row: &rusqlite::Row<'_>) -> Result<Row, StoreError> {
    let mut values = Vec::with_capacity(table.columns.len());
    let mut unreadable = None;
    for (index, column) in table.columns.iter().enumerate() {
        values.push(match row.get_ref(index)? {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(number) => Value::Int(number),
            ValueRef::Blob(bytes) => Value::Blob(bytes.to_owned()),
            // Not lossily, as a hub reads it: a copy must be exact.
            ValueRef::Text(text) if let Ok(text) = str::from_utf8(text) => Value::Text(text.to_owned()),
            ValueRef::Text(_) | ValueRef::Real(_) => {
                unreadable = Some(&column.name);
                Value::Null
            }
        });
    }
    let row = Row(values);
    let Some(column) = unreadable else { return Ok(row) };
    let name = &table.name;
    let key = table.describe_key(&row);
    Err(StoreError::Corrupt(format!(
        "{name} ({key}): {column} is neither text, a whole number nor bytes"
    )))
}
