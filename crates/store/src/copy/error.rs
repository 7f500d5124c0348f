use super::table::Difference;
use crate::error::StoreError;

/// Why a copy failed. Databases are named as `StoreLocation` displays them: without a password.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    #[error("{location}: {error}")]
    Store { location: String, error: StoreError },
    #[error("{location} holds no countersign store")]
    NoStore { location: String },
    #[error(
        "{location} has schema {found}, and this countersign copies schema {known}: start this version's hub on it \
         once, stop it, and copy then"
    )]
    OlderSchema { location: String, found: i64, known: i64 },
    #[error(
        "{location} has schema {found}, and this countersign reads schema {known}: use the version that its hub has"
    )]
    OtherSchema { location: String, found: i64, known: i64 },
    #[error("{location} is itself an unfinished copy, of {of}; finish that one first, or copy from {of}")]
    UnfinishedSource { location: String, of: String },
    #[error("a hub is running on {location} ({sign}); stop every hub that uses it first")]
    HubRunning { location: String, sign: String },
    #[error("another copy into {location} is in progress; let it finish, or stop it")]
    CopyInProgress { location: String },
    #[error("{location} is not empty: there are rows in its table {table}. Nothing was changed; name an empty target")]
    NotEmpty { location: String, table: String },
    #[error(
        "{location} holds an unfinished copy of another store, or of this one before it changed (it was {of}). Nothing \
         was changed; empty it, or name another target"
    )]
    OtherCopy { location: String, of: String },
    #[error("source and target do not have the same tables: {0}. Nothing was copied")]
    Tables(Difference),
    /// Found while reading the source, before anything is written.
    #[error("{location} holds a row that cannot be copied: {table} ({key}): {what}. Nothing was copied")]
    InvalidRow {
        location: String,
        table: String,
        key: String,
        what: String,
    },
    #[error("this is not a PostgreSQL URL; write it as postgres://user@host/database")]
    InvalidUrl,
}
