use futures_util::TryStreamExt;
use tokio_postgres::error::SqlState;

use super::PostgresSide;
use crate::copy::catalogue;
use crate::copy::endpoints::{BatchSize, CopySource, SequenceNumbers};
use crate::copy::marker::{self, CopyMarker};
use crate::copy::sql::{self, quoted};
use crate::copy::table::TableSchema;
use crate::error::StoreError;
use crate::exec::{Param, Row};
use crate::postgres::values;

/// From the system catalogues: the information_schema views take a hundred times as long and hide tables of other
/// owners.
const CATALOGUE: &str = "SELECT t.relname::text, c.attname::text, format_type(c.atttypid, NULL), \
         coalesce(k.key_position, 0) \
     FROM pg_class t JOIN pg_attribute c ON c.attrelid = t.oid AND c.attnum > 0 AND NOT c.attisdropped \
     LEFT JOIN pg_constraint p ON p.conrelid = t.oid AND p.contype = 'p' \
     LEFT JOIN LATERAL unnest(p.conkey) WITH ORDINALITY AS k (number, key_position) ON k.number = c.attnum \
     WHERE t.relnamespace = current_schema()::regnamespace AND t.relkind IN ('r', 'p')";
const NUMBERS: &str = "SELECT table_name::text, pg_sequence_last_value(pg_get_serial_sequence( \
         quote_ident(table_name), column_name)::regclass) \
     FROM information_schema.columns WHERE table_schema = current_schema() AND is_identity = 'YES'";

impl CopySource for PostgresSide {
    const ALLOWS_NUL: bool = false;

    async fn running_hubs(&mut self) -> Result<Option<String>, StoreError> {
        self.find_running_hubs().await
    }

    async fn version(&mut self) -> Result<Option<i64>, StoreError> {
        let known = self
            .connection
            .query_one("SELECT to_regclass('schema_version') IS NOT NULL", &[])
            .await?;
        if !known.try_get::<_, bool>(0)? {
            return Ok(None);
        }
        let found = self
            .connection
            .query_one("SELECT version FROM schema_version", &[])
            .await?;
        Ok(Some(found.try_get(0)?))
    }

    async fn marker(&mut self) -> Result<Option<CopyMarker>, StoreError> {
        marker::of_database(&self.connection).await
    }

    async fn tables(&mut self) -> Result<Vec<TableSchema>, StoreError> {
        let rows = self.connection.query(CATALOGUE, &[]).await?;
        catalogue::tables(rows.iter().map(values::owned).collect::<Result<_, _>>()?)
    }

    /// The lock comes before the first query, which fixes the snapshot: an undetected hub can still read, but changes
    /// nothing until the copy has ended.
    async fn lock_and_snapshot(&mut self, tables: &[TableSchema]) -> Result<(), StoreError> {
        self.connection
            .batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            .await?;
        let names: Vec<String> = tables.iter().map(|table| quoted(&table.name)).collect();
        let lock = format!("LOCK TABLE {} IN SHARE MODE", names.join(", "));
        match self.connection.batch_execute(&lock).await {
            Err(error) if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) => {
                let why = "another connection is writing to it; stop every hub that uses it first";
                Err(StoreError::Unavailable(why.to_owned()))
            }
            locked => Ok(locked?),
        }
    }

    async fn numbers(&mut self) -> Result<SequenceNumbers, StoreError> {
        let mut numbers = SequenceNumbers::new();
        for row in self.connection.query(NUMBERS, &[]).await? {
            if let Some(number) = row.try_get(1)? {
                numbers.insert(row.try_get(0)?, number);
            }
        }
        Ok(numbers)
    }

    async fn start_reading(&mut self, table: &TableSchema, after: Option<Row>) -> Result<(), StoreError> {
        let text = match &after {
            None => sql::POSTGRES.select_all(table),
            Some(_) => sql::POSTGRES.select_rest(table),
        };
        let key = after.iter().flat_map(|key| &key.0).map(Param::from).collect::<Vec<_>>();
        let statement = self.connection.prepare(&text).await?;
        self.reading = Some(Box::pin(self.connection.query_raw(&statement, key).await?));
        Ok(())
    }

    async fn next_rows(&mut self, batch_size: BatchSize) -> Result<Vec<Row>, StoreError> {
        let mut found = Vec::new();
        let mut bytes = 0;
        while !batch_size.is_reached(found.len(), bytes)
            && let Some(reading) = &mut self.reading
        {
            match reading.try_next().await? {
                Some(row) => {
                    let row = values::owned(&row)?;
                    bytes += row.size();
                    found.push(row);
                }
                // A finished stream must not be polled again.
                None => self.reading = None,
            }
        }
        Ok(found)
    }
}
