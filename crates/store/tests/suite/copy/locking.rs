//! Hubs and other copies during a copy.

use std::pin::pin;

use countersign_store::copy::{CopyError, copy};
use tokio::sync::Notify;
use tokio_postgres::error::SqlState;

use super::fixtures::*;
use crate::postgres::fresh::Database;
use crate::scene::*;
use crate::sqlite::fresh::Scratch;

#[tokio::test]
async fn database_with_a_running_hub_is_neither_source_nor_target() {
    let (start, moved) = full_database().await;
    let hub = open_database(&moved).await.unwrap();
    let error = refused(&database(&moved), &file(&Scratch::new())).await;
    assert!(
        matches!(&error, CopyError::HubRunning { sign, .. } if sign.starts_with("connections")),
        "{error}"
    );

    let empty = Database::create().await;
    let other_hub = open_database(&empty).await.unwrap();
    let error = refused(&file(&start), &database(&empty)).await;
    assert!(matches!(error, CopyError::HubRunning { .. }), "{error}");
    add_agent(&other_hub, BUILDER).await;

    drop(hub);
    copied(&database(&moved), &file(&Scratch::new())).await;
}

/// A lease reveals a hub even while it has no connection.
#[tokio::test]
async fn live_lease_counts_as_a_running_hub() {
    let (_start, moved) = full_database().await;
    let operator = moved.connect().await;
    let enter = "CREATE TABLE IF NOT EXISTS node (id TEXT PRIMARY KEY, started_at BIGINT, lease_until BIGINT);
         INSERT INTO node (id, started_at, lease_until) VALUES ('one', 0, 0),
             ('other', 0, extract(epoch FROM clock_timestamp())::bigint * 1000 + 3600000)";
    operator.batch_execute(enter).await.unwrap();
    let error = refused(&database(&moved), &file(&Scratch::new())).await;
    assert!(
        matches!(&error, CopyError::HubRunning { sign, .. } if sign.ends_with("leases: 1")),
        "{error}"
    );
    operator
        .batch_execute("DELETE FROM node WHERE id = 'other'")
        .await
        .unwrap();
    copied(&database(&moved), &file(&Scratch::new())).await;
}

/// A hub with a custom application name is not detected.
#[tokio::test]
async fn source_cannot_change_while_it_is_copied() {
    let (_start, moved) = full_database().await;
    let from = database(&moved);
    let target = Scratch::new();
    let to = file(&target);
    let under_way = Notify::new();
    let tell = |progress: countersign_store::copy::CopyProgress<'_>| {
        if is_batch(&progress) {
            under_way.notify_one();
        }
    };
    let mut copying = pin!(copy(&from, &to, SOME, tell));
    tokio::select! {
        biased;
        () = under_way.notified() => {}
        done = &mut copying => panic!("it was done before it began: {done:?}"),
    }
    let stranger = moved.connect().await;
    stranger.batch_execute("SET lock_timeout = '100ms'").await.unwrap();
    let change = "UPDATE person SET role = 'owner'";
    let refused = stranger.execute(change, &[]).await.expect_err("the source is held");
    assert_eq!(refused.code(), Some(&SqlState::LOCK_NOT_AVAILABLE));
    assert!(
        stranger.query_one("SELECT count(*) FROM person", &[]).await.is_ok(),
        "but it can be read"
    );
    assert!(copying.await.unwrap().is_same());
    assert!(
        stranger.execute(change, &[]).await.unwrap() > 0,
        "afterwards it is free again"
    );
}

#[tokio::test]
async fn two_copies_do_not_write_to_one_database() {
    let start = full_file().await;
    let target = Database::create().await;
    let other = target.connect().await;
    let number = i64::from_be_bytes(*b"cscopies");
    other.execute("SELECT pg_advisory_lock($1)", &[&number]).await.unwrap();
    let error = refused(&file(&start), &database(&target)).await;
    assert!(matches!(error, CopyError::CopyInProgress { .. }), "{error}");
    drop(other);
    copied(&file(&start), &database(&target)).await;
}
