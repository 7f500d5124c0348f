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
const WORTH_IT: i32 = 8000;
/// Pages in the log before the writer stops for it, should the other thread not keep up: 256 MiB.
const TOO_MANY: i32 = 64_000;
/// A remainder of so many pages the writer moves in passing.
const FEW: i32 = 200;
const MOST_ROUNDS: usize = 5;

const RESTING: u8 = 0;
const COPYING: u8 = 1;
const COPIED: u8 = 2;

pub struct Checkpointer {
    /// In the log after the writer's last commit.
    pages: Arc<AtomicI32>,
    stage: Arc<AtomicU8>,
    begin: SyncSender<()>,
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
        let stage = Arc::new(AtomicU8::new(RESTING));
        let (begin, begun) = sync_channel(1);
        let worker = Arc::clone(&stage);
        thread::Builder::new()
            .name("store-checkpoint".to_owned())
            .spawn(move || copy_when_asked(&connection, &begun, &worker))
            .map_err(|error| StoreError::Unavailable(error.to_string()))?;
        Ok(Self { pages, stage, begin })
    }

    /// Call it on the thread that writes, between two transactions.
    pub fn after_commit(&self, connection: &Connection) -> Result<(), StoreError> {
        let pages = self.pages.load(Ordering::Relaxed);
        match self.stage.load(Ordering::Acquire) {
            RESTING if pages >= WORTH_IT => {
                self.stage.store(COPYING, Ordering::Release);
                // There is room for the one request there can be. Should the thread be gone, the writer does it below.
                let _ = self.begin.try_send(());
                Ok(())
            }
            COPIED => {
                self.stage.store(RESTING, Ordering::Release);
                copy(connection).map(drop)
            }
            _ if pages >= TOO_MANY => copy(connection).map(drop),
            _ => Ok(()),
        }
    }
}

/// Takes what it can and waits for nobody. Says how many pages it moved in this round and before.
fn copy(connection: &Connection) -> Result<i32, StoreError> {
    Ok(connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| row.get(2))?)
}

fn copy_when_asked(connection: &Connection, begun: &Receiver<()>, stage: &AtomicU8) {
    while begun.recv().is_ok() {
        if let Err(error) = copy_nearly_all(connection) {
            tracing::warn!(%error, "the write-ahead log could not be moved into the database");
        }
        stage.store(COPIED, Ordering::Release);
    }
}

/// Each round is shorter than the one before it, and so are the pages that come in meanwhile fewer.
fn copy_nearly_all(connection: &Connection) -> Result<(), StoreError> {
    let mut moved = 0;
    for _ in 0..MOST_ROUNDS {
        let before = moved;
        moved = copy(connection)?;
        if moved - before < FEW {
            break;
        }
    }
    Ok(())
}
