//! Expiry and retention with several hubs.

use std::pin::pin;

use countersign_store::ops::admin::agents::RemoveAgent;
use countersign_store::ops::message::pull::RecordFetched;
use countersign_store::ops::message::sweep::{ExpireDue, NextExpiry, Purge};
use futures_util::future::join_all;
use tokio_postgres::Client;

use super::fresh::{Database, Fresh};
use super::proxy::Proxy;
use super::row_conflicts::{holding, until_it_waits};
use crate::behaviours::snooze::put_away;
use crate::behaviours::sweep::expired;
use crate::scene::*;

/// A removed agent that sorts before every other.
const GONE: &str = "a-gone";
const COUNT_LEFT: &str = "UPDATE setting SET value = value WHERE name = 'left_open'";

async fn remove(fresh: &Fresh, agent: &str) {
    assert!(
        fresh
            .store
            .run(RemoveAgent {
                id: agent.to_owned(),
                actor: OWNER.to_owned()
            })
            .await
            .unwrap()
    );
}

fn expiring(number: u64, agent: &'static str) -> Draft {
    Draft {
        agent,
        expires_at: Some(at(10)),
        ..Draft::ask(number)
    }
}

/// Runs a statement that must not wait for a lock.
async fn goes_on(rival: &Client, sql: &str) {
    rival.batch_execute("SET LOCAL lock_timeout = '500ms'").await.unwrap();
    rival
        .batch_execute(sql)
        .await
        .expect("a waiting transaction holds no lock that the rival needs");
}

async fn left_open(fresh: &Fresh) -> String {
    let sql = "SELECT value FROM setting WHERE name = 'left_open'";
    fresh.database.connect().await.query_one(sql, &[]).await.unwrap().get(0)
}

#[tokio::test]
async fn expiry_locks_the_orphan_count_last() {
    let fresh = Fresh::open().await;
    for agent in [GONE, BUILDER] {
        add_agent(&fresh.store, agent).await;
    }
    for (number, agent) in [(1, GONE), (2, GONE), (3, GONE), (4, BUILDER)] {
        submitted(&fresh.store, &expiring(number, agent)).await;
    }
    submitted(
        &fresh.store,
        &Draft {
            agent: GONE,
            ..Draft::ask(5)
        },
    )
    .await;
    remove(&fresh, GONE).await;
    fresh.clock.set(at(11));
    let rival = holding(&fresh, "UPDATE agent SET open = open").await;
    {
        let mut expiring = pin!(expired(&fresh.store, 10));
        until_it_waits(&fresh, expiring.as_mut()).await;
        goes_on(&rival, COUNT_LEFT).await;
        rival.batch_execute("COMMIT").await.unwrap();
        assert_eq!(expiring.await, [1, 2, 3, 4].map(message_id));
    }
    assert_eq!(
        (
            left_open(&fresh).await.as_str(),
            open_count(&fresh.store, BUILDER).await
        ),
        ("1", 0)
    );
}

#[tokio::test]
async fn removal_locks_the_orphan_count_last() {
    let fresh = Fresh::open().await;
    add_agent(&fresh.store, BUILDER).await;
    submitted(&fresh.store, &Draft::ask(1)).await;
    fresh
        .database
        .connect()
        .await
        .batch_execute("INSERT INTO setting VALUES ('left_open', '1')")
        .await
        .unwrap();
    let rival = holding(&fresh, "UPDATE audit_head SET audit_seq = audit_seq").await;
    {
        let mut removing = pin!(remove(&fresh, BUILDER));
        until_it_waits(&fresh, removing.as_mut()).await;
        goes_on(&rival, COUNT_LEFT).await;
        rival.batch_execute("COMMIT").await.unwrap();
        removing.await;
    }
    assert_eq!(left_open(&fresh).await, "2");
}

#[tokio::test]
async fn hubs_together_expire_all_messages_of_a_removed_agent() {
    let fresh = Fresh::open().await;
    let stores = [&fresh.store, &fresh.neighbour().await];
    for agent in [GONE, BUILDER] {
        add_agent(&fresh.store, agent).await;
    }
    for (number, agent) in (1..=40).zip([GONE, BUILDER].into_iter().cycle()) {
        submitted(&fresh.store, &expiring(number, agent)).await;
    }
    remove(&fresh, GONE).await;
    fresh.clock.set(at(11));
    let mut ended = 0;
    while ended < 40 {
        let round = join_all((0..4).map(|number| expired(stores[number % 2], 5))).await;
        let found = round.iter().map(Vec::len).sum::<usize>();
        assert!(found > 0, "at least one hub makes progress");
        ended += found;
    }
    assert_eq!(
        (
            left_open(&fresh).await.as_str(),
            open_count(&fresh.store, BUILDER).await
        ),
        ("0", 0)
    );
}

#[tokio::test]
async fn purge_pipelines_its_statements() {
    let database = Database::create().await;
    let proxy = Proxy::before(&database);
    let store = proxy.open().await;
    add_agent(&store, BUILDER).await;
    for number in 1..=100 {
        submitted_and_resolved(&store, &Draft::pushed(number)).await;
    }
    let before = proxy.read_count();
    assert_eq!(
        store
            .run(Purge {
                resolved_before: at(1),
                limit: 100
            })
            .await
            .unwrap(),
        100
    );
    let text = proxy.read_count() - before;
    assert!(text < 100, "it waited {text} times for a hundred messages");
}

#[tokio::test]
async fn unreadable_message_does_not_block_other_expiries() {
    let fresh = Fresh::open().await;
    add_agent(&fresh.store, BUILDER).await;
    for number in 1..=4 {
        let millis = i64::try_from(number).unwrap();
        submitted(
            &fresh.store,
            &Draft {
                expires_at: Some(at(millis)),
                ..Draft::ask(number)
            },
        )
        .await;
    }
    let broken = "UPDATE message_text SET content = '{' WHERE seq < 3";
    fresh.database.connect().await.batch_execute(broken).await.unwrap();
    fresh.clock.set(at(11));
    let two = |skipped| ExpireDue {
        resolution_ids: vec![resolution_id(), resolution_id()],
        skipped,
    };
    let first = fresh.store.run(two(Vec::new())).await.unwrap();
    let skipped = || -> Vec<String> { first.unreadable.iter().map(|message| message.id.clone()).collect() };
    assert_eq!(
        (first.applied.len(), skipped()),
        (0, [1, 2].map(|number| message_id(number).to_string()).to_vec())
    );
    assert_eq!(
        fresh.store.run(NextExpiry { skipped: skipped() }).await.unwrap(),
        Some(at(3))
    );
    let second = fresh.store.run(two(skipped())).await.unwrap();
    let mut ended: Vec<_> = second.applied.into_iter().map(|applied| applied.view.id).collect();
    ended.sort();
    assert_eq!(
        (ended, second.unreadable),
        ([3, 4].map(message_id).to_vec(), Vec::new())
    );
    assert_eq!(fresh.store.run(NextExpiry { skipped: skipped() }).await.unwrap(), None);
    assert_eq!(
        open_count(&fresh.store, BUILDER).await,
        2,
        "what cannot be read stays as it is"
    );
}

/// Purges a message without committing yet.
async fn emptying(fresh: &Fresh, number: u64) -> Client {
    submitted_and_resolved(&fresh.store, &Draft::ask(number)).await;
    let sql = "UPDATE message SET purged_at = 1, resolved_at = NULL, resolution_seq = NULL, rev = rev + 1 WHERE id =";
    holding(fresh, &format!("{sql} '{}'", message_id(number))).await
}

#[tokio::test]
async fn nothing_is_recorded_for_a_message_being_purged() {
    let fresh = Fresh::open().await;
    add_agent(&fresh.store, BUILDER).await;
    let rival = emptying(&fresh, 1).await;
    {
        let mut fetching = pin!(fresh.store.run(RecordFetched {
            ids: vec![message_id(1)]
        }));
        until_it_waits(&fresh, fetching.as_mut()).await;
        rival.batch_execute("COMMIT").await.unwrap();
        assert!(fetching.await.unwrap().is_empty());
    }
    let rival = emptying(&fresh, 2).await;
    {
        let mut archiving = pin!(put_away(&fresh.store, "alice", 2, None));
        until_it_waits(&fresh, archiving.as_mut()).await;
        rival.batch_execute("COMMIT").await.unwrap();
        assert!(!archiving.await);
    }
    let left = "SELECT (SELECT count(*) FROM fetched) + (SELECT count(*) FROM shelf)";
    assert_eq!(rival.query_one(left, &[]).await.unwrap().get::<_, i64>(0), 0);
}
