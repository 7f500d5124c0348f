//! The agent's journal: sent drafts, actions on outcomes, and the jtis of received pushes. One SQLite file, which
//! several processes may use at once.

mod actions;
mod drafts;
mod file;
mod process;
mod seen_jtis;

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use countersign_protocol::time::Timestamp;
use rusqlite::{Connection, Transaction, TransactionBehavior};

pub use actions::{Action, ActionState, Claim, Reservation};
pub use drafts::StoredDraft;

/// Why the journal refused or failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JournalError {
    /// The file cannot be opened, read or written.
    #[error("the journal is not available: {0}")]
    Unavailable(String),
    /// The file is another kind of database.
    #[error("{0} is not an agent's journal: choose another file")]
    NotAJournal(String),
    /// Nothing was changed.
    #[error("the journal was written by a newer countersign (schema {found}, this one knows {known}); upgrade")]
    NewerSchema {
        /// The schema of the file.
        found: i64,
        /// The newest schema of this version.
        known: i64,
    },
    /// A row was changed by another program.
    #[error("the journal holds something unreadable: {0}")]
    Unreadable(String),
    /// [`Journal::store_draft`] comes before sending.
    #[error("the journal has no message {idempotency_key} of {agent_id} to this hub: store it before sending it")]
    NoSuchDraft {
        /// The agent that was named.
        agent_id: String,
        /// The key that was named.
        idempotency_key: String,
    },
    /// The reservation was ended by another process.
    #[error("the action on {0} is no longer reserved: it was forgotten or finished in the meantime")]
    NotReserved(String),
    /// A running process has the reservation.
    #[error("the action on {0} is under way: wait until it ends")]
    UnderWay(String),
    /// Only interrupted and failed actions can be forgotten.
    #[error("the action on {0} is done: to do it again, ask a new question")]
    Done(String),
}

impl From<rusqlite::Error> for JournalError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Unavailable(error.to_string())
    }
}

/// Cheap to clone; the clones share one connection.
#[derive(Clone)]
pub struct Journal(Arc<Mutex<Connection>>);

impl Journal {
    /// Opens the journal. Creates the file and its directories if they are missing, readable only by their owner.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        Ok(Self(Arc::new(Mutex::new(file::open(path)?))))
    }

    /// A poisoned lock is fine: a transaction interrupted by a panic was rolled back.
    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `work` in an immediate transaction: taking the write lock first keeps other processes out between its reads
    /// and writes.
    fn write<T>(&self, work: impl FnOnce(&Transaction<'_>) -> Result<T, JournalError>) -> Result<T, JournalError> {
        let mut connection = self.connection();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let done = work(&transaction)?;
        transaction.commit()?;
        Ok(done)
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Journal")
    }
}

#[expect(clippy::disallowed_methods, reason = "an agent has no other clock")]
fn now() -> Timestamp {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
}

fn at_most(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
