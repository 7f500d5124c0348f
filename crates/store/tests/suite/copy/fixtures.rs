//! Test fixtures: stores to copy between, and the copies themselves.

use std::sync::Arc;

use countersign_store::clock::ManualClock;
use countersign_store::copy::{BatchSize, CopyError, CopyProgress, CopyReport, CopyStage, StoreLocation, copy};
use countersign_store::{Store, StoreError};
use rusqlite::Connection;
use tokio::sync::Notify;

use super::full_store;
use crate::postgres::fresh::Database;
use crate::scene::at;
use crate::sqlite::fresh::Scratch;

/// Small, so that most tables take several batches.
pub const SOME: BatchSize = BatchSize { rows: 5, bytes: 4096 };

pub fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at(at(1000)))
}

pub fn file(scratch: &Scratch) -> StoreLocation {
    StoreLocation::file(&scratch.file())
}

pub fn database(database: &Database) -> StoreLocation {
    StoreLocation::database(&database.url(), None).expect("it can be reached")
}

/// A file with data in every table.
pub async fn full_file() -> Scratch {
    let scratch = Scratch::new();
    let clock = Arc::new(ManualClock::at(at(0)));
    let store = scratch.open_at(&clock).expect("a new store opens");
    full_store::fill(&store, &clock).await;
    store.checkpoint().expect("the checkpoint succeeds");
    drop(store);
    full_store::fill_empty_tables(&scratch.connect());
    scratch
}

/// The same in PostgreSQL, with the file it was copied from.
pub async fn full_database() -> (Scratch, Database) {
    let scratch = full_file().await;
    let target = Database::create().await;
    copied(&file(&scratch), &database(&target)).await;
    (scratch, target)
}

pub async fn copied(from: &StoreLocation, to: &StoreLocation) -> CopyReport {
    let report = copy(from, to, SOME, |_| {}).await.expect("it is copied");
    assert!(report.is_same(), "{report:?}");
    report
}

pub async fn refused(from: &StoreLocation, to: &StoreLocation) -> CopyError {
    copy(from, to, SOME, |_| {}).await.expect_err("it is refused")
}

/// Cancels the copy as soon as `is_enough` returns true; returns the result if it finished before.
pub async fn copy_until(
    from: &StoreLocation,
    to: &StoreLocation,
    mut is_enough: impl FnMut(&CopyProgress<'_>) -> bool,
) -> Option<Result<CopyReport, CopyError>> {
    let enough = Notify::new();
    let tell = |progress: CopyProgress<'_>| {
        if is_enough(&progress) {
            enough.notify_one();
        }
    };
    tokio::select! {
        biased;
        () = enough.notified() => None,
        done = copy(from, to, SOME, tell) => Some(done),
    }
}

/// Cancels the copy after this many batches.
pub async fn cancel_after(
    from: &StoreLocation,
    to: &StoreLocation,
    batches: usize,
) -> Option<Result<CopyReport, CopyError>> {
    let mut carried = 0;
    copy_until(from, to, |progress| {
        carried += usize::from(is_batch(progress));
        carried == batches
    })
    .await
}

pub fn is_batch(progress: &CopyProgress<'_>) -> bool {
    progress.stage == CopyStage::Copying && !progress.is_done
}

pub async fn open_database(database: &Database) -> Result<Store, StoreError> {
    database.open_with(clock()).await
}

/// All copied data of a file, read with plain SQL.
pub fn dump(connection: &Connection) -> Vec<String> {
    let names = full_store::tables(connection);
    assert!(names.len() > 20, "{names:?}");
    names
        .iter()
        .map(String::as_str)
        .chain(["sqlite_sequence"])
        .flat_map(|name| rows_of(connection, name))
        .collect()
}

fn rows_of(connection: &Connection, table: &str) -> Vec<String> {
    let mut statement = connection
        .prepare(&format!("SELECT * FROM {table} ORDER BY 1, 2"))
        .unwrap();
    let columns = statement.column_count();
    let shown = |row: &rusqlite::Row<'_>| {
        let values = (0..columns).map(|place| row.get_unwrap::<_, rusqlite::types::Value>(place));
        Ok(format!("{table}: {:?}", values.collect::<Vec<_>>()))
    };
    statement.query_map([], shown).unwrap().map(Result::unwrap).collect()
}
