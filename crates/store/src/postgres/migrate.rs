//! Runs the schema migrations in order and in one transaction, by one hub at a time.

use deadpool_postgres::{Pool, Transaction};

use crate::error::StoreError;
use crate::migrations::{self, SCHEMA_VERSION};

/// The advisory lock that serializes migrations between nodes. The number spells "counters".
const LOCK: i64 = i64::from_be_bytes(*b"counters");

pub async fn run(pool: &Pool) -> Result<(), StoreError> {
    let mut connection = pool.get().await?;
    let transaction = connection.transaction().await?;
    // Another hub may be migrating, and large tables take time.
    transaction
        .batch_execute("SET LOCAL lock_timeout = '10min'; SET LOCAL statement_timeout = 0")
        .await?;
    transaction
        .execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK])
        .await?;
    let found = version(&transaction).await?;
    if found > SCHEMA_VERSION {
        return Err(StoreError::NewerSchema {
            found,
            known: SCHEMA_VERSION,
        });
    }
    for (version, text) in migrations::after(found, migrations::POSTGRES) {
        transaction.batch_execute(text).await?;
        transaction
            .execute("UPDATE schema_version SET version = $1", &[&version])
            .await?;
    }
    Ok(transaction.commit().await?)
}

/// 0 for an empty database.
async fn version(transaction: &Transaction<'_>) -> Result<i64, StoreError> {
    let known = transaction
        .query_one("SELECT to_regclass('schema_version') IS NOT NULL", &[])
        .await?;
    if !known.try_get::<_, bool>(0)? {
        return Ok(0);
    }
    Ok(transaction
        .query_one("SELECT version FROM schema_version", &[])
        .await?
        .try_get(0)?)
}
