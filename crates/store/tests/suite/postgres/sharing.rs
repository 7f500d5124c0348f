//! Several hubs on one database: each claims its own rows, and none waits for rows that another has locked.

use std::collections::BTreeSet;
use std::pin::pin;

use countersign_protocol::id::MessageId;
use countersign_store::Store;
use countersign_store::ops::account::rate_limit::Admission;
use countersign_store::ops::deliver::ClaimDue;
use countersign_store::ops::node::LiveNodes;
use futures_util::future::join_all;

use super::fresh::Fresh;
use super::row_conflicts::{holding, until_it_waits};
use super::within_timeout;
use crate::behaviours::rates::three;
use crate::behaviours::sweep::expired;
use crate::nodes::*;
use crate::outbox::*;
use crate::runs;
use crate::scene::*;

async fn claimed(store: &Store, claim: ClaimDue) -> Vec<MessageId> {
    take(store, claim)
        .await
        .into_iter()
        .map(|claim| claim.message_id)
        .collect()
}

/// Overdue messages, of two agents in turn.
async fn overdue(fresh: &Fresh, numbers: std::ops::RangeInclusive<u64>) {
    for agent in [BUILDER, TESTER] {
        add_agent(&fresh.store, agent).await;
    }
    for (number, agent) in numbers.zip([BUILDER, TESTER].into_iter().cycle()) {
        submitted(
            &fresh.store,
            &Draft {
                agent,
                expires_at: Some(at(10)),
                ..Draft::pushed(number)
            },
        )
        .await;
    }
    fresh.clock.set(at(11));
}

#[tokio::test]
async fn claim_skips_rows_locked_by_another_hub() {
    let fresh = Fresh::open().await;
    add_agent(&fresh.store, BUILDER).await;
    enqueue_deliveries(&fresh.store, 1..=4).await;
    let held = format!(
        "SELECT 1 FROM delivery WHERE message_id = '{}' FOR UPDATE",
        message_id(2)
    );
    let rival = holding(&fresh, &held).await;
    assert_eq!(within_timeout(claim(&fresh.store)).await, [1, 3, 4].map(message_id));
    rival.batch_execute("ROLLBACK").await.unwrap();
    assert_eq!(claim(&fresh.store).await, [message_id(2)], "it took nothing after all");
}

#[tokio::test]
async fn expiry_skips_rows_locked_by_another_hub() {
    let fresh = Fresh::open().await;
    overdue(&fresh, 1..=4).await;
    let held = format!("SELECT 1 FROM message WHERE id = '{}' FOR UPDATE", message_id(2));
    let rival = holding(&fresh, &held).await;
    assert_eq!(
        within_timeout(expired(&fresh.store, 10)).await,
        [1, 3, 4].map(message_id)
    );
    assert!(within_timeout(expired(&fresh.store, 10)).await.is_empty());
    rival.batch_execute("ROLLBACK").await.unwrap();
    assert_eq!(expired(&fresh.store, 10).await, [message_id(2)]);
}

#[tokio::test]
async fn message_being_answered_is_not_expired() {
    let fresh = Fresh::open().await;
    overdue(&fresh, 1..=2).await;
    let rival = holding(
        &fresh,
        "UPDATE message SET status = 'answered', rev = rev + 1 WHERE seq = 1",
    )
    .await;
    assert_eq!(within_timeout(expired(&fresh.store, 10)).await, [message_id(2)]);
    rival.batch_execute("COMMIT").await.unwrap();
    assert!(expired(&fresh.store, 10).await.is_empty());
}

#[tokio::test]
async fn concurrent_hubs_claim_and_expire_disjoint_rows() {
    let fresh = Fresh::open().await;
    let stores = [&fresh.store, &fresh.neighbour().await];
    overdue(&fresh, 1..=60).await;
    let all: Vec<_> = (1..=60).map(message_id).collect();

    let mut ended = Vec::new();
    while ended.len() < all.len() {
        let round = join_all((0..8).map(|number| expired(stores[number % 2], 7))).await;
        let found: Vec<_> = round.into_iter().flatten().collect();
        assert!(!found.is_empty(), "at least one hub makes progress");
        ended.extend(found);
    }
    ended.sort();
    assert_eq!(ended, all);
    for agent in [BUILDER, TESTER] {
        assert_eq!(open_count(&fresh.store, agent).await, 0);
    }

    enter(&fresh.store, &[NODE, OTHER]).await;
    let mut brought = Vec::new();
    while brought.len() < all.len() {
        let seven = |number: usize| ClaimDue {
            limit: 7,
            ..claim_of([NODE, OTHER][number % 2])
        };
        let round = join_all((0..8).map(|number| claimed(stores[number % 2], seven(number)))).await;
        let found: Vec<_> = round.into_iter().flatten().collect();
        assert!(!found.is_empty(), "at least one hub makes progress");
        brought.extend(found);
    }
    brought.sort();
    assert_eq!(brought, all);
}

/// A planner that assumes a small table may run the subquery once per row.
#[tokio::test]
async fn claim_respects_its_limit_under_any_query_plan() {
    let fresh = Fresh::open().await;
    add_agent(&fresh.store, BUILDER).await;
    enter(&fresh.store, &[NODE]).await;
    enqueue_deliveries(&fresh.store, [1]).await;
    fresh
        .database
        .connect()
        .await
        .batch_execute("VACUUM ANALYZE delivery")
        .await
        .unwrap();
    enqueue_deliveries(&fresh.store, 2..=6).await;
    for left in [4, 2] {
        assert_eq!(
            claimed(
                &fresh.store,
                ClaimDue {
                    limit: 2,
                    ..claim_of(NODE)
                }
            )
            .await
            .len(),
            2,
            "{left} are left"
        );
    }
    assert_eq!(claim(&fresh.store).await.len(), 2);
}

#[tokio::test]
async fn run_being_adopted_by_another_hub_is_left_alone() {
    let fresh = Fresh::open().await;
    runs::begun(&fresh.store).await;
    enter(&fresh.store, &[NODE, OTHER, "node-3"]).await;
    leave(&fresh.store, NODE).await;
    let rival = holding(&fresh, "UPDATE run SET node = 'node-3'").await;
    {
        let mut taking = pin!(take_over(&fresh.store, search(OTHER)));
        until_it_waits(&fresh, taking.as_mut()).await;
        rival.batch_execute("COMMIT").await.unwrap();
        assert!(taking.await.runs.is_empty());
    }
    assert_eq!(runs::found_run(&fresh.store, runs::RUN).await.run.node, "node-3");
}

#[tokio::test]
async fn delivery_being_claimed_is_not_released() {
    let fresh = Fresh::open().await;
    add_agent(&fresh.store, BUILDER).await;
    enqueue_deliveries(&fresh.store, [1]).await;
    enter(&fresh.store, &["gone", NODE, OTHER]).await;
    assert_eq!(claims_of(&fresh.store, "gone").await.len(), 1);
    // A take-over that removed a node and was then interrupted.
    fresh
        .database
        .connect()
        .await
        .batch_execute("DELETE FROM node WHERE id = 'gone'")
        .await
        .unwrap();
    let due_at = at(5_000);
    let claim = format!(
        "UPDATE delivery SET claimed_by = '{OTHER}', due_at = {}",
        due_at.as_millis()
    );
    let rival = holding(&fresh, &claim).await;
    {
        let mut taking = pin!(take_over(&fresh.store, search(NODE)));
        until_it_waits(&fresh, taking.as_mut()).await;
        rival.batch_execute("COMMIT").await.unwrap();
        assert!(taking.await.hosts.is_empty());
    }
    assert_eq!(delivery(&fresh.store, 1).await.next_attempt_at, Some(due_at));
}

#[tokio::test]
async fn node_renewing_concurrently_stays() {
    let fresh = Fresh::open().await;
    enter(&fresh.store, &[NODE]).await;
    fresh.clock.set(at(1_001));
    enter(&fresh.store, &[OTHER]).await;
    let renewal = format!(
        "UPDATE node SET lease_until = {} WHERE id = '{NODE}'",
        at(9_000).as_millis()
    );
    let rival = holding(&fresh, &renewal).await;
    {
        let mut taking = pin!(take_over(&fresh.store, look(OTHER)));
        until_it_waits(&fresh, taking.as_mut()).await;
        rival.batch_execute("COMMIT").await.unwrap();
        assert_eq!(taking.await, TakeOverResult::default());
    }
    assert_eq!(fresh.store.run(LiveNodes).await.unwrap(), [NODE, OTHER]);
}

#[tokio::test]
async fn node_removed_concurrently_learns_it() {
    let fresh = Fresh::open().await;
    enter(&fresh.store, &[NODE]).await;
    let rival = holding(&fresh, "DELETE FROM node").await;
    {
        let mut renewing = pin!(renew(&fresh.store, NODE));
        until_it_waits(&fresh, renewing.as_mut()).await;
        rival.batch_execute("COMMIT").await.unwrap();
        assert!(!renewing.await, "what it had is not its own any more");
    }
    assert!(!renew(&fresh.store, NODE).await, "nor will it be");
}

#[tokio::test]
async fn concurrent_take_overs_share_nothing() {
    let fresh = Fresh::open().await;
    let stores = [&fresh.store, &fresh.neighbour().await];
    let names: Vec<_> = (0..30).map(|number| format!("run-{number}")).collect();
    for name in &names {
        runs::begin(&fresh.store, runs::segment(name, 1)).await;
    }
    let nodes: Vec<_> = (0..6).map(|number| format!("rival-{number}")).collect();
    for node in &nodes {
        enter(&fresh.store, &[node]).await;
    }
    let taken = join_all((0..6).map(|number| take_over(stores[number % 2], search(&nodes[number])))).await;
    let taken: Vec<_> = taken.iter().flat_map(|taken| run_ids(&taken.runs)).collect();
    assert_eq!(taken.len(), names.len(), "each of them once");
    assert_eq!(
        taken.into_iter().collect::<BTreeSet<_>>(),
        names.iter().map(String::as_str).collect()
    );
}

#[tokio::test]
async fn hubs_together_never_exceed_the_rate_limit() {
    let fresh = Fresh::open().await;
    let stores = [&fresh.store, &fresh.neighbour().await];
    for (millis, there) in [(0, 3), (20, 2), (1_000, 3)] {
        fresh.clock.set(at(millis));
        let admitted = join_all((0..40).map(|number| stores[number % 2].run(three("a")))).await;
        let granted = admitted
            .into_iter()
            .filter(|admitted| *admitted.as_ref().unwrap() == Admission::Granted);
        assert_eq!(granted.count(), there);
    }
}
