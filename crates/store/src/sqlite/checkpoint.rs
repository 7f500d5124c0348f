//! Moving committed pages from the write-ahead log into the database file, beside the writer instead of in its way.
//!
//! SQLite would do it inside every n-th commit, and everybody in that batch would wait for it. Here another thread copies
//! the bulk while the writer goes on; the writer then copies the little that came meanwhile, after which the log starts
//! over from its beginning.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU8, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use rusqlite::Connection;
use rusqlite::hooks::Wal;

use super::connection;
use crate::error::StoreError;

/// Pages in the log before they are moved: 32 MiB.
const CHECKPOINT_PAGES: i32 = 8000;
/// Pages in the log before the writer stops for it, should the other thread not keep up: 256 MiB.
const MAX_LOG_PAGES: i32 = 64_000;
/// A remainder of so many pages the writer moves in passing.
const SMALL_REMAINDER_PAGES: i32 = 200;
const MAX_ROUNDS: usize = 5;

const IDLE: u8 = 0;
const COPYING: u8 = 1;
const COPIED: u8 = 2;

pub struct Checkpointer {
    /// In the log after the writer's last commit.
    pages: Arc<AtomicI32>,
    stage: Arc<AtomicU8>,
    request: SyncSender<()>,
}

impl Checkpointer {
    /// Takes over from SQLite, which would do it by itself in the commits of the writer's connection.
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

    /// Call it on the thread that writes, between two transactions.
    pub fn after_commit(&self, connection: &Connection) -> Result<(), StoreError> {
        let pages = self.pages.load(Ordering::Relaxed);
        match self.stage.load(Ordering::Acquire) {
            IDLE if pages >= CHECKPOINT_PAGES => {
                self.stage.store(COPYING, Ordering::Release);
                // There is room for the one request there can be. Should the thread be gone, the writer does it below.
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

/// Takes what it can and waits for nobody. Says how many pages it moved in this round and before.
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

/// Each round is shorter than the one before it, and so are the pages that come in meanwhile fewer.
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
