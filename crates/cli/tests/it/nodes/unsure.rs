//! The database did what it was told, and the hub never heard of it.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{Cluster, is_waited_for};
use crate::harness::*;

fn is_unsure(reply: &Reply) -> bool {
    reply.status == 503
        && reply.refused("unavailable")["error"]["message"]
            .as_str()
            .unwrap()
            .contains("may be done or not")
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_taken_unheard_is_found_by_whoever_sends_it_again() {
    let cluster = Cluster::start(1).await;
    let agent = cluster.agent("bot").await;
    let mut envelope = ask("bot");
    envelope["idempotency_key"] = json!("taken-unheard");
    cluster.wires[0].be(State::CutAfterCommitOf("taken-unheard"));
    let reply = agent.submit(&envelope).await;
    assert!(is_unsure(&reply), "{} {}", reply.status, reply.text());
    let messages = "SELECT count(*) FROM message";
    assert_eq!(cluster.database.number(messages).await, 1, "it was done");
    let id = agent.accepted(&envelope).await;
    assert_eq!(agent.accepted(&envelope).await, id);
    assert_eq!(cluster.database.number(messages).await, 1);
    cluster.hubs[0].owner.answer(&id, "approve").await.expect(200);
    assert_eq!(agent.outcome(&id).await["status"], "answered");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_taken_unheard_stands_and_reaches_whoever_waits_elsewhere() {
    let cluster = Cluster::start(2).await;
    let agent = cluster.agent("bot").await;
    let id = agent.accepted(&ask("bot")).await;
    let waiting = tokio::spawn({
        let api = agent.at(&cluster.hubs[1]);
        let id = id.clone();
        async move { (api.outcome(&id).await, Instant::now()) }
    });
    is_waited_for(&cluster.hubs[1], 1).await;
    cluster.wires[0].be(State::CutAfterCommitOf(id.clone().leak()));
    let began = Instant::now();
    let reply = cluster.hubs[0].owner.answer(&id, "approve").await;
    assert!(
        reply.status == 200 || is_unsure(&reply),
        "{} {}",
        reply.status,
        reply.text()
    );
    assert_eq!(cluster.wires[0].is(), State::Open, "the commit came, and was cut");
    let (outcome, had) = within("the one who waits", waiting).await.expect("no panic");
    assert_eq!(outcome["response"]["response"]["value"], "approve", "{outcome}");
    assert!(had - began < Duration::from_secs(2), "{:?}", had - began);
    cluster.hubs[0]
        .owner
        .answer(&id, "deny")
        .await
        .refused_as_terminal(&id, "answered");
    assert_eq!(agent.outcome(&id).await, outcome, "the same at both");
    assert_eq!(cluster.database.number("SELECT count(*) FROM resolution").await, 1);
}
