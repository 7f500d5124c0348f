//! WAL checkpoints beside the writer thread instead of inside its commits.
//!
//! SQLite's automatic checkpoint runs inside every n-th commit and delays that whole batch. Here another thread copies
//! the bulk of the pages while the writer goes on; the writer then copies the small remainder, after which the log
//! restarts from its beginning. The same thread raises the high-water mark, and checkpoints once the writer is idle;
//! then it sleeps until the next commit.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use rusqlite::hooks::Wal;

use super::connection;
use super::high_water_mark::MarkFile;
use crate::error::StoreError;

/// Pages in the log that trigger a checkpoint: 32 MiB.
const CHECKPOINT_PAGES: i32 = 8000;
/// Pages in the log at which the writer checkpoints by itself, in case the other thread falls behind: 256 MiB.
const MAX_LOG_PAGES: i32 = 64_000;
/// A remainder this small is left to the writer.
const SMALL_REMAINDER_PAGES: i32 = 200;
const MAX_ROUNDS: usize = 5;
/// How often the high-water mark is raised while there are commits. An interval without a commit is idle.
const MARK_INTERVAL: Duration = Duration::from_secs(2);

const IDLE: u8 = 0;
const COPYING: u8 = 1;
const COPIED: u8 = 2;

pub struct Checkpointer {
    shared: Arc<Shared>,
    request: SyncSender<()>,
}

#[derive(Default)]
struct Shared {
    /// Pages in the log after the writer's last commit.
    pages: AtomicI32,
    stage: AtomicU8,
    commits: AtomicU64,
    /// The checkpoint thread waits for a request, without a time-out.
    asleep: AtomicBool,
}

impl Checkpointer {
    /// Starts the checkpoint thread and replaces SQLite's automatic checkpoint on the writer's connection.
    pub fn start(file: &Path, writer: &mut Connection, mark: Arc<MarkFile>) -> Result<Self, StoreError> {
        let shared = Arc::new(Shared {
            asleep: AtomicBool::new(true),
            ..Shared::default()
        });
        let seen = Arc::clone(&shared);
        writer.wal_hook(Some(move |_: &mut Wal, pages| {
            seen.pages.store(pages, Ordering::Relaxed);
            Ok(())
        }))?;
        let (request, requests) = sync_channel(1);
        let worker = Worker {
            connection: connection::open_writer(file)?,
            mark,
            requests,
            shared: Arc::clone(&shared),
        };
        thread::Builder::new()
            .name("store-checkpoint".to_owned())
            .spawn(move || while catch_unwind(AssertUnwindSafe(|| worker.run())).is_err() {})
            .map_err(|error| StoreError::Unavailable(error.to_string()))?;
        Ok(Self { shared, request })
    }

    /// Call it on the writer thread, between two transactions.
    pub fn after_commit(&self, connection: &Connection) -> Result<(), StoreError> {
        self.shared.commits.fetch_add(1, Ordering::SeqCst);
        if self.shared.asleep.swap(false, Ordering::SeqCst) {
            self.wake();
        }
        let pages = self.shared.pages.load(Ordering::Relaxed);
        match self.shared.stage.load(Ordering::Acquire) {
            IDLE if pages >= CHECKPOINT_PAGES => {
                self.shared.stage.store(COPYING, Ordering::Release);
                self.wake();
                Ok(())
            }
            COPIED => {
                self.shared.stage.store(IDLE, Ordering::Release);
                copy(connection).map(drop)
            }
            _ if pages >= MAX_LOG_PAGES => copy(connection).map(drop),
            _ => Ok(()),
        }
    }

    /// A full channel already holds a request. If the thread is gone, the writer takes over at `MAX_LOG_PAGES`.
    fn wake(&self) {
        let _ = self.request.try_send(());
    }
}

/// Checkpoints without blocking other connections. Returns the number of pages copied since the log was restarted.
fn copy(connection: &Connection) -> Result<i32, StoreError> {
    Ok(connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| row.get(2))?)
}

/// The state of the checkpoint thread.
struct Worker {
    connection: Connection,
    mark: Arc<MarkFile>,
    requests: Receiver<()>,
    shared: Arc<Shared>,
}

impl Worker {
    /// Runs until the writer is gone.
    fn run(&self) {
        self.shared.asleep.store(true, Ordering::SeqCst);
        while self.requests.recv().is_ok() {
            self.run_until_idle();
        }
    }

    fn run_until_idle(&self) {
        let mut seen = self.commits();
        let mut mark_due_at = Instant::now() + MARK_INTERVAL;
        loop {
            if self.shared.stage.load(Ordering::Acquire) == COPYING {
                log_failure(copy_most_pages(&self.connection), "background WAL checkpoint failed");
                self.shared.stage.store(COPIED, Ordering::Release);
            }
            let left = mark_due_at.saturating_duration_since(Instant::now());
            match self.requests.recv_timeout(left) {
                Ok(()) if Instant::now() < mark_due_at => continue,
                Err(RecvTimeoutError::Disconnected) => return,
                Ok(()) | Err(RecvTimeoutError::Timeout) => {}
            }
            mark_due_at = Instant::now() + MARK_INTERVAL;
            let commits = self.commits();
            log_failure(self.mark.raise(&self.connection), "writing the high-water mark failed");
            if commits == seen {
                log_failure(copy(&self.connection).map(drop), "idle WAL checkpoint failed");
                self.shared.asleep.store(true, Ordering::SeqCst);
                // A commit before this line may have seen the thread awake.
                if self.commits() == commits {
                    return;
                }
                self.shared.asleep.store(false, Ordering::SeqCst);
            }
            seen = commits;
        }
    }

    fn commits(&self) -> u64 {
        self.shared.commits.load(Ordering::SeqCst)
    }
}

fn log_failure(done: Result<(), StoreError>, what: &str) {
    if let Err(error) = done {
        tracing::warn!(%error, "{what}");
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
