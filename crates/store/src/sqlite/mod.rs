//! The embedded engine: one database file, one writer thread with group commit, a few read-only connections.

mod checkpoint;
pub mod connection;
pub mod high_water_mark;
pub mod inspect;
pub mod migrate;
mod readers;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use crate::clock::Clock;
use crate::copy;
use crate::error::StoreError;
use crate::exec::{AccessMode, Op};
use checkpoint::Checkpointer;
use connection::{not_ready, run_now};
use countersign_telemetry::metrics::DurationHistogram;
use high_water_mark::{DataLoss, MarkFile};
use readers::Readers;
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use tokio::sync::{mpsc, oneshot};

const QUEUE_CAPACITY: usize = 4096;
const MAX_BATCH: usize = 512;

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
        commits: DurationHistogram,
    ) -> Result<(Self, Option<DataLoss>), StoreError> {
        let mut connection = connection::open_writer(file)?;
        copy::refuse_unfinished_file(&connection)?;
        let loss = find_data_loss(&connection, file, on_data_loss)?;
        migrate::run(&mut connection)?;
        let readers = Arc::new(Readers::open(file, Arc::clone(&clock))?);
        let mark = Arc::new(MarkFile::beside(file));
        let checkpointer = Checkpointer::start(file, &mut connection, Arc::clone(&mark))?;
        let opened = Self {
            writer: SqliteWriter::start(connection, checkpointer, clock, commits)?,
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

    /// The operations that wait for the writer thread.
    pub fn queued_writes(&self) -> usize {
        self.writer.queue.max_capacity() - self.writer.queue.capacity()
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

/// The writer thread, with group commit: it drains the queue, runs the operations in one transaction, commits once, then
/// replies to all callers.
///
/// No caller gets its reply before the commit. Operations check before they write, so a refusal leaves nothing behind;
/// if one fails half-way, the batch is rolled back and its operations run one by one.
struct SqliteWriter {
    queue: mpsc::Sender<Box<dyn WriteJob>>,
}

impl SqliteWriter {
    fn start(
        connection: Connection,
        checkpointer: Checkpointer,
        clock: Arc<dyn Clock>,
        commits: DurationHistogram,
    ) -> Result<Self, StoreError> {
        let (queue, jobs) = mpsc::channel(QUEUE_CAPACITY);
        thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || work(connection, jobs, &checkpointer, &*clock, &commits))
            .map_err(|error| StoreError::Unavailable(error.to_string()))?;
        Ok(Self { queue })
    }

    async fn run<O: Op>(&self, op: O) -> Result<O::Out, StoreError> {
        let (reply, answer) = oneshot::channel();
        let job = Box::new(QueuedOp { op, out: None, reply });
        self.queue.send(job).await.map_err(|_| stopped())?;
        answer.await.map_err(|_| stopped())?
    }

    /// Resolves when the writer thread has ended: no write succeeds from then on.
    async fn ended(&self) {
        self.queue.closed().await;
    }
}

fn stopped() -> StoreError {
    StoreError::Unavailable("the writer thread has stopped".to_owned())
}

/// A queued operation, type-erased.
trait WriteJob: Send {
    fn run(&mut self, connection: &mut Connection, clock: &dyn Clock) -> Result<(), StoreError>;
    fn answer(self: Box<Self>, committed: Result<(), StoreError>);
}

struct QueuedOp<O: Op> {
    op: O,
    out: Option<O::Out>,
    reply: oneshot::Sender<Result<O::Out, StoreError>>,
}

impl<O: Op> WriteJob for QueuedOp<O> {
    fn run(&mut self, connection: &mut Connection, clock: &dyn Clock) -> Result<(), StoreError> {
        self.out = Some(run_now(&self.op, connection, clock.now())?);
        Ok(())
    }

    fn answer(self: Box<Self>, committed: Result<(), StoreError>) {
        let outcome = committed.and(self.out.ok_or_else(not_ready));
        // The caller may be gone; its write is committed anyway.
        drop(self.reply.send(outcome));
    }
}

fn work(
    mut connection: Connection,
    mut jobs: mpsc::Receiver<Box<dyn WriteJob>>,
    checkpointer: &Checkpointer,
    clock: &dyn Clock,
    commits: &DurationHistogram,
) {
    let mut batch = Vec::with_capacity(MAX_BATCH);
    while jobs.blocking_recv_many(&mut batch, MAX_BATCH) > 0 {
        let began = Instant::now();
        match commit_batch(&mut connection, &mut batch, clock) {
            Ok(()) => {
                commits.observe(began.elapsed());
                batch.drain(..).for_each(|job| job.answer(Ok(())));
            }
            Err(error) => {
                tracing::warn!(%error, size = batch.len(), "batch rolled back; running its operations one by one");
                batch
                    .drain(..)
                    .for_each(|job| commit_single(&mut connection, job, clock));
            }
        }
        if let Err(error) = checkpointer.after_commit(&connection) {
            tracing::warn!(%error, "WAL checkpoint failed");
        }
    }
}

fn commit_batch(
    connection: &mut Connection,
    batch: &mut [Box<dyn WriteJob>],
    clock: &dyn Clock,
) -> Result<(), StoreError> {
    // Left open by a rollback that failed.
    roll_back(connection)?;
    connection.prepare_cached("BEGIN IMMEDIATE")?.raw_execute()?;
    let ran = batch.iter_mut().try_for_each(|job| job.run(connection, clock));
    let ended = ran.and_then(|()| Ok(connection.prepare_cached("COMMIT")?.raw_execute()?));
    if ended.is_err() {
        roll_back(connection)?;
    }
    ended.map(drop)
}

/// Ends an open transaction, if there is one.
fn roll_back(connection: &Connection) -> Result<(), StoreError> {
    if !connection.is_autocommit() {
        connection.execute_batch("ROLLBACK")?;
    }
    Ok(())
}

fn commit_single(connection: &mut Connection, mut job: Box<dyn WriteJob>, clock: &dyn Clock) {
    let committed = commit_batch(connection, std::slice::from_mut(&mut job), clock);
    job.answer(committed);
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
        let (store, _) = Sqlite::open(
            &file,
            Arc::new(SystemClock),
            OnDataLoss::Refuse,
            DurationHistogram::of_commits(),
        )
        .unwrap();
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

    /// Ends the writer thread: an operation cannot, because its panic is caught.
    struct PanickingReply;

    impl WriteJob for PanickingReply {
        fn run(&mut self, _connection: &mut Connection, _clock: &dyn Clock) -> Result<(), StoreError> {
            Ok(())
        }

        fn answer(self: Box<Self>, _committed: Result<(), StoreError>) {
            panic!("ends the thread");
        }
    }

    #[tokio::test]
    async fn end_of_the_writer_thread_is_noticed() {
        let file = std::env::temp_dir().join(format!("countersign-writer-{}.db", uuid::Uuid::new_v4()));
        let mut connection = connection::open_writer(&file).unwrap();
        let mark = Arc::new(MarkFile::beside(&file));
        let checkpointer = Checkpointer::start(&file, &mut connection, mark).unwrap();
        let writer = SqliteWriter::start(
            connection,
            checkpointer,
            Arc::new(SystemClock),
            DurationHistogram::of_commits(),
        )
        .unwrap();
        assert!(writer.queue.send(Box::new(PanickingReply)).await.is_ok());
        writer.ended().await;
        for ending in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{ending}", file.display()));
        }
    }
}
