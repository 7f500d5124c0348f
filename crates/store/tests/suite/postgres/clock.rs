//! Whose time it is.

use std::sync::Arc;

use countersign_core::Command;
use countersign_core::message::Outcome;
use countersign_protocol::time::Timestamp;
use countersign_store::clock::{Clock, DatabaseClock};
use countersign_store::ops::sweep::ProveWritable;

use super::fresh::Database;
use crate::behaviours::sweep::expire;
use crate::scene::*;

/// What the database itself says.
async fn time_of(database: &Database) -> Timestamp {
    let sql = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint";
    Timestamp::from_millis(database.connect().await.query_one(sql, &[]).await.unwrap().get(0))
}

#[tokio::test]
async fn the_database_decides_what_has_expired() {
    let database = Database::create().await;
    let before = time_of(&database).await;
    let store = database.open_with(Arc::new(DatabaseClock::default())).await.unwrap();
    add_agent(&store, BUILDER).await;
    let past = Draft { expires_at: Some(before), ..Draft::ask(1) };
    let future = Draft { expires_at: Some(before.plus(std::time::Duration::from_secs(3600))), ..Draft::ask(2) };
    submitted(&store, &past).await;
    submitted(&store, &future).await;
    let expired = expire(&store, 2).await;
    let after = time_of(&database).await;
    let [expired] = expired.as_slice() else { panic!("one has expired, not {expired:?}") };
    assert_eq!(expired.pulled.id, past.id());
    let expired = &expired.resolution;
    assert_eq!(expired.outcome, Outcome::Expired);
    assert!(before < expired.resolved_at && expired.resolved_at <= after, "{before:?} {expired:?} {after:?}");
    rejected(&store, &future.id(), Command::Expire).await;
}

#[tokio::test]
async fn the_hub_s_own_stamps_follow_it() {
    let database = Database::create().await;
    let clock = Arc::new(DatabaseClock::default());
    let store = database.open_with(Arc::clone(&clock) as Arc<dyn Clock>).await.unwrap();
    let before = time_of(&database).await;
    store.run(ProveWritable).await.unwrap();
    let told = clock.now();
    let after = time_of(&database).await;
    // The two clocks are read one after the other, and each is cut to a millisecond.
    assert!(before.as_millis() - 1 <= told.as_millis() && told.as_millis() <= after.as_millis() + 1);
}
