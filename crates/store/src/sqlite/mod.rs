//! The embedded engine: one database file, one writer thread with group commit, a few read-only connections.

mod checkpoint;
pub mod connection;
pub mod migrate;
mod readers;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::clock::Clock;
use crate::copy;
use crate::error::StoreError;
use crate::exec::{AccessMode, Op};
use checkpoint::Checkpointer;
use readers::Readers;
use writer::SqliteWriter;

pub struct Sqlite {
    writer: SqliteWriter,
    readers: Arc<Readers>,
    file: PathBuf,
}

impl Sqlite {
    pub fn open(file: &Path, clock: Arc<dyn Clock>) -> Result<Self, StoreError> {
        let mut connection = connection::open_writer(file)?;
        copy::refuse_unfinished_file(&connection)?;
        migrate::run(&mut connection)?;
        let readers = Arc::new(Readers::open(file, Arc::clone(&clock))?);
        let checkpointer = Checkpointer::start(file, &mut connection)?;
        Ok(Self {
            writer: SqliteWriter::start(connection, checkpointer, clock)?,
            readers,
            file: file.to_owned(),
        })
    }

    /// Checkpoints the whole write-ahead log, so that the database file alone holds the whole store.
    pub fn checkpoint(&self) -> Result<(), StoreError> {
        let connection = connection::open_writer(&self.file)?;
        Ok(connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")?)
    }

    pub async fn run<O: Op>(&self, op: O) -> Result<O::Out, StoreError> {
        match O::MODE {
            AccessMode::Write | AccessMode::UnacknowledgedWrite => self.writer.run(op).await,
            // On the caller's thread: a lookup by key costs less than handing it to another thread.
            AccessMode::Read => self.readers.run(&op),
            AccessMode::Scan => {
                let readers = Arc::clone(&self.readers);
                tokio::task::spawn_blocking(move || readers.run(&op))
                    .await
                    .map_err(|error| StoreError::Unavailable(error.to_string()))?
            }
        }
    }
}
