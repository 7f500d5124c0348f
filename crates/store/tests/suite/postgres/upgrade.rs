use std::sync::Arc;

use countersign_store::SCHEMA_VERSION;
use countersign_store::clock::{Clock, ManualClock};

use super::fresh::Database;
use crate::scene::at;
use crate::version_one::hex;
use crate::{version_five, version_four, version_one, version_three, version_two};

const VERSION_ONE: &str = include_str!("../../../migrations/postgres/001_initial.sql");
const VERSION_TWO: &str = include_str!("../../../migrations/postgres/002_inbox.sql");
const VERSION_THREE: &str = include_str!("../../../migrations/postgres/003_terminal.sql");
const VERSION_FOUR: &str = include_str!("../../../migrations/postgres/004_bounds.sql");
const VERSION_FIVE: &str = include_str!("../../../migrations/postgres/005_runs.sql");

#[tokio::test]
async fn a_database_of_version_one_is_opened_with_all_that_is_in_it() {
    let database = Database::create().await;
    let operator = database.connect().await;
    operator.batch_execute(VERSION_ONE).await.unwrap();
    operator.batch_execute(&version_one::rows(|bytes| format!("'\\x{}'", hex(bytes)))).await.unwrap();
    operator.batch_execute("UPDATE schema_version SET version = 1").await.unwrap();

    let clock = Arc::new(ManualClock::at(at(0)));
    let store = database.open_with(Arc::clone(&clock) as Arc<dyn Clock>).await.expect("it is upgraded");
    version_one::assert_upgraded(&store, &clock).await;
    let version = operator.query_one("SELECT version FROM schema_version", &[]).await.unwrap();
    assert_eq!(version.get::<_, i64>(0), SCHEMA_VERSION);
}

#[tokio::test]
async fn a_database_of_version_two_is_opened_with_all_that_is_in_it() {
    let database = Database::create().await;
    let operator = database.connect().await;
    operator.batch_execute(VERSION_ONE).await.unwrap();
    operator.batch_execute(VERSION_TWO).await.unwrap();
    operator.batch_execute(&version_two::rows(|bytes| format!("'\\x{}'", hex(bytes)))).await.unwrap();
    operator.batch_execute("UPDATE schema_version SET version = 2").await.unwrap();

    let clock = Arc::new(ManualClock::at(at(0)));
    let store = database.open_with(Arc::clone(&clock) as Arc<dyn Clock>).await.expect("it is upgraded");
    version_two::assert_upgraded(&store, &clock).await;
    let version = operator.query_one("SELECT version FROM schema_version", &[]).await.unwrap();
    assert_eq!(version.get::<_, i64>(0), SCHEMA_VERSION);
}

#[tokio::test]
async fn a_database_of_version_three_is_opened_with_all_that_is_in_it() {
    let database = Database::create().await;
    let operator = database.connect().await;
    operator.batch_execute(VERSION_ONE).await.unwrap();
    operator.batch_execute(VERSION_TWO).await.unwrap();
    operator.batch_execute(VERSION_THREE).await.unwrap();
    operator.batch_execute(&version_three::rows(|bytes| format!("'\\x{}'", hex(bytes)))).await.unwrap();
    operator.batch_execute("UPDATE schema_version SET version = 3").await.unwrap();

    let clock = Arc::new(ManualClock::at(at(0)));
    let store = database.open_with(Arc::clone(&clock) as Arc<dyn Clock>).await.expect("it is upgraded");
    version_three::assert_upgraded(&store).await;
    let version = operator.query_one("SELECT version FROM schema_version", &[]).await.unwrap();
    assert_eq!(version.get::<_, i64>(0), SCHEMA_VERSION);
}

#[tokio::test]
async fn a_database_of_version_four_is_opened_with_all_that_is_in_it() {
    let database = Database::create().await;
    let operator = database.connect().await;
    for version in [VERSION_ONE, VERSION_TWO, VERSION_THREE, VERSION_FOUR] {
        operator.batch_execute(version).await.unwrap();
    }
    operator.batch_execute(&version_four::rows(|bytes| format!("'\\x{}'", hex(bytes)))).await.unwrap();
    operator.batch_execute("UPDATE schema_version SET version = 4").await.unwrap();

    let clock = Arc::new(ManualClock::at(at(0)));
    let store = database.open_with(Arc::clone(&clock) as Arc<dyn Clock>).await.expect("it is upgraded");
    version_four::assert_upgraded(&store, &clock).await;
    let version = operator.query_one("SELECT version FROM schema_version", &[]).await.unwrap();
    assert_eq!(version.get::<_, i64>(0), SCHEMA_VERSION);
}

#[tokio::test]
async fn a_database_of_version_five_is_opened_with_all_that_is_in_it() {
    let database = Database::create().await;
    let operator = database.connect().await;
    for version in [VERSION_ONE, VERSION_TWO, VERSION_THREE, VERSION_FOUR, VERSION_FIVE] {
        operator.batch_execute(version).await.unwrap();
    }
    operator.batch_execute(&version_five::rows(|bytes| format!("'\\x{}'", hex(bytes)))).await.unwrap();
    operator.batch_execute("UPDATE schema_version SET version = 5").await.unwrap();

    let clock = Arc::new(ManualClock::at(at(0)));
    let store = database.open_with(Arc::clone(&clock) as Arc<dyn Clock>).await.expect("it is upgraded");
    version_five::assert_upgraded(&store, &clock).await;
    let version = operator.query_one("SELECT version FROM schema_version", &[]).await.unwrap();
    assert_eq!(version.get::<_, i64>(0), SCHEMA_VERSION);
}
