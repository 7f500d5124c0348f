use super::table::Difference;
use crate::error::StoreError;

/// Why there is no copy, in words for whoever asked for it. Databases are named as `Place` shows them: without a password.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    #[error("{place}: {error}")]
    Store { place: String, error: StoreError },
    #[error("there is no hub's store in {place}")]
    NoStore { place: String },
    #[error(
        "{place} has schema {found}, and this countersign copies schema {known}: start this version's hub on it once, \
         stop it, and copy then"
    )]
    OlderSchema { place: String, found: i64, known: i64 },
    #[error("{place} is itself an unfinished copy, of {of}; finish that one first, or copy from {of}")]
    HalfCopiedSource { place: String, of: String },
    #[error("a hub is at work on {place} ({sign}); stop every hub on it first")]
    HubAtWork { place: String, sign: String },
    #[error("another copy into {place} is under way; let it finish, or stop it")]
    CopyUnderWay { place: String },
    #[error("{place} is not empty: there are rows in its table {table}. Nothing was changed; name an empty target")]
    NotEmpty { place: String, table: String },
    #[error(
        "{place} holds an unfinished copy of another store, or of this one before it changed (it was {of}). Nothing was \
         changed; empty it, or name another target"
    )]
    AnotherCopy { place: String, of: String },
    #[error("the two sides do not have the same tables: {0}. Nothing was copied")]
    Tables(Difference),
    /// Found while the source is read, before anything is written.
    #[error("{place} holds what cannot be copied: {table} ({key}): {what}. Nothing was copied")]
    Unfit {
        place: String,
        table: String,
        key: String,
        what: String,
    },
    #[error("this is not a URL of PostgreSQL, such as postgres://user@host/database")]
    NotAUrl,
}
