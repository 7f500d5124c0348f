//! Stores to copy between, and the copies themselves.

use std::sync::Arc;

use countersign_store::clock::ManualClock;
use countersign_store::copy::{CopyError, Place, Portion, Progress, Report, Stage, copy};
use countersign_store::{Store, StoreError};
use rusqlite::Connection;
use tokio::sync::Notify;

use super::full;
use crate::postgres::fresh::Database;
use crate::scene::at;
use crate::sqlite::fresh::Scratch;

/// Small, so that most tables take several.
pub const SOME: Portion = Portion { rows: 5, bytes: 4096 };

pub fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at(at(1000)))
}

pub fn file(scratch: &Scratch) -> Place {
    Place::file(&scratch.file())
}

pub fn database(database: &Database) -> Place {
    Place::database(&database.url(), None).expect("it can be reached")
}

/// A file with something in every table.
pub async fn full_file() -> Scratch {
    let scratch = Scratch::new();
    let clock = Arc::new(ManualClock::at(at(0)));
    let store = scratch.open_at(&clock).expect("a new store opens");
    full::fill(&store, &clock).await;
    store.settle().expect("it is written down");
    drop(store);
    full::fill_what_is_empty(&scratch.connect());
    scratch
}

/// The same in PostgreSQL, beside the file it comes from.
pub async fn full_database() -> (Scratch, Database) {
    let scratch = full_file().await;
    let target = Database::create().await;
    copied(&file(&scratch), &database(&target)).await;
    (scratch, target)
}

pub async fn copied(from: &Place, to: &Place) -> Report {
    let report = copy(from, to, SOME, |_| {}).await.expect("it is copied");
    assert!(report.is_same(), "{report:?}");
    report
}

pub async fn refused(from: &Place, to: &Place) -> CopyError {
    copy(from, to, SOME, |_| {}).await.expect_err("it is refused")
}

/// Gives the copy up as soon as `is_enough` says so; the result, if it came to its end before.
pub async fn copied_until(
    from: &Place,
    to: &Place,
    mut is_enough: impl FnMut(&Progress<'_>) -> bool,
) -> Option<Result<Report, CopyError>> {
    let enough = Notify::new();
    let tell = |progress: Progress<'_>| {
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

/// Cut off after so many portions.
pub async fn cut_after(from: &Place, to: &Place, portions: usize) -> Option<Result<Report, CopyError>> {
    let mut carried = 0;
    copied_until(from, to, |progress| {
        carried += usize::from(is_portion(progress));
        carried == portions
    })
    .await
}

pub fn is_portion(progress: &Progress<'_>) -> bool {
    progress.stage == Stage::Copying && !progress.is_done
}

pub async fn open_database(database: &Database) -> Result<Store, StoreError> {
    database.open_with(clock()).await
}

/// Everything in a file that is to be copied, read with nothing of ours in between.
pub fn dump(connection: &Connection) -> Vec<String> {
    let names = full::tables(connection);
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
