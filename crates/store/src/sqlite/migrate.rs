//! Runs the schema migrations in order, each in its own transaction.

use rusqlite::Connection;

use crate::error::StoreError;
use crate::migrations::{self, SCHEMA_VERSION};

pub fn run(connection: &mut Connection) -> Result<(), StoreError> {
    let found: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if found > SCHEMA_VERSION {
        return Err(StoreError::NewerSchema {
            found,
            known: SCHEMA_VERSION,
        });
    }
    for (version, text) in migrations::after(found, migrations::SQLITE) {
        let transaction = connection.transaction()?;
        transaction.execute_batch(text)?;
        transaction.pragma_update(None, "user_version", version)?;
        transaction.commit()?;
    }
    Ok(())
}
