use std::sync::Arc;

use countersign_store::SCHEMA_VERSION;
use countersign_store::clock::ManualClock;

use super::fresh::Scratch;
use crate::scene::at;
use crate::version_one::hex;
use crate::{version_five, version_four, version_one, version_three, version_two};

const VERSION_ONE: &str = include_str!("../../../migrations/sqlite/001_initial.sql");
const VERSION_TWO: &str = include_str!("../../../migrations/sqlite/002_inbox.sql");
const VERSION_THREE: &str = include_str!("../../../migrations/sqlite/003_terminal.sql");
const VERSION_FOUR: &str = include_str!("../../../migrations/sqlite/004_bounds.sql");
const VERSION_FIVE: &str = include_str!("../../../migrations/sqlite/005_runs.sql");

#[tokio::test]
async fn a_file_of_version_one_is_opened_with_all_that_is_in_it() {
    let scratch = Scratch::new();
    let operator = scratch.connect();
    operator.execute_batch(VERSION_ONE).unwrap();
    operator.execute_batch(&version_one::rows(|bytes| format!("X'{}'", hex(bytes)))).unwrap();
    operator.pragma_update(None, "user_version", 1).unwrap();
    drop(operator);

    let clock = Arc::new(ManualClock::at(at(0)));
    let store = scratch.open_at(&clock).expect("it is upgraded");
    version_one::assert_upgraded(&store, &clock).await;
    let version: i64 = scratch.connect().query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    assert_eq!(version, SCHEMA_VERSION);
}

#[tokio::test]
async fn a_file_of_version_two_is_opened_with_all_that_is_in_it() {
    let scratch = Scratch::new();
    let operator = scratch.connect();
    operator.execute_batch(VERSION_ONE).unwrap();
    operator.execute_batch(VERSION_TWO).unwrap();
    operator.execute_batch(&version_two::rows(|bytes| format!("X'{}'", hex(bytes)))).unwrap();
    operator.pragma_update(None, "user_version", 2).unwrap();
    drop(operator);

    let clock = Arc::new(ManualClock::at(at(0)));
    let store = scratch.open_at(&clock).expect("it is upgraded");
    version_two::assert_upgraded(&store, &clock).await;
    let version: i64 = scratch.connect().query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    assert_eq!(version, SCHEMA_VERSION);
}

#[tokio::test]
async fn a_file_of_version_three_is_opened_with_all_that_is_in_it() {
    let scratch = Scratch::new();
    let operator = scratch.connect();
    operator.execute_batch(VERSION_ONE).unwrap();
    operator.execute_batch(VERSION_TWO).unwrap();
    operator.execute_batch(VERSION_THREE).unwrap();
    operator.execute_batch(&version_three::rows(|bytes| format!("X'{}'", hex(bytes)))).unwrap();
    operator.pragma_update(None, "user_version", 3).unwrap();
    drop(operator);

    let clock = Arc::new(ManualClock::at(at(0)));
    let store = scratch.open_at(&clock).expect("it is upgraded");
    version_three::assert_upgraded(&store).await;
    let version: i64 = scratch.connect().query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    assert_eq!(version, SCHEMA_VERSION);
}

#[tokio::test]
async fn a_file_of_version_four_is_opened_with_all_that_is_in_it() {
    let scratch = Scratch::new();
    let operator = scratch.connect();
    for version in [VERSION_ONE, VERSION_TWO, VERSION_THREE, VERSION_FOUR] {
        operator.execute_batch(version).unwrap();
    }
    operator.execute_batch(&version_four::rows(|bytes| format!("X'{}'", hex(bytes)))).unwrap();
    operator.pragma_update(None, "user_version", 4).unwrap();
    drop(operator);

    let clock = Arc::new(ManualClock::at(at(0)));
    let store = scratch.open_at(&clock).expect("it is upgraded");
    version_four::assert_upgraded(&store, &clock).await;
    let version: i64 = scratch.connect().query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    assert_eq!(version, SCHEMA_VERSION);
}

#[tokio::test]
async fn a_file_of_version_five_is_opened_with_all_that_is_in_it() {
    let scratch = Scratch::new();
    let operator = scratch.connect();
    for version in [VERSION_ONE, VERSION_TWO, VERSION_THREE, VERSION_FOUR, VERSION_FIVE] {
        operator.execute_batch(version).unwrap();
    }
    operator.execute_batch(&version_five::rows(|bytes| format!("X'{}'", hex(bytes)))).unwrap();
    operator.pragma_update(None, "user_version", 5).unwrap();
    drop(operator);

    let clock = Arc::new(ManualClock::at(at(0)));
    let store = scratch.open_at(&clock).expect("it is upgraded");
    version_five::assert_upgraded(&store, &clock).await;
    let version: i64 = scratch.connect().query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    assert_eq!(version, SCHEMA_VERSION);
}
