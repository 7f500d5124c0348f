//! WAL checkpoints beside the writer thread instead of inside its commits.
//!
//! SQLite's automatic checkpoint runs inside every n-th commit and delays that whole batch. Here another thread copies
//! the bulk of the pages while the writer goes on; the writer then copies the small remainder, after which the log
//! restarts from its beginning.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU8, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use rusqlite::Connection;
use rusqlite::hooks::Wal;

use super::connection;
use crate::error::StoreError;

/// Pages in the log that trigger a checkpoint: 32 MiB.
const CHECKPOINT_PAGES: i32 = 8000;
/// Pages in the log at which the writer checkpoints by itself, in case the other thread falls behind: 256 MiB.
const MAX_LOG_PAGES: i32 = 64_000;
/// A remainder this small is left to the writer.
const SMALL_REMAINDER_PAGES: i32 = 200;
const MAX_ROUNDS: usize = 5;

const IDLE: u8 = 0;
const COPYING: u8 = 1;
const COPIED: u8 = 2;

pub struct Checkpointer {
    /// Pages in the log after the writer's last commit.
    pages: Arc<AtomicI32>,
    stage: Arc<AtomicU8>,
    request: SyncSender<()>,
}

impl Checkpointer {
    /// Starts the checkpoint thread and replaces SQLite's automatic checkpoint on the writer's connection.
    pub fn start(file: &Path, writer: &mut Connection) -> Result<Self, StoreError> {
        let pages = Arc::new(AtomicI32::new(0));
        let seen = Arc::clone(&pages);
        writer.wal_hook(Some(move |_: &mut Wal, pages| {
            seen.store(pages, Ordering::Relaxed);
            Ok(())
        }))?;
        let connection = connection::open_writer(file)?;
        let stage = Arc::new(AtomicU8::new(IDLE));
        let (request, requests) = sync_channel(1);
        let worker = Arc::clone(&stage);
        thread::Builder::new()
            .name("store-checkpoint".to_owned())
            .spawn(move || run_checkpoints(&connection, &requests, &worker))
            .map_err(|error| StoreError::Unavailable(error.to_string()))?;
        Ok(Self { pages, stage, request })
    }

    /// Call it on the writer thread, between two transactions.
    pub fn after_commit(&self, connection: &Connection) -> Result<(), StoreError> {
        let pages = self.pages.load(Ordering::Relaxed);
        match self.stage.load(Ordering::Acquire) {
            IDLE if pages >= CHECKPOINT_PAGES => {
                self.stage.store(COPYING, Ordering::Release);
                // The channel has room for the only request there can be. If the thread is gone, the writer takes over
                // below.
                let _ = self.request.try_send(());
                Ok(())
            }
            COPIED => {
                self.stage.store(IDLE, Ordering::Release);
                copy(connection).map(drop)
            }
            _ if pages >= MAX_LOG_PAGES => copy(connection).map(drop),
            _ => Ok(()),
        }
    }
}

/// Checkpoints without blocking other connections. Returns the number of pages copied since the log was restarted.
fn copy(connection: &Connection) -> Result<i32, StoreError> {
    Ok(connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| row.get(2))?)
}

fn run_checkpoints(connection: &Connection, requests: &Receiver<()>, stage: &AtomicU8) {
    while requests.recv().is_ok() {
        if let Err(error) = copy_most_pages(connection) {
            tracing::warn!(%error, "background WAL checkpoint failed");
        }
        stage.store(COPIED, Ordering::Release);
    }
}

/// Each round is shorter than the one before, so fewer new pages arrive meanwhile.
fn copy_most_pages(connection: &Connection) -> Result<(), StoreError> {
    let mut copied = 0;
    for _ in 0..MAX_ROUNDS {
        let before = copied;
        copied = copy(connection)?;
        if copied - before < SMALL_REMAINDER_PAGES {
            break;
        }
    }
    Ok(())
}
