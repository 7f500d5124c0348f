use std::pin::pin;

use bytes::Bytes;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

use super::PostgresSide;
use crate::copy::endpoints::{CopyTarget, SequenceNumbers};
use crate::copy::marker::CopyMarker;
use crate::copy::sql::{self, quoted};
use crate::copy::table::{ColumnKind, TableSchema};
use crate::error::StoreError;
use crate::exec::{Param, Row};
use crate::postgres::{migrate, values};

/// The advisory lock of copies into one database. The number spells "cscopies".
const LOCK: i64 = i64::from_be_bytes(*b"cscopies");

const BEGIN_MARK: &str = "CREATE TABLE copying (source_name TEXT NOT NULL, content BYTEA NOT NULL);
    DELETE FROM message_search;
    UPDATE search_mark SET settled = 0, high = 0, horizon = 0";
const IDENTITIES: &str = "SELECT table_name::text, column_name::text FROM information_schema.columns \
     WHERE table_schema = current_schema() AND is_identity = 'YES'";

impl CopyTarget for PostgresSide {
    /// The connection holds the lock. Taking it waits a little, because the connection of a killed copy takes a moment
    /// to end.
    async fn lock(&mut self) -> Result<bool, StoreError> {
        match self.connection.execute("SELECT pg_advisory_lock($1)", &[&LOCK]).await {
            Err(error) if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) => Ok(false),
            Err(error) => Err(error.into()),
            Ok(_) => Ok(true),
        }
    }

    async fn count(&mut self, table: &TableSchema) -> Result<u64, StoreError> {
        let count: i64 = self.connection.query_one(&sql::count(table), &[]).await?.try_get(0)?;
        Ok(count.unsigned_abs())
    }

    async fn migrate(&mut self) -> Result<(), StoreError> {
        migrate::run(&self.pool).await
    }

    async fn set_marker(&mut self, mark: &CopyMarker) -> Result<(), StoreError> {
        const INSERT: &str = "INSERT INTO copying (source_name, content) VALUES ($1, $2)";
        let transaction = self.connection.transaction().await?;
        transaction.batch_execute(BEGIN_MARK).await?;
        transaction
            .execute(INSERT, &[&mark.source_name, &mark.content.as_bytes()])
            .await?;
        Ok(transaction.commit().await?)
    }

    async fn remove_marker(&mut self) -> Result<(), StoreError> {
        Ok(self.connection.batch_execute("DROP TABLE copying").await?)
    }

    async fn last_key(&mut self, table: &TableSchema) -> Result<Option<Row>, StoreError> {
        let found = self.connection.query_opt(&sql::POSTGRES.last_key(table), &[]).await?;
        found.map(|row| values::owned(&row)).transpose()
    }

    /// One COPY statement is one transaction, and many times faster than an INSERT per row.
    async fn insert(&mut self, table: &TableSchema, rows: &[Row]) -> Result<(), StoreError> {
        let name = quoted(&table.name);
        let columns = sql::columns(table);
        let text = format!("COPY {name} ({columns}) FROM STDIN BINARY");
        let sink = self.connection.copy_in::<_, Bytes>(&text).await?;
        let types: Vec<Type> = table.columns.iter().map(|column| wire_type(column.kind)).collect();
        let mut writer = pin!(BinaryCopyInWriter::new(sink, &types));
        for row in rows {
            writer.as_mut().write_raw(row.0.iter().map(Param::from)).await?;
        }
        writer.finish().await?;
        Ok(())
    }

    async fn advance_sequences(&mut self, numbers: &SequenceNumbers) -> Result<(), StoreError> {
        for row in self.connection.query(IDENTITIES, &[]).await? {
            let (table, column): (String, String) = (row.try_get(0)?, row.try_get(1)?);
            let known = numbers.get(&table).copied();
            // NULL for an empty table without a known number: the first row then gets number one.
            let highest = format!(
                "greatest((SELECT max({}) FROM {}), $3)",
                quoted(&column),
                quoted(&table)
            );
            let raise = format!("SELECT setval(pg_get_serial_sequence(quote_ident($1), $2), {highest})");
            self.connection.execute(&raise, &[&table, &column, &known]).await?;
        }
        Ok(())
    }

    /// Gives the query planner statistics for the hub's first queries.
    async fn optimize(&mut self) -> Result<(), StoreError> {
        Ok(self.connection.batch_execute("ANALYZE").await?)
    }
}

fn wire_type(kind: ColumnKind) -> Type {
    match kind {
        ColumnKind::Int => Type::INT8,
        ColumnKind::Text => Type::TEXT,
        ColumnKind::Bytes => Type::BYTEA,
    }
}
