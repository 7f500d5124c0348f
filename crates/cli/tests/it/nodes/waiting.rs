//! Whoever waits at one hub hears of an answer given at another.

use std::time::{Duration, Instant};

use super::{Cluster, is_waited_for, waited};
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_at_any_hub_reaches_whoever_waits_at_any_other() {
    let cluster = Cluster::start(3).await;
    let agent = cluster.agent("bot").await;
    for asked in 0..3 {
        for (waits, answers) in [(0, 1), (1, 2), (2, 0), (1, 1)] {
            let id = agent.at(&cluster.hubs[asked]).accepted(&ask("bot")).await;
            let waiting = agent.at(&cluster.hubs[waits]);
            let waiting = tokio::spawn({
                let id = id.clone();
                async move { waiting.outcome(&id).await }
            });
            cluster.hubs[answers].owner.answer(&id, "approve").await.expect(200);
            let outcome = within("the one who waits", waiting).await.expect("no panic");
            assert_eq!(outcome["response"]["response"]["value"], "approve", "{outcome}");
        }
    }
}

/// What the word between two hubs says comes at once; the net under it would take the better part of a second.
#[tokio::test(flavor = "multi_thread")]
async fn the_word_between_hubs_is_quick() {
    let cluster = Cluster::start(2).await;
    let agent = cluster.agent("bot").await;
    let mut delays = Vec::new();
    for _ in 0..10 {
        let id = agent.accepted(&ask("bot")).await;
        let waiting = agent.at(&cluster.hubs[1]);
        let waited = tokio::spawn({
            let id = id.clone();
            async move {
                waiting.outcome(&id).await;
                Instant::now()
            }
        });
        // It is certain to wait when the hub counts it.
        is_waited_for(&cluster.hubs[1], 1).await;
        let answered = Instant::now();
        cluster.hubs[0].owner.answer(&id, "approve").await.expect(200);
        delays.push(waited.await.expect("no panic").saturating_duration_since(answered));
    }
    let quick = delays
        .iter()
        .filter(|delay| **delay < Duration::from_millis(300))
        .count();
    assert!(quick >= 8, "the net alone would catch a few of them early: {delays:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_that_dies_right_after_an_answer_leaves_nobody_waiting() {
    let mut cluster = Cluster::start(2).await;
    let agent = cluster.agent("bot").await;
    for _ in 0..5 {
        let id = agent.at(&cluster.hubs[1]).accepted(&ask("bot")).await;
        let waiting = agent.at(&cluster.hubs[1]);
        let waiting = tokio::spawn({
            let id = id.clone();
            async move { waiting.outcome(&id).await }
        });
        let answering = tokio::spawn({
            let owner = cluster.hubs[0].owner.clone();
            let id = id.clone();
            async move { owner.answer(&id, "approve").await.expect(200) }
        });
        answering.await.expect("it is answered");
        cluster.hubs[0].kill();
        let killed = Instant::now();
        within("the one who waits", waiting).await.expect("no panic");
        assert!(killed.elapsed() < Duration::from_secs(2), "{:?}", killed.elapsed());
        cluster.hubs[0].restart().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_waits_at_a_hub_that_hears_nothing_is_told_when_it_hears_again() {
    let cluster = Cluster::start(2).await;
    let agent = cluster.agent("bot").await;
    let id = agent.accepted(&ask("bot")).await;
    let waiting = tokio::spawn(waited(agent.at(&cluster.hubs[1]), id.clone()));
    is_waited_for(&cluster.hubs[1], 1).await;
    cluster.wires[1].be(State::Cut);
    cluster.hubs[0].owner.answer(&id, "approve").await.expect(200);
    cluster.wires[1].be(State::Open);
    let (_, outcome) = within("the one who waits", waiting).await.expect("no panic");
    assert_eq!(outcome["response"]["response"]["value"], "approve");
}
