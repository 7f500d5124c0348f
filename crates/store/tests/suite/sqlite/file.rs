//! The file itself: permissions, schema versions, and changes that even its owner's SQL cannot make.

use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use countersign_core::Digest;
use countersign_store::clock::ManualClock;
use countersign_store::ops::message::audit::Trail;
use countersign_store::ops::message::pull::RecordFetched;
use countersign_store::ops::run::PurgeRuns;
use countersign_store::{SCHEMA_VERSION, StoreError};

use super::fresh::{Fresh, Scratch};
use crate::behaviours::search::{find, index_all};
use crate::behaviours::snooze::put_away;
use crate::runs;
use crate::scene::*;

#[tokio::test]
async fn only_the_owner_can_read_the_file() {
    let fresh = Fresh::open();
    add_agent(&fresh.store, BUILDER).await;
    let directory = fresh.scratch.file().parent().expect("it is in a directory").to_owned();
    for entry in std::fs::read_dir(directory).expect("the directory is there") {
        let entry = entry.expect("and can be read");
        let mode = entry.metadata().expect("with modes").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{:?}", entry.file_name());
    }
}

#[tokio::test]
async fn file_uses_wal_and_stores_its_schema_version() {
    let fresh = Fresh::open();
    let connection = fresh.scratch.connect();
    let mode: String = connection
        .query_row("PRAGMA journal_mode", [], |row| row.get(0))
        .unwrap();
    let version: i64 = connection
        .query_row("PRAGMA user_version", [], |row| row.get(0))
        .unwrap();
    assert_eq!((mode.as_str(), version), ("wal", SCHEMA_VERSION));
}

#[test]
fn a_newer_schema_is_refused_and_left_alone() {
    let scratch = Scratch::new();
    let newer = SCHEMA_VERSION + 1;
    scratch.connect().pragma_update(None, "user_version", newer).unwrap();
    let clock = Arc::new(ManualClock::at(at(0)));
    match scratch.open_at(&clock) {
        Err(StoreError::NewerSchema { found, known }) => assert_eq!((found, known), (newer, SCHEMA_VERSION)),
        Err(other) => panic!("expected a refusal for its version, got {other}"),
        Ok(_) => panic!("a newer schema was opened"),
    }
    let connection = scratch.connect();
    let version: i64 = connection
        .query_row("PRAGMA user_version", [], |row| row.get(0))
        .unwrap();
    let tables: i64 = connection
        .query_row("SELECT COUNT(*) FROM sqlite_schema", [], |row| row.get(0))
        .unwrap();
    assert_eq!((version, tables), (newer, 0));
}

#[test]
fn file_that_is_not_a_database_is_refused() {
    let scratch = Scratch::new();
    std::fs::write(
        scratch.file(),
        "not a database, but long enough to have a header of some kind",
    )
    .unwrap();
    let opened = scratch.open_at(&Arc::new(ManualClock::at(at(0))));
    assert!(matches!(opened, Err(StoreError::Unavailable(_))));
}

#[tokio::test]
async fn audit_trail_cannot_be_changed_or_truncated() {
    let fresh = Fresh::open();
    add_agent(&fresh.store, BUILDER).await;
    submitted_and_resolved(&fresh.store, &Draft::ask(1)).await;
    let trail = || Trail {
        subject: message_id(1).to_string(),
    };
    let before = fresh.store.run(trail()).await.unwrap();
    let connection = fresh.scratch.connect();
    for attack in [
        "UPDATE audit SET actor = 'human:mallory'",
        "UPDATE audit SET n = n + 10",
        "UPDATE audit SET hash = hash",
        "DELETE FROM audit",
        "DELETE FROM audit WHERE n = 2",
    ] {
        let refused = connection.execute(attack, []).expect_err(attack).to_string();
        assert!(refused.contains("append-only"), "{attack}: {refused}");
    }
    let after = fresh.store.run(trail()).await.unwrap();
    assert_eq!(format!("{after:?}"), format!("{before:?}"));
    assert_eq!(after.len(), 2);
}

#[tokio::test]
async fn audit_trail_hashes_the_stored_bytes() {
    let fresh = Fresh::open();
    add_agent(&fresh.store, BUILDER).await;
    submitted_and_resolved(&fresh.store, &Draft::ask(1)).await;
    let connection = fresh.scratch.connect();
    let sql = "SELECT t.content, r.body, a.hash FROM message m JOIN message_text t ON t.seq = m.seq \
         JOIN resolution r ON r.seq = m.resolution_seq JOIN audit a ON a.seq = m.audit_seq WHERE m.id = ?1";
    let stored: (String, String, Vec<u8>) = connection
        .query_row(sql, [message_id(1).as_str()], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .unwrap();
    let trail = fresh
        .store
        .run(Trail {
            subject: message_id(1).to_string(),
        })
        .await
        .unwrap();
    let last = trail.last().expect("it was decided");
    assert_eq!(last.entry.content_sha256, Some(Digest::of(stored.0.as_bytes())));
    assert_eq!(last.entry.resolution_sha256, Some(Digest::of(stored.1.as_bytes())));
    assert_eq!(last.hash.as_bytes(), stored.2, "the message names the end of its chain");
}

#[tokio::test]
async fn purge_leaves_no_text_behind() {
    let fresh = Fresh::open();
    add_agent(&fresh.store, BUILDER).await;
    submitted_and_resolved(&fresh.store, &Draft::pushed(1)).await;
    index_all(&fresh.store).await;
    fresh
        .store
        .run(RecordFetched {
            ids: vec![message_id(1)],
        })
        .await
        .unwrap();
    assert!(put_away(&fresh.store, "alice", 1, None).await);
    let purge = countersign_store::ops::message::sweep::Purge {
        resolved_before: at(1),
        limit: 10,
    };
    assert_eq!(fresh.store.run(purge).await.unwrap(), 1);
    let sql = "SELECT source || coalesce(callback, '') || (SELECT count(*) FROM resolution) || \
         (SELECT count(*) FROM message_text) || (SELECT count(*) FROM shelf) || (SELECT count(*) FROM fetched) || \
         (SELECT count(*) FROM message_search) FROM message";
    let left: String = fresh.scratch.connect().query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(left, "00000");
}

#[tokio::test]
async fn purged_run_leaves_nothing() {
    let fresh = Fresh::open();
    runs::ended_with_everything(&fresh.store).await;
    let sql = "SELECT (SELECT count(*) FROM run) + (SELECT count(*) FROM run_text) + (SELECT count(*) FROM run_event) + \
         (SELECT count(*) FROM run_record) + (SELECT count(*) FROM run_ask) + (SELECT count(*) FROM run_mail)";
    let left = || {
        fresh
            .scratch
            .connect()
            .query_row(sql, [], |row| row.get::<_, i64>(0))
            .unwrap()
    };
    assert_eq!(left(), 6);
    assert_eq!(
        fresh
            .store
            .run(PurgeRuns {
                ended_before: at(6),
                limit: 10
            })
            .await
            .unwrap(),
        1
    );
    assert_eq!(left(), 0);
}

#[tokio::test]
async fn unreadable_message_does_not_block_the_search_index() {
    let fresh = Fresh::open();
    add_agent(&fresh.store, BUILDER).await;
    for number in 1..=3 {
        submitted(&fresh.store, &Draft::ask(number)).await;
    }
    let damage = "UPDATE message_text SET content = '{' WHERE seq = 2";
    fresh.scratch.connect().execute_batch(damage).unwrap();
    assert_eq!(index_all(&fresh.store).await, 3);
    assert_eq!(find(&fresh.store, "number").await, [3, 1].map(message_id));
}
