use std::sync::Arc;

use countersign_store::clock::{Clock, ManualClock};
use countersign_store::{SCHEMA_VERSION, Store};

use super::fresh::Database;
use crate::scene::at;
use crate::version_one::hex;
use crate::{version_five, version_four, version_one, version_three, version_two};

const VERSIONS: [&str; 5] = [
    include_str!("../../../migrations/postgres/001_initial.sql"),
    include_str!("../../../migrations/postgres/002_inbox.sql"),
    include_str!("../../../migrations/postgres/003_terminal.sql"),
    include_str!("../../../migrations/postgres/004_bounds.sql"),
    include_str!("../../../migrations/postgres/005_runs.sql"),
];

fn written(bytes: &[u8]) -> String {
    format!("'\\x{}'", hex(bytes))
}

/// A database with the first `versions` migrations and these rows, opened by the current version.
async fn upgraded(versions: usize, rows: String) -> (Database, Store, Arc<ManualClock>) {
    let database = Database::create().await;
    let operator = database.connect().await;
    for version in &VERSIONS[..versions] {
        operator.batch_execute(version).await.unwrap();
    }
    operator.batch_execute(&rows).await.unwrap();
    operator
        .batch_execute(&format!("UPDATE schema_version SET version = {versions}"))
        .await
        .unwrap();

    let clock = Arc::new(ManualClock::at(at(0)));
    let store = database
        .open_with(Arc::clone(&clock) as Arc<dyn Clock>)
        .await
        .expect("it is upgraded");
    let version = operator
        .query_one("SELECT version FROM schema_version", &[])
        .await
        .unwrap();
    assert_eq!(version.get::<_, i64>(0), SCHEMA_VERSION);
    (database, store, clock)
}

#[tokio::test]
async fn database_of_version_one_upgrades_with_its_data() {
    let (_database, store, clock) = upgraded(1, version_one::rows(written)).await;
    version_one::assert_upgraded(&store, &clock).await;
}

#[tokio::test]
async fn database_of_version_two_upgrades_with_its_data() {
    let (_database, store, clock) = upgraded(2, version_two::rows(written)).await;
    version_two::assert_upgraded(&store, &clock).await;
}

#[tokio::test]
async fn database_of_version_three_upgrades_with_its_data() {
    let (_database, store, _clock) = upgraded(3, version_three::rows(written)).await;
    version_three::assert_upgraded(&store).await;
}

#[tokio::test]
async fn database_of_version_four_upgrades_with_its_data() {
    let (_database, store, clock) = upgraded(4, version_four::rows(written)).await;
    version_four::assert_upgraded(&store, &clock).await;
}

#[tokio::test]
async fn database_of_version_five_upgrades_with_its_data() {
    let (_database, store, clock) = upgraded(5, version_five::rows(written)).await;
    version_five::assert_upgraded(&store, &clock).await;
}
