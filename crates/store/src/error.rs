use crate::sqlite::high_water_mark::DataLoss;

#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// The database refused or could not be reached; a retry may help.
    #[error("the store is not available: {0}")]
    Unavailable(String),
    /// The database closed the connection; a retry on another connection may work at once.
    #[error("the store is not available: {0}")]
    ConnectionEnded(String),
    /// The connection was lost during COMMIT: the transaction may or may not have been committed.
    #[error("the connection to the store was lost during a commit: {0}")]
    CommitUnknown(String),
    /// A concurrent transaction changed the same row first. An engine with several writers rolls back and runs the
    /// operation again; an engine with a single writer never returns this.
    #[error("another writer changed the same row at the same time; try again")]
    Conflict,
    /// A stored row could not be decoded.
    #[error("the store holds data that cannot be read: {0}")]
    Corrupt(String),
    /// A stored message could not be decoded.
    #[error(transparent)]
    Unreadable(Unreadable),
    /// An audit entry is missing, or the data it covers is not the data that it recorded.
    #[error("the audit trail of {subject} is broken: {why}")]
    AuditBroken { subject: String, why: String },
    #[error("the store was written by a newer countersign (schema {found}, this one supports {known}); upgrade")]
    NewerSchema { found: i64, known: i64 },
    /// A hub on an unfinished copy would serve only part of the data.
    #[error(
        "this is an unfinished copy of {source_name}; finish it with `countersign store copy`, or start the hub on the \
         store it is a copy of"
    )]
    UnfinishedCopy { source_name: String },
    /// The store is behind its high-water mark.
    #[error(
        "data was lost: {0}. An older copy was put back, or hub.db-wal is missing or cut off. Put the newer files back, \
         or start once with `countersign serve --accept-data-loss` to go on without what is missing"
    )]
    DataLoss(DataLoss),
}

/// A message whose stored rows cannot be decoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("message {id} cannot be read: {why}")]
pub struct Unreadable {
    /// As stored, which need not be a valid id.
    pub id: String,
    pub why: String,
}

impl StoreError {
    /// Names the message that an undecodable row belongs to.
    #[must_use]
    pub fn in_message(self, id: &str) -> Self {
        match self {
            Self::Corrupt(why) => Self::Unreadable(Unreadable { id: id.to_owned(), why }),
            other => other,
        }
    }

    /// Whether stored data is damaged, which no retry repairs.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Corrupt(_) | Self::Unreadable(_) | Self::AuditBroken { .. })
    }
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
