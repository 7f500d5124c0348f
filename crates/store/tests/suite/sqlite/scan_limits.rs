//! The scan limit of a page, and where the next page continues. The rows are copied by SQL, because submitting
//! thousands would be slow.

use countersign_protocol::a2h::Priority;
use countersign_store::ops::account::ceremony::{BeginCeremony, MAX_CEREMONIES, TakeCeremony};
use countersign_store::ops::list::{Decided, Inbox, InboxBefore, ListFilter, Notices};

use super::fresh::Fresh;
use crate::scene::*;

/// Copies message 1 to the following numbers, up to `last`.
fn copy(fresh: &Fresh, last: u64) {
    let sql = format!(
        "WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < {last})
         INSERT INTO message (id, agent_id, status, rev, rank, received_at, resolved_at, audit_seq, source, resolution_seq)
             SELECT printf('msg_%026d', i), agent_id, status, rev, rank, received_at, resolved_at, audit_seq, source,
             resolution_seq FROM message, n WHERE seq = 1;
         INSERT INTO message_text (seq, content, wire) SELECT m.seq, t.content, t.wire
             FROM message m JOIN message_text t ON t.seq = 1 WHERE m.seq > 1;"
    );
    fresh.scratch.connect().execute_batch(&sql).unwrap();
}

fn rare() -> [ListFilter; 2] {
    let named = |text: &str| Some(text.to_owned());
    [
        ListFilter {
            agent: named(TESTER),
            ..ListFilter::default()
        },
        ListFilter {
            tag: named("rare"),
            ..ListFilter::default()
        },
    ]
}

#[tokio::test]
async fn rare_filter_reads_the_inbox_in_several_pages() {
    let fresh = Fresh::open();
    add_agent(&fresh.store, BUILDER).await;
    add_agent(&fresh.store, TESTER).await;
    submitted(&fresh.store, &Draft::ask(1)).await;
    copy(&fresh, 6_000);
    submitted(
        &fresh.store,
        &Draft {
            agent: TESTER,
            tags: &["rare"],
            ..Draft::ask(6_001)
        },
    )
    .await;
    for filter in rare() {
        let first = fresh
            .store
            .run(Inbox {
                filter: filter.clone(),
                ..inbox(None, 20)
            })
            .await
            .unwrap();
        assert!(first.items.is_empty());
        assert_eq!(
            first.next.as_ref().map(|next| next.seq),
            Some(5_000),
            "as far as it looked"
        );
        let second = fresh
            .store
            .run(Inbox {
                filter,
                ..inbox(first.next, 20)
            })
            .await
            .unwrap();
        assert_eq!(ids(&second.items), [6_001].map(message_id));
        assert_eq!(second.next, None);
    }
}

#[tokio::test]
async fn backwards_the_inbox_is_read_in_several_pages_too() {
    let fresh = Fresh::open();
    add_agent(&fresh.store, BUILDER).await;
    add_agent(&fresh.store, TESTER).await;
    submitted(&fresh.store, &Draft::ask(1)).await;
    copy(&fresh, 6_000);
    let urgent = Draft {
        agent: TESTER,
        tags: &["rare"],
        priority: Priority::Urgent,
        ..Draft::ask(6_001)
    };
    submitted(&fresh.store, &urgent).await;
    for filter in rare() {
        let first = fresh
            .store
            .run(InboxBefore {
                filter: filter.clone(),
                ..inbox_before(None, 20)
            })
            .await
            .unwrap();
        assert!(first.items.is_empty());
        assert_eq!(
            first.next.as_ref().map(|next| next.seq),
            Some(1_001),
            "as far as it looked"
        );
        let second = fresh
            .store
            .run(InboxBefore {
                filter,
                ..inbox_before(first.next, 20)
            })
            .await
            .unwrap();
        assert_eq!(ids(&second.items), [6_001].map(message_id));
        assert_eq!(second.next, None);
    }
}

#[tokio::test]
async fn rare_filter_reads_decisions_in_several_pages() {
    let fresh = Fresh::open();
    add_agent(&fresh.store, BUILDER).await;
    add_agent(&fresh.store, TESTER).await;
    submitted_and_resolved(&fresh.store, &Draft::ask(1)).await;
    copy(&fresh, 6_000);
    fresh
        .scratch
        .connect()
        .execute_batch("UPDATE message SET resolved_at = resolved_at + 10")
        .unwrap();
    submitted_and_resolved(
        &fresh.store,
        &Draft {
            agent: TESTER,
            tags: &["rare"],
            ..Draft::ask(6_001)
        },
    )
    .await;
    for filter in rare() {
        let decided = |before| Decided {
            filter: filter.clone(),
            status: None,
            before,
            limit: 20,
        };
        let first = fresh.store.run(decided(None)).await.unwrap();
        assert!(first.items.is_empty());
        assert_eq!(first.next, Some((at(10), 1_001)));
        let second = fresh.store.run(decided(first.next)).await.unwrap();
        assert_eq!(ids(&second.items), [6_001].map(message_id));
        assert_eq!(second.next, None);
    }
}

#[tokio::test]
async fn notices_behind_many_archived_ones_come_on_a_later_page() {
    let fresh = Fresh::open();
    add_agent(&fresh.store, BUILDER).await;
    submitted(&fresh.store, &Draft::notify(1)).await;
    copy(&fresh, 3_000);
    let archive = "INSERT INTO shelf (person, seq) SELECT 'alice', seq FROM message WHERE seq > 2";
    fresh.scratch.connect().execute_batch(archive).unwrap();
    let notices = |before| Notices {
        person: Some("alice".to_owned()),
        before,
        limit: 20,
    };
    let first = fresh.store.run(notices(None)).await.unwrap();
    assert!(first.items.is_empty());
    assert_eq!(first.next, Some(1_001));
    let second = fresh.store.run(notices(first.next)).await.unwrap();
    assert_eq!(ids(&second.items), [2, 1].map(message_id));
}

#[tokio::test]
async fn ceremonies_are_limited_in_total() {
    let fresh = Fresh::open();
    let sql = format!(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {MAX_CEREMONIES})
         INSERT INTO ceremony (id, body, expires_at) SELECT 'c' || i, '', {} + i % 100 FROM n",
        at(100).as_millis()
    );
    fresh.scratch.connect().execute_batch(&sql).unwrap();
    let begin = BeginCeremony {
        id: "new".to_owned(),
        person: None,
        body: String::new(),
        expires_at: at(300),
    };
    fresh.store.run(begin).await.unwrap();
    let count: i64 = fresh
        .scratch
        .connect()
        .query_row("SELECT COUNT(*) FROM ceremony", [], |row| row.get(0))
        .unwrap();
    assert_eq!(count, MAX_CEREMONIES);
    for (id, is_there) in [("c100", false), ("c1000", true), ("c99", true), ("new", true)] {
        let taken = fresh.store.run(TakeCeremony { id: id.to_owned() }).await.unwrap();
        assert_eq!(taken.is_some(), is_there, "{id}");
    }
}
