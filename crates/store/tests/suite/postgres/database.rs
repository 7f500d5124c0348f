//! The database itself: schema versions, and changes that even its owner's SQL cannot make.

use std::sync::Arc;

use countersign_core::Digest;
use countersign_store::clock::{Clock, ManualClock};
use countersign_store::ops::account::setting::Setting;
use countersign_store::ops::message::audit::Trail;
use countersign_store::ops::message::pull::RecordFetched;
use countersign_store::ops::message::sweep::Purge;
use countersign_store::ops::run::PurgeRuns;
use countersign_store::{SCHEMA_VERSION, Store, StoreError};
use futures_util::future::join_all;

use super::fresh::{Database, Fresh};
use crate::behaviours::search::index_all;
use crate::behaviours::snooze::put_away;
use crate::runs;
use crate::scene::*;

fn clock() -> Arc<dyn Clock> {
    Arc::new(ManualClock::at(at(0)))
}

#[tokio::test]
async fn hubs_that_start_together_make_one_schema() {
    let database = Database::create().await;
    let stores = join_all((0..8).map(|_| database.open_with(clock()))).await;
    let stores: Vec<Store> = stores
        .into_iter()
        .map(|store| store.expect("each of them starts"))
        .collect();
    add_agent(&stores[0], BUILDER).await;
    assert_eq!(open_count(&stores[7], BUILDER).await, 0);
    let version = database
        .connect()
        .await
        .query_one("SELECT version FROM schema_version", &[])
        .await
        .unwrap();
    assert_eq!(version.get::<_, i64>(0), SCHEMA_VERSION);
}

#[tokio::test]
async fn a_newer_schema_is_refused_and_left_alone() {
    let database = Database::create().await;
    let newer = SCHEMA_VERSION + 1;
    let operator = database.connect().await;
    let schema = format!("CREATE TABLE schema_version AS SELECT {newer}::bigint AS version");
    operator.batch_execute(&schema).await.unwrap();
    match database.open_with(clock()).await {
        Err(StoreError::NewerSchema { found, known }) => assert_eq!((found, known), (newer, SCHEMA_VERSION)),
        Err(other) => panic!("expected a refusal for its version, got {other}"),
        Ok(_) => panic!("a newer schema was opened"),
    }
    let sql = "SELECT (SELECT version FROM schema_version), count(*) FROM pg_tables WHERE schemaname = 'public'";
    let left = operator.query_one(sql, &[]).await.unwrap();
    assert_eq!((left.get::<_, i64>(0), left.get::<_, i64>(1)), (newer, 1));
}

#[tokio::test]
async fn url_and_key_value_settings_are_equivalent() {
    let fresh = Fresh::open().await;
    let settings: tokio_postgres::Config = fresh.database.url().parse().unwrap();
    let [tokio_postgres::config::Host::Unix(socket)] = settings.get_hosts() else {
        panic!("a socket")
    };
    let socket = socket.to_str().expect("a plain path").replace('/', "%2F");
    let url = format!(
        "postgres://countersign@{socket}/{}",
        settings.get_dbname().expect("a database")
    );
    let store = Store::open_postgres(&url, clock()).await.unwrap();
    add_agent(&store, BUILDER).await;
    assert_eq!(open_count(&fresh.store, BUILDER).await, 0);
}

#[tokio::test]
async fn unreachable_database_is_unavailable() {
    for url in [
        "postgres://nobody@%2Fnowhere/none",
        "postgres://nobody@127.0.0.1:1/none?sslmode=disable",
        "no url",
    ] {
        let opened = Store::open_postgres(url, clock()).await;
        assert!(matches!(opened, Err(StoreError::Unavailable(_))), "{url}");
    }
}

#[tokio::test]
async fn audit_trail_cannot_be_changed_or_truncated() {
    let fresh = Fresh::open().await;
    add_agent(&fresh.store, BUILDER).await;
    submitted_and_resolved(&fresh.store, &Draft::ask(1)).await;
    let trail = || Trail {
        subject: message_id(1).to_string(),
    };
    let before = fresh.store.run(trail()).await.unwrap();
    let operator = fresh.database.connect().await;
    for attack in [
        "UPDATE audit SET actor = 'human:mallory'",
        "UPDATE audit SET n = n + 10",
        "UPDATE audit SET hash = hash",
        "DELETE FROM audit",
        "DELETE FROM audit WHERE n = 2",
        "TRUNCATE audit",
    ] {
        let refused = operator.batch_execute(attack).await.expect_err(attack);
        let refused = refused.as_db_error().expect("the database refuses").message();
        assert!(refused.contains("append-only"), "{attack}: {refused}");
    }
    let after = fresh.store.run(trail()).await.unwrap();
    assert_eq!(format!("{after:?}"), format!("{before:?}"));
    assert_eq!(after.len(), 2);
}

#[tokio::test]
async fn audit_trail_hashes_the_stored_bytes() {
    let fresh = Fresh::open().await;
    add_agent(&fresh.store, BUILDER).await;
    submitted_and_resolved(&fresh.store, &Draft::ask(1)).await;
    let sql = "SELECT t.content, r.body, a.hash FROM message m JOIN message_text t ON t.seq = m.seq \
         JOIN resolution r ON r.seq = m.resolution_seq JOIN audit a ON a.seq = m.audit_seq WHERE m.id = $1";
    let stored = fresh
        .database
        .connect()
        .await
        .query_one(sql, &[&message_id(1).as_str()])
        .await
        .unwrap();
    let trail = fresh
        .store
        .run(Trail {
            subject: message_id(1).to_string(),
        })
        .await
        .unwrap();
    let last = trail.last().expect("it was decided");
    assert_eq!(
        last.entry.content_sha256,
        Some(Digest::of(stored.get::<_, &str>(0).as_bytes()))
    );
    assert_eq!(
        last.entry.resolution_sha256,
        Some(Digest::of(stored.get::<_, &str>(1).as_bytes()))
    );
    assert_eq!(
        last.hash.as_bytes(),
        stored.get::<_, &[u8]>(2),
        "the message names the end of its chain"
    );
}

#[tokio::test]
async fn purge_leaves_no_text_behind() {
    let fresh = Fresh::open().await;
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
    assert_eq!(
        fresh
            .store
            .run(Purge {
                resolved_before: at(1),
                limit: 10
            })
            .await
            .unwrap(),
        1
    );
    let sql = "SELECT source || coalesce(callback, '') || (SELECT count(*) FROM resolution) || \
         (SELECT count(*) FROM message_text) || (SELECT count(*) FROM shelf) || (SELECT count(*) FROM fetched) || \
         (SELECT count(*) FROM message_search) FROM message";
    let left = fresh.database.connect().await.query_one(sql, &[]).await.unwrap();
    assert_eq!(left.get::<_, &str>(0), "00000");
}

#[tokio::test]
async fn purged_run_leaves_nothing() {
    let fresh = Fresh::open().await;
    runs::ended_with_everything(&fresh.store).await;
    let sql = "SELECT (SELECT count(*) FROM run) + (SELECT count(*) FROM run_text) + (SELECT count(*) FROM run_event) + \
         (SELECT count(*) FROM run_record) + (SELECT count(*) FROM run_ask) + (SELECT count(*) FROM run_mail)";
    let operator = fresh.database.connect().await;
    let left = async || operator.query_one(sql, &[]).await.unwrap().get::<_, i64>(0);
    assert_eq!(left().await, 6);
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
    assert_eq!(left().await, 0);
}

/// Statement timeouts are shorter than the caller's: abandoned statements must not go on. The views
/// return the current timeout in place of stored data.
#[tokio::test]
async fn a_scan_may_take_longer_than_anything_else() {
    let fresh = Fresh::open().await;
    add_agent(&fresh.store, BUILDER).await;
    let telling = "ALTER TABLE setting RENAME TO setting_kept;
         CREATE VIEW setting AS SELECT 'timeout' AS name, current_setting('statement_timeout') AS value;
         ALTER TABLE agent RENAME TO agent_kept;
         CREATE VIEW agent AS SELECT id, name, signature_alg, created_at, seen_at,
             extract(epoch FROM current_setting('statement_timeout')::interval)::bigint AS open FROM agent_kept";
    fresh.database.connect().await.batch_execute(telling).await.unwrap();
    for round in ["at first", "and on the same connection"] {
        assert_eq!(open_count(&fresh.store, BUILDER).await, 30, "{round}");
        let looked_up = fresh
            .store
            .run(Setting {
                name: "timeout".to_owned(),
            })
            .await
            .unwrap();
        assert_eq!(looked_up.as_deref(), Some("8s"), "{round}");
    }
}
