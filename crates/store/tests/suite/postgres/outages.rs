//! Database outages, during an operation or for a while, and their effect on a hub.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use countersign_core::State;
use countersign_core::message::Outcome;
use countersign_store::clock::ManualClock;
use countersign_store::model::{ApplyOutcome, Lookup};
use countersign_store::ops::message::apply::Apply;
use countersign_store::ops::message::pull::Pull;
use countersign_store::ops::message::submit::Submit;
use countersign_store::ops::message::sweep::ProveWritable;
use countersign_store::ops::run::{Advance, BeginOutcome};
use countersign_store::{Store, StoreError};
use futures_util::FutureExt;
use futures_util::future::join_all;

use super::fresh::{Database, Fresh};
use super::proxy::{Proxy, Rule};
use super::within_timeout;
use crate::runs;
use crate::scene::*;

fn sending(number: u64) -> Submit {
    Submit {
        message: Draft::ask(number).render(),
        max_open: NO_LIMIT,
    }
}

/// Ends all connections, as an operator or a restart would. Returns how many there were.
async fn end_connections(database: &Database) -> i64 {
    let end = "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity \
         WHERE datname = current_database() AND pid <> pg_backend_pid()";
    database.connect().await.query_one(end, &[]).await.unwrap().get(0)
}

async fn is_there(store: &Store, number: u64) -> bool {
    matches!(
        store.run(Pull(message_id(number))).await.unwrap(),
        Some(Lookup::Present(_))
    )
}

#[tokio::test]
async fn ended_idle_connections_are_replaced_silently() {
    let fresh = Fresh::open().await;
    add_agent(&fresh.store, BUILDER).await;
    let mut numbers = 1..;
    for _ in 0..5 {
        let made = join_all(numbers.by_ref().take(8).map(|number| fresh.store.run(sending(number)))).await;
        made.into_iter()
            .for_each(|made| drop(made.expect("written without a word of it")));
        assert!(end_connections(&fresh.database).await > 1, "there are several");
        assert!(is_there(&fresh.store, 1).await);
        assert!(end_connections(&fresh.database).await > 0);
        fresh
            .store
            .run(ProveWritable::at(fresh.store.clock().now()))
            .await
            .expect("written without a word of it");
    }
    assert_eq!(open_count(&fresh.store, BUILDER).await, 40);
}

#[tokio::test]
async fn transaction_ended_before_its_commit_is_retried() {
    let database = Database::create().await;
    let proxy = Proxy::before(&database);
    let store = proxy.open().await;
    add_agent(&store, BUILDER).await;
    proxy.set_rule(Rule::EndBeforeCommit);
    submitted(&store, &Draft::ask(1)).await;
    assert_eq!(proxy.rule(), Rule::Carry, "it was ended");
    assert_eq!(open_count(&store, BUILDER).await, 1, "what was undone left nothing");

    proxy.set_rule(Rule::EndBeforeCommit);
    let resolution = resolved(&store, &message_id(1), answer("approve")).await;
    assert_eq!(proxy.rule(), Rule::Carry, "and again");
    assert_eq!(
        agent_view(&store, &message_id(1)).await.state,
        State::Resolved(resolution)
    );
    assert_eq!(open_count(&store, BUILDER).await, 0);
}

#[tokio::test]
async fn connection_lost_during_commit_is_an_unknown_outcome() {
    let database = Database::create().await;
    let proxy = Proxy::before(&database);
    let store = proxy.open().await;
    add_agent(&store, BUILDER).await;
    for (number, rule, written) in [(1, Rule::CutAfterCommit, true), (2, Rule::CutBeforeCommit, false)] {
        proxy.set_rule(rule);
        let cut = store.run(sending(number)).await;
        assert!(matches!(cut, Err(StoreError::CommitUnknown(_))), "{rule:?}: {cut:?}");
        assert_eq!(is_there(&store, number).await, written, "{rule:?}");
    }
    assert_eq!(open_count(&store, BUILDER).await, 1);
}

#[tokio::test]
async fn write_with_an_unknown_commit_can_be_retried() {
    let database = Database::create().await;
    let proxy = Proxy::before(&database);
    let store = proxy.open().await;
    runs::begun(&store).await;
    for (seq, rule) in [(1, Rule::CutAfterCommit), (2, Rule::CutBeforeCommit)] {
        let step = Advance {
            events: vec![runs::event(seq)],
            last_seq: seq,
            ..runs::step(runs::RUN)
        };
        proxy.set_rule(rule);
        let cut = store.run(step.clone()).await;
        assert!(matches!(cut, Err(StoreError::CommitUnknown(_))), "{rule:?}: {cut:?}");
        assert!(runs::advance(&store, step).await, "{rule:?}");
    }
    assert_eq!(
        runs::numbers(&runs::events_after(&store, runs::RUN, 0).await),
        [1, 2],
        "each once"
    );

    add_agent(&store, BUILDER).await;
    let id = submitted(&store, &Draft::ask(1)).await;
    proxy.set_rule(Rule::CutAfterCommit);
    let decision = resolve_request(&id, answer("approve"));
    let cut = store.run(Apply(decision.clone())).await;
    assert!(matches!(cut, Err(StoreError::CommitUnknown(_))), "{cut:?}");
    let State::Resolved(found) = agent_view(&store, &id).await.state else {
        panic!("it was written")
    };
    assert_eq!(
        (found.id, found.outcome),
        (decision.resolution_id.clone(), Outcome::Answered)
    );
    assert!(
        matches!(store.run(Apply(decision)).await, Ok(ApplyOutcome::Rejected(_))),
        "it is decided once"
    );
}

#[tokio::test]
async fn dropped_reader_costs_no_connection() {
    let database = Database::create().await;
    let proxy = Proxy::before(&database);
    let store = proxy.open().await;
    add_agent(&store, BUILDER).await;
    let id = submitted(&store, &Draft::ask(1)).await;
    let before = proxy.connection_attempts();
    for _ in 0..50 {
        assert!(
            store.run(Pull(id.clone())).now_or_never().is_none(),
            "it has begun and waits"
        );
        agent_view(&store, &id).await;
    }
    let made = proxy.connection_attempts() - before;
    assert!(made < 10, "{made} connections for 50 who left");
}

#[tokio::test]
async fn during_an_outage_few_connect_and_callers_fail_fast() {
    let database = Database::create().await;
    let proxy = Proxy::before(&database);
    let store = proxy.open().await;
    add_agent(&store, BUILDER).await;
    proxy.set_rule(Rule::Refuse);
    end_connections(&database).await;
    let before = proxy.connection_attempts();
    for _ in 0..100 {
        let refused = within_timeout(store.run(ProveWritable::at(store.clock().now()))).await;
        assert!(
            matches!(
                refused,
                Err(StoreError::Unavailable(_) | StoreError::ConnectionEnded(_))
            ),
            "{refused:?}"
        );
    }
    let tried = proxy.connection_attempts() - before;
    assert!((1..100).contains(&tried), "{tried} of 100 tried");

    proxy.set_rule(Rule::Carry);
    let back = async {
        while let Err(error) = store.run(ProveWritable::at(store.clock().now())).await {
            assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
            tokio::task::yield_now().await;
        }
    };
    within_timeout(back).await;
    submitted(&store, &Draft::ask(1)).await;
    assert_eq!(
        runs::begin(&store, runs::segment(runs::RUN, 1)).await,
        BeginOutcome::New
    );
}

/// Shorter than the lock timeout of the others: a longer stall would fail them.
#[tokio::test]
async fn hub_stalled_in_a_transaction_does_not_block_the_others() {
    let database = Database::create().await;
    let proxy = Proxy::before(&database);
    let still = proxy.open().await;
    let other = database.open_with(Arc::new(ManualClock::at(at(0)))).await.unwrap();
    add_agent(&still, BUILDER).await;
    proxy.set_rule(Rule::HoldCommit);
    let held = Draft::ask(1);
    let mut standing = pin!(submitted(&still, &held));
    let holds_the_agent = async {
        while proxy.rule() == Rule::HoldCommit {
            let polled = poll_fn(|context| Poll::Ready(standing.as_mut().poll(context))).await;
            assert!(polled.is_pending(), "it is not told");
            tokio::task::yield_now().await;
        }
    };
    within_timeout(holds_the_agent).await;
    within_timeout(submitted(&other, &Draft::ask(2))).await;
    within_timeout(standing).await;
    assert_eq!(
        open_count(&other, BUILDER).await,
        2,
        "and what it had under way it does again"
    );
}
