//! Indexing messages that commit in another order than their seq. A plain connection submits the late one.

use countersign_store::ops::search::IndexBatch;
use tokio_postgres::Client;

use super::fresh::Fresh;
use super::within_timeout;
use crate::behaviours::search::{find, index_all};
use crate::scene::*;

/// Takes the next seq for message 2, without committing yet.
async fn submit_late(fresh: &Fresh) -> Client {
    let operator = fresh.database.connect().await;
    let sql = format!(
        "BEGIN;
         INSERT INTO message (id, agent_id, status, rev, rank, received_at, audit_seq, source)
             SELECT '{}', agent_id, status, rev, rank, received_at, audit_seq, source FROM message WHERE seq = 1;
         INSERT INTO message_text (seq, content, wire) SELECT 2, content, wire FROM message_text WHERE seq = 1;",
        message_id(2)
    );
    operator.batch_execute(&sql).await.unwrap();
    operator
}

/// Submits messages 1 and 3, with 2 uncommitted.
async fn fill(fresh: &Fresh) -> Client {
    add_agent(&fresh.store, BUILDER).await;
    submitted(&fresh.store, &Draft::ask(1)).await;
    let late = submit_late(fresh).await;
    submitted(&fresh.store, &Draft::ask(3)).await;
    for indexed in [2, 0, 0] {
        assert_eq!(index_all(&fresh.store).await, indexed);
    }
    assert_eq!(find(&fresh.store, "bridge").await, [3, 1].map(message_id));
    late
}

/// The checkpoint advances when all older transactions have ended, and other tests share the server.
async fn until_settled(fresh: &Fresh, seq: i64) {
    let operator = fresh.database.connect().await;
    let settled = async {
        while operator
            .query_one("SELECT settled FROM search_mark", &[])
            .await
            .unwrap()
            .get::<_, i64>(0)
            < seq
        {
            assert_eq!(fresh.store.run(IndexBatch { limit: 10 }).await.unwrap().count, 0);
        }
    };
    within_timeout(settled).await;
}

#[tokio::test]
async fn late_commit_with_a_lower_seq_is_indexed() {
    let fresh = Fresh::open().await;
    let late = fill(&fresh).await;
    late.batch_execute("COMMIT").await.unwrap();
    assert_eq!(index_all(&fresh.store).await, 1);
    assert_eq!(find(&fresh.store, "bridge").await, [3, 2, 1].map(message_id));
    until_settled(&fresh, 3).await;
    submitted(&fresh.store, &Draft::ask(4)).await;
    assert_eq!(index_all(&fresh.store).await, 1);
    until_settled(&fresh, 4).await;
}

#[tokio::test]
async fn rolled_back_seq_does_not_block_the_index() {
    let fresh = Fresh::open().await;
    let late = fill(&fresh).await;
    late.batch_execute("ROLLBACK").await.unwrap();
    until_settled(&fresh, 3).await;
    assert_eq!(find(&fresh.store, "bridge").await, [3, 1].map(message_id));
}
