//! The store of the ceiling: the least that a durable hub must do, to compare the hub with.

use std::path::Path;
use std::thread;

use anyhow::{Context, Result};
use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

/// The limit of rows in one group commit.
const MAX_BATCH_ROWS: usize = 512;
const QUEUE_CAPACITY: usize = 4096;

/// The single writer thread with group commit: all queued rows go into one transaction and are answered after it.
#[derive(Clone)]
pub struct Writer {
    jobs: mpsc::Sender<Job>,
}

struct Job {
    body: String,
    done: oneshot::Sender<i64>,
}

impl Writer {
    pub fn open(file: &Path) -> Result<Self> {
        let connection = open_database(file)?;
        let (jobs, waiting) = mpsc::channel(QUEUE_CAPACITY);
        thread::Builder::new().name("writer".into()).spawn(move || {
            if let Err(error) = write_batches(connection, waiting) {
                eprintln!("the ceiling's writer stopped: {error:#}");
            }
        })?;
        Ok(Self { jobs })
    }

    /// Stores one row and returns its number once it is on disk.
    pub async fn append(&self, body: String) -> Result<i64> {
        let (done, committed) = oneshot::channel();
        self.jobs
            .send(Job { body, done })
            .await
            .ok()
            .context("the writer is gone")?;
        committed.await.context("the commit failed")
    }
}

fn open_database(file: &Path) -> Result<Connection> {
    let connection = Connection::open(file).with_context(|| format!("cannot open {}", file.display()))?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL;
         PRAGMA synchronous = FULL;
         PRAGMA wal_autocheckpoint = 4000;
         PRAGMA cache_size = -65536;
         CREATE TABLE IF NOT EXISTS message (id INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;",
    )?;
    Ok(connection)
}

fn write_batches(mut connection: Connection, mut waiting: mpsc::Receiver<Job>) -> Result<()> {
    let mut batch = Vec::with_capacity(MAX_BATCH_ROWS);
    let mut ids = Vec::with_capacity(MAX_BATCH_ROWS);
    while waiting.blocking_recv_many(&mut batch, MAX_BATCH_ROWS) > 0 {
        let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        {
            let mut insert = transaction.prepare_cached("INSERT INTO message (body) VALUES (?1)")?;
            for job in &batch {
                ids.push(insert.insert([&job.body])?);
            }
        }
        transaction.commit()?;
        for (job, id) in batch.drain(..).zip(ids.drain(..)) {
            // Fails only when the caller has disconnected.
            let _ = job.done.send(id);
        }
    }
    Ok(())
}
