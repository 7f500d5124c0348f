//! The writer thread, with group commit: it drains the queue, runs the operations in one transaction, commits once,
//! then replies to all callers.
//!
//! No caller gets its reply before the commit. Operations check before they write, so a refusal leaves nothing behind;
//! if one fails half-way, the batch is rolled back and its operations run one by one.

use std::sync::Arc;
use std::thread;

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::checkpoint::Checkpointer;
use super::connection::{not_ready, run_now};
use crate::clock::Clock;
use crate::error::StoreError;
use crate::exec::Op;

const QUEUE_CAPACITY: usize = 4096;
const MAX_BATCH: usize = 512;

pub struct SqliteWriter {
    queue: mpsc::Sender<Box<dyn WriteJob>>,
}

impl SqliteWriter {
    pub fn start(
        connection: Connection,
        checkpointer: Checkpointer,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, StoreError> {
        let (queue, jobs) = mpsc::channel(QUEUE_CAPACITY);
        thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || work(connection, jobs, &checkpointer, &*clock))
            .map_err(|error| StoreError::Unavailable(error.to_string()))?;
        Ok(Self { queue })
    }

    pub async fn run<O: Op>(&self, op: O) -> Result<O::Out, StoreError> {
        let (reply, answer) = oneshot::channel();
        let job = Box::new(QueuedOp { op, out: None, reply });
        self.queue.send(job).await.map_err(|_| stopped())?;
        answer.await.map_err(|_| stopped())?
    }

    /// Resolves when the writer thread has ended: no write succeeds from then on.
    pub async fn ended(&self) {
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
) {
    let mut batch = Vec::with_capacity(MAX_BATCH);
    while jobs.blocking_recv_many(&mut batch, MAX_BATCH) > 0 {
        match commit_batch(&mut connection, &mut batch, clock) {
            Ok(()) => batch.drain(..).for_each(|job| job.answer(Ok(()))),
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
    use std::path::PathBuf;

    use super::*;
    use crate::clock::SystemClock;
    use crate::sqlite::connection::open_writer;
    use crate::sqlite::high_water_mark::MarkFile;

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

    fn scratch_file() -> PathBuf {
        std::env::temp_dir().join(format!("countersign-writer-{}.db", uuid::Uuid::new_v4()))
    }

    #[tokio::test]
    async fn end_of_the_writer_thread_is_noticed() {
        let file = scratch_file();
        let mut connection = open_writer(&file).unwrap();
        let mark = Arc::new(MarkFile::beside(&file));
        let checkpointer = Checkpointer::start(&file, &mut connection, mark).unwrap();
        let writer = SqliteWriter::start(connection, checkpointer, Arc::new(SystemClock)).unwrap();
        assert!(writer.queue.send(Box::new(PanickingReply)).await.is_ok());
        writer.ended().await;
        for ending in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{ending}", file.display()));
        }
    }
}
