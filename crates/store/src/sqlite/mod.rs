//! The embedded engine: one database file, one writer thread with group commit, a few read-only connections.

mod checkpoint;
pub mod connection;
pub mod high_water_mark;
pub mod inspect;
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
use high_water_mark::{DataLoss, MarkFile};
use readers::Readers;
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use writer::SqliteWriter;

pub struct Sqlite {
    writer: SqliteWriter,
    readers: Arc<Readers>,
    mark: Arc<MarkFile>,
    file: PathBuf,
}

/// What an opening does with a store that has lost entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnDataLoss {
    Refuse,
    Accept,
}

impl Sqlite {
    /// Also returns the loss that was accepted.
    pub fn open(
        file: &Path,
        clock: Arc<dyn Clock>,
        on_data_loss: OnDataLoss,
    ) -> Result<(Self, Option<DataLoss>), StoreError> {
        let mut connection = connection::open_writer(file)?;
        copy::refuse_unfinished_file(&connection)?;
        let loss = find_data_loss(&connection, file, on_data_loss)?;
        migrate::run(&mut connection)?;
        let readers = Arc::new(Readers::open(file, Arc::clone(&clock))?);
        let mark = Arc::new(MarkFile::beside(file));
        let checkpointer = Checkpointer::start(file, &mut connection, Arc::clone(&mark))?;
        let opened = Self {
            writer: SqliteWriter::start(connection, checkpointer, clock)?,
            readers,
            mark,
            file: file.to_owned(),
        };
        Ok((opened, loss))
    }

    /// Checkpoints the whole write-ahead log, so that the database file alone holds the whole store.
    pub fn checkpoint(&self) -> Result<(), StoreError> {
        let connection = connection::open_writer(&self.file)?;
        connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")?;
        // A mark that is behind is still true.
        if let Err(error) = self.mark.raise(&connection) {
            tracing::warn!(%error, "writing the high-water mark failed");
        }
        Ok(())
    }

    pub async fn writer_ended(&self) {
        self.writer.ended().await;
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

/// A refused store is left as it was found: closing the connection would delete a write-ahead log that was cut.
fn find_data_loss(
    connection: &Connection,
    file: &Path,
    on_data_loss: OnDataLoss,
) -> Result<Option<DataLoss>, StoreError> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    let loss = high_water_mark::compare(connection, file)?;
    if let (Some(loss), OnDataLoss::Refuse) = (&loss, on_data_loss) {
        return Err(StoreError::DataLoss(loss.clone()));
    }
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    Ok(loss)
}

#[cfg(test)]
mod tests {
    use countersign_protocol::time::Timestamp;

    use super::*;
    use crate::clock::SystemClock;
    use crate::exec::Exec;
    use crate::ops::account::setting::{PutSetting, Setting};

    /// Panics after its first statement.
    struct PanickingWrite;

    impl Op for PanickingWrite {
        type Out = ();
        const MODE: AccessMode = AccessMode::Write;

        async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<(), StoreError> {
            x.exec("INSERT INTO setting (name, value) VALUES ('half', 'done')", &[])
                .await?;
            panic!("half-way");
        }
    }

    struct PanickingRead;

    impl Op for PanickingRead {
        type Out = ();
        const MODE: AccessMode = AccessMode::Read;

        async fn run<X: Exec>(&self, _x: &mut X, _now: Timestamp) -> Result<(), StoreError> {
            panic!("while reading");
        }
    }

    #[tokio::test]
    async fn panicking_operation_is_rolled_back_and_harms_no_other() {
        let file = std::env::temp_dir().join(format!("countersign-panic-{}.db", uuid::Uuid::new_v4()));
        let (store, _) = Sqlite::open(&file, Arc::new(SystemClock), OnDataLoss::Refuse).unwrap();
        let put = |value: &str| PutSetting {
            name: "whole".to_owned(),
            value: value.to_owned(),
            actor: "human:owner".to_owned(),
        };
        let (before, panicked, after) = tokio::join!(
            store.run(put("before")),
            store.run(PanickingWrite),
            store.run(put("after"))
        );
        assert!(before.is_ok() && after.is_ok());
        assert!(matches!(panicked, Err(StoreError::Unavailable(_))), "{panicked:?}");
        // Once per connection, and once more.
        for _ in 0..=std::thread::available_parallelism().map_or(2, usize::from) + 2 {
            assert!(store.run(PanickingRead).await.is_err());
        }
        let read = async |name: &str| store.run(Setting { name: name.to_owned() }).await.unwrap();
        assert_eq!(read("whole").await.as_deref(), Some("after"));
        assert_eq!(read("half").await, None);
        drop(store);
        for ending in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{ending}", file.display()));
        }
    }
}
