use super::table::Difference;
use crate::error::StoreError;

/// Why a copy failed. Databases are named as `StoreLocation` displays them: without a password.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    #[error("{place}: {error}")]
    Store { place: String, error: StoreError },
    #[error("{place} holds no countersign store")]
    NoStore { place: String },
    #[error(
        "{place} has schema {found}, and this countersign copies schema {known}: start this version's hub on it once, \
         stop it, and copy then"
    )]
    OlderSchema { place: String, found: i64, known: i64 },
    #[error("{place} has schema {found}, and this countersign reads schema {known}: use the version that its hub has")]
    OtherSchema { place: String, found: i64, known: i64 },
    #[error("{place} is itself an unfinished copy, of {of}; finish that one first, or copy from {of}")]
    UnfinishedSource { place: String, of: String },
    #[error("a hub is running on {place} ({sign}); stop every hub that uses it first")]
    HubRunning { place: String, sign: String },
    #[error("another copy into {place} is in progress; let it finish, or stop it")]
    CopyInProgress { place: String },
    #[error("{place} is not empty: there are rows in its table {table}. Nothing was changed; name an empty target")]
    NotEmpty { place: String, table: String },
    #[error(
        "{place} holds an unfinished copy of another store, or of this one before it changed (it was {of}). Nothing was \
         changed; empty it, or name another target"
    )]
    OtherCopy { place: String, of: String },
    #[error("source and target do not have the same tables: {0}. Nothing was copied")]
    Tables(Difference),
    /// Found while reading the source, before anything is written.
    #[error("{place} holds a row that cannot be copied: {table} ({key}): {what}. Nothing was copied")]
    InvalidRow {
        place: String,
        table: String,
        key: String,
        what: String,
    },
    #[error("this is not a PostgreSQL URL; write it as postgres://user@host/database")]
    InvalidUrl,
}
