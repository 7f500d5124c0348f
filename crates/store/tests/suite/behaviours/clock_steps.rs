//! A clock that leaps ahead deletes nothing; one that is set back stalls nothing.

use std::time::Duration;

use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::ops::account::rate_limit::Admission;
use countersign_store::ops::deliver::ResetDistantDue;
use countersign_store::ops::message::retention_clock::CheckRetentionClock;

use super::rates::three;
use crate::nodes::*;
use crate::outbox::*;
use crate::scene::*;

const HOUR: i64 = 3_600_000;
const FORTY_DAYS: i64 = 40 * 24 * HOUR;

async fn may_purge(store: &Store, clock: &ManualClock, millis: i64) -> bool {
    clock.set(at(millis));
    store.run(CheckRetentionClock).await.unwrap().doubt.is_none()
}

pub async fn first_check_compares_the_clock_with_the_audit_trail(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    assert!(!may_purge(store, clock, FORTY_DAYS).await);
    submitted(store, &Draft::ask(1)).await;
    assert!(
        !may_purge(store, clock, FORTY_DAYS + HOUR).await,
        "a message at the wrong time proves nothing"
    );
    assert!(may_purge(store, clock, 24 * HOUR).await, "the clock is set right");
}

pub async fn retention_waits_a_day_after_a_leap(store: &Store, clock: &ManualClock) {
    assert!(may_purge(store, clock, 0).await, "a new store has nothing to lose");
    assert!(may_purge(store, clock, 24 * HOUR).await);
    assert!(!may_purge(store, clock, FORTY_DAYS).await);
    assert!(!may_purge(store, clock, FORTY_DAYS + 23 * HOUR).await);
    assert!(may_purge(store, clock, 25 * HOUR).await, "the clock is set right");
    for hours in [0, 12] {
        assert!(!may_purge(store, clock, FORTY_DAYS + hours * HOUR).await);
    }
    assert!(may_purge(store, clock, FORTY_DAYS + 24 * HOUR).await);
}

async fn reset(store: &Store) -> Vec<String> {
    let max_ahead = Duration::from_secs(3600);
    store.run(ResetDistantDue { max_ahead }).await.unwrap()
}

pub async fn distant_retries_and_claims_are_due_after_a_step_back(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    clock.set(at(FORTY_DAYS));
    enqueue_deliveries(store, [1, 2]).await;
    let claims = claims(store).await;
    assert!(settle(store, &claims[0], retry(FORTY_DAYS + HOUR)).await);
    assert!(reset(store).await.is_empty(), "an hour is an ordinary delay");
    clock.set(at(0));
    assert!(claim(store).await.is_empty());
    assert_eq!(reset(store).await, [HOST]);
    assert_eq!(claim(store).await.len(), 2);
    assert!(reset(store).await.is_empty(), "claims of this time are left alone");
}

pub async fn dead_node_is_removed_one_lease_after_a_step_back(store: &Store, clock: &ManualClock) {
    clock.set(at(FORTY_DAYS));
    enter(store, &[NODE, OTHER]).await;
    clock.set(at(0));
    assert_eq!(take_over(store, look(NODE)).await.removed, Vec::<String>::new());
    clock.set(at(900));
    assert!(renew(store, NODE).await);
    clock.set(at(1_001));
    assert_eq!(take_over(store, look(NODE)).await.removed, [OTHER]);
}

pub async fn caller_is_admitted_after_a_step_back(store: &Store, clock: &ManualClock) {
    clock.set(at(FORTY_DAYS));
    for _ in 0..3 {
        assert_eq!(store.run(three("a")).await.unwrap(), Admission::Granted);
    }
    clock.set(at(0));
    for _ in 0..3 {
        assert_eq!(store.run(three("a")).await.unwrap(), Admission::Granted);
    }
    assert_ne!(store.run(three("a")).await.unwrap(), Admission::Granted);
}
