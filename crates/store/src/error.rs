#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// The database refused or could not be reached; trying again may help.
    #[error("the store is not available: {0}")]
    Unavailable(String),
    /// The database ended the connection it was asked on; trying again may help, and on another one at once.
    #[error("the store is not available: {0}")]
    ConnectionEnded(String),
    /// The database went away while it was asked to commit: what was written may be there or not.
    #[error("the connection to the store was lost during a commit: {0}")]
    CommitUnknown(String),
    /// Somebody else changed the same thing first. An engine with several writers undoes the transaction and runs the
    /// operation again; one with a single writer never meets it.
    #[error("another writer changed the same row at the same time; try again")]
    Conflict,
    /// A row does not read as we write them.
    #[error("the store holds data that cannot be read: {0}")]
    Corrupt(String),
    #[error("the store was written by a newer countersign (schema {found}, this one supports {known}); upgrade")]
    NewerSchema { found: i64, known: i64 },
    /// It would serve a part of what people and agents left in the other one.
    #[error(
        "this is an unfinished copy of {source_name}; finish it with `countersign store copy`, or start the hub on the \
         store it is a copy of"
    )]
    UnfinishedCopy { source_name: String },
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Unavailable(error.to_string())
    }
}

impl From<serde_json::Error> for StoreError {
    fn from(error: serde_json::Error) -> Self {
        Self::Corrupt(error.to_string())
    }
}
