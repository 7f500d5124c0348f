use std::sync::Arc;

use countersign_store::clock::ManualClock;
use countersign_store::{SCHEMA_VERSION, Store};

use super::fresh::Scratch;
use crate::scene::at;
use crate::version_one::hex;
use crate::{version_five, version_four, version_one, version_three, version_two};

const VERSIONS: [&str; 5] = [
    include_str!("../../../migrations/sqlite/001_initial.sql"),
    include_str!("../../../migrations/sqlite/002_inbox.sql"),
    include_str!("../../../migrations/sqlite/003_terminal.sql"),
    include_str!("../../../migrations/sqlite/004_bounds.sql"),
    include_str!("../../../migrations/sqlite/005_runs.sql"),
];

fn written(bytes: &[u8]) -> String {
    format!("X'{}'", hex(bytes))
}

/// A file with the first `versions` migrations and these rows, opened by the current version.
fn upgraded(versions: usize, rows: String) -> (Scratch, Store, Arc<ManualClock>) {
    let scratch = Scratch::new();
    let operator = scratch.connect();
    for version in &VERSIONS[..versions] {
        operator.execute_batch(version).unwrap();
    }
    operator.execute_batch(&rows).unwrap();
    operator
        .pragma_update(None, "user_version", i64::try_from(versions).unwrap())
        .unwrap();
    drop(operator);

    let clock = Arc::new(ManualClock::at(at(0)));
    let store = scratch.open_at(&clock).expect("it is upgraded");
    let version: i64 = scratch
        .connect()
        .query_row("PRAGMA user_version", [], |row| row.get(0))
        .unwrap();
    assert_eq!(version, SCHEMA_VERSION);
    (scratch, store, clock)
}

#[tokio::test]
async fn file_of_version_one_upgrades_with_its_data() {
    let (_scratch, store, clock) = upgraded(1, version_one::rows(written));
    version_one::assert_upgraded(&store, &clock).await;
}

#[tokio::test]
async fn file_of_version_two_upgrades_with_its_data() {
    let (_scratch, store, clock) = upgraded(2, version_two::rows(written));
    version_two::assert_upgraded(&store, &clock).await;
}

#[tokio::test]
async fn file_of_version_three_upgrades_with_its_data() {
    let (_scratch, store, _clock) = upgraded(3, version_three::rows(written));
    version_three::assert_upgraded(&store).await;
}

#[tokio::test]
async fn file_of_version_four_upgrades_with_its_data() {
    let (_scratch, store, clock) = upgraded(4, version_four::rows(written));
    version_four::assert_upgraded(&store, &clock).await;
}

#[tokio::test]
async fn file_of_version_five_upgrades_with_its_data() {
    let (_scratch, store, clock) = upgraded(5, version_five::rows(written));
    version_five::assert_upgraded(&store, &clock).await;
}
