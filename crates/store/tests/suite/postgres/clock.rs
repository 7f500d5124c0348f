//! Which clock decides.

use std::sync::Arc;
use std::time::Duration;

use countersign_core::Command;
use countersign_core::message::Outcome;
use countersign_protocol::time::Timestamp;
use countersign_store::clock::{Clock, DatabaseClock, SystemClock};
use countersign_store::ops::message::sweep::ProveWritable;

use super::fresh::Database;
use crate::behaviours::sweep::expire;
use crate::scene::*;

const HOUR: Duration = Duration::from_secs(3600);

/// The database's own time.
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
    let past = Draft {
        expires_at: Some(before),
        ..Draft::ask(1)
    };
    let future = Draft {
        expires_at: Some(before.plus(HOUR)),
        ..Draft::ask(2)
    };
    submitted(&store, &past).await;
    submitted(&store, &future).await;
    let expired = expire(&store, 2).await;
    let after = time_of(&database).await;
    let [expired] = expired.as_slice() else {
        panic!("one has expired, not {expired:?}")
    };
    assert_eq!(expired.view.id, past.id());
    let expired = &expired.resolution;
    assert_eq!(expired.outcome, Outcome::Expired);
    assert!(
        before < expired.resolved_at && expired.resolved_at <= after,
        "{before:?} {expired:?} {after:?}"
    );
    rejected(&store, &future.id(), Command::Expire).await;
}

/// A wrong clock that follows the database inside transactions.
struct Fast;

impl Clock for Fast {
    fn now(&self) -> Timestamp {
        SystemClock.now().plus(HOUR)
    }

    fn follows_database(&self) -> bool {
        true
    }
}

#[tokio::test]
async fn hub_with_a_fast_clock_expires_nothing_early() {
    let database = Database::create().await;
    let store = database.open_with(Arc::new(Fast)).await.unwrap();
    add_agent(&store, BUILDER).await;
    submitted(
        &store,
        &Draft {
            expires_at: Some(time_of(&database).await.plus(HOUR / 2)),
            ..Draft::ask(1)
        },
    )
    .await;
    assert!(expire(&store, 1).await.is_empty());
    rejected(&store, &message_id(1), Command::Expire).await;
}

/// A database whose clock is an hour ahead of the machine's.
async fn fast_database() -> Database {
    let database = Database::create().await;
    let shadow = "CREATE SCHEMA shadow;
         CREATE FUNCTION shadow.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
             AS $$ SELECT pg_catalog.clock_timestamp() + interval '1 hour' $$;
         DO $$ BEGIN
             EXECUTE format('ALTER DATABASE %I SET search_path = public, shadow, pg_catalog', current_database());
         END $$";
    database.connect().await.batch_execute(shadow).await.unwrap();
    database
}

#[tokio::test]
async fn hub_follows_a_database_with_a_fast_clock() {
    let database = fast_database().await;
    let clock = Arc::new(DatabaseClock::default());
    let store = database.open_with(Arc::clone(&clock) as Arc<dyn Clock>).await.unwrap();
    add_agent(&store, BUILDER).await;
    let in_half_an_hour = SystemClock.now().plus(HOUR / 2);
    submitted(
        &store,
        &Draft {
            expires_at: Some(in_half_an_hour),
            ..Draft::ask(1)
        },
    )
    .await;
    let expired = expire(&store, 1).await;
    assert!(expired[0].resolution.resolved_at > in_half_an_hour);
    assert!(clock.now() > in_half_an_hour, "the hub's own stamps follow");
}

#[tokio::test]
async fn hub_timestamps_follow_the_database() {
    let database = Database::create().await;
    let clock = Arc::new(DatabaseClock::default());
    let store = database.open_with(Arc::clone(&clock) as Arc<dyn Clock>).await.unwrap();
    let before = time_of(&database).await;
    store.run(ProveWritable::at(store.clock().now())).await.unwrap();
    let found = clock.now();
    let after = time_of(&database).await;
    // The two clocks are read one after the other, and each is rounded down to a millisecond.
    assert!(before.as_millis() - 1 <= found.as_millis() && found.as_millis() <= after.as_millis() + 1);
}
