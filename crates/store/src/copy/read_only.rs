//! Runs an operation on a store that a hub may be using, without opening it as a hub does.

use super::endpoints::CopySource;
use super::error::CopyError;
use super::location::StoreLocation;
use super::postgres::PostgresSide;
use super::sqlite::SqliteSide;
use crate::clock::{Clock, SystemClock};
use crate::exec::Op;
use crate::migrations::SCHEMA_VERSION;

/// Nothing is changed, locked or migrated. The operation sees one snapshot.
pub async fn read_only<O: Op>(location: &StoreLocation, op: &O) -> Result<O::Out, CopyError> {
    let now = SystemClock.now();
    match location {
        StoreLocation::File(file) if !file.is_file() => Err(CopyError::NoStore {
            location: location.to_string(),
        }),
        StoreLocation::File(file) => {
            let mut side = SqliteSide::open_source(file).map_err(|error| location.store_error(error))?;
            check_schema(&mut side, location).await?;
            side.read(op, now).map_err(|error| location.store_error(error))
        }
        StoreLocation::Database(database) => {
            let connected = PostgresSide::connect(&database.config).await;
            let mut side = connected.map_err(|error| location.store_error(error))?;
            check_schema(&mut side, location).await?;
            side.read(op, now).await.map_err(|error| location.store_error(error))
        }
    }
}

async fn check_schema<S: CopySource>(side: &mut S, location: &StoreLocation) -> Result<(), CopyError> {
    match side.version().await.map_err(|error| location.store_error(error))? {
        Some(SCHEMA_VERSION) => Ok(()),
        Some(found) => Err(CopyError::OtherSchema {
            location: location.to_string(),
            found,
            known: SCHEMA_VERSION,
        }),
        None => Err(CopyError::NoStore {
            location: location.to_string(),
        }),
    }
}
