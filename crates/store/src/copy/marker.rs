//! The marker of a copy in progress: a separate table in the target, so that it cannot be confused with the store's
//! rows.

use aws_lc_rs::digest::{Context, SHA256};
use countersign_core::Digest;
use deadpool_postgres::Pool;
use rusqlite::{Connection, OptionalExtension};
use tokio_postgres::Client;

use super::checksum::{TableChecksum, finish_digest};
use super::endpoints::SequenceNumbers;
use super::table::TableSchema;
use crate::error::StoreError;
use crate::migrations::SCHEMA_VERSION;

pub const TABLE: &str = "copying";
const READ: &str = "SELECT source_name, content FROM copying";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyMarker {
    /// For error messages.
    pub source_name: String,
    /// The digest of everything to be copied. It differs if the source has changed since: a resumed copy would then mix
    /// two states.
    pub content: Digest,
}

impl CopyMarker {
    pub fn of(
        source_name: String,
        tables: &[(TableSchema, TableChecksum)],
        numbers: &SequenceNumbers,
    ) -> Result<Self, StoreError> {
        let mut context = Context::new(&SHA256);
        context.update(&SCHEMA_VERSION.to_be_bytes());
        for (_, sum) in tables {
            // The digest covers the table's name, and all digests have the same length.
            context.update(&sum.rows.to_be_bytes());
            context.update(sum.digest.as_bytes());
        }
        for (table, number) in numbers {
            context.update(&(table.len() as u64).to_be_bytes());
            context.update(table.as_bytes());
            context.update(&number.to_be_bytes());
        }
        Ok(Self {
            source_name,
            content: finish_digest(context)?,
        })
    }

    fn from_row(source_name: String, content: &[u8]) -> Result<Self, StoreError> {
        let invalid = || StoreError::Corrupt("the marker of a copy has no valid digest".to_owned());
        Ok(Self {
            source_name,
            content: Digest::from_bytes(content).ok_or_else(invalid)?,
        })
    }
}

pub fn of_file(connection: &Connection) -> Result<Option<CopyMarker>, StoreError> {
    let known = "SELECT count(*) FROM sqlite_schema WHERE name = ?1";
    if connection.query_row(known, [TABLE], |row| row.get::<_, i64>(0))? == 0 {
        return Ok(None);
    }
    let found = connection
        .query_row(READ, [], |row| Ok((row.get(0)?, row.get::<_, Vec<u8>>(1)?)))
        .optional()?;
    found
        .map(|(source_name, content)| CopyMarker::from_row(source_name, &content))
        .transpose()
}

pub async fn of_database(client: &Client) -> Result<Option<CopyMarker>, StoreError> {
    let known = client
        .query_one("SELECT to_regclass($1) IS NOT NULL", &[&TABLE])
        .await?;
    if !known.try_get::<_, bool>(0)? {
        return Ok(None);
    }
    let found = client.query_opt(READ, &[]).await?;
    found
        .map(|row| CopyMarker::from_row(row.try_get(0)?, row.try_get(1)?))
        .transpose()
}

/// Runs before anything else: a hub must not even migrate an unfinished copy.
pub fn refuse_unfinished_file(connection: &Connection) -> Result<(), StoreError> {
    refuse(of_file(connection)?)
}

/// A hub connects before it checks, and a copy looks for hubs after it has set its marker: one of the two sees the
/// other.
pub async fn refuse_unfinished_database(pool: &Pool) -> Result<(), StoreError> {
    refuse(of_database(&*pool.get().await?).await?)
}

fn refuse(found: Option<CopyMarker>) -> Result<(), StoreError> {
    found.map_or(Ok(()), |mark| {
        Err(StoreError::UnfinishedCopy {
            source_name: mark.source_name,
        })
    })
}
