//! Unknown outcomes: the database commits, and the connection breaks before the hub gets the reply.

use serde_json::json;

use super::{Cluster, until_waiters};
use crate::harness::*;

fn is_outcome_unknown(reply: &Reply) -> bool {
    reply.status == 503
        && reply.refused("unavailable")["error"]["message"]
            .as_str()
            .unwrap()
            .contains("may be done or not")
}

#[tokio::test(flavor = "multi_thread")]
async fn resubmitting_after_a_lost_commit_reply_finds_the_message() {
    let cluster = Cluster::start(1).await;
    let agent = cluster.agent("bot").await;
    let mut envelope = ask("bot");
    envelope["idempotency_key"] = json!("lost-commit-reply");
    cluster.wires[0].set_state(WireState::CutAfterCommitOf("lost-commit-reply"));
    let reply = agent.submit(&envelope).await;
    assert!(is_outcome_unknown(&reply), "{} {}", reply.status, reply.text());
    let messages = "SELECT count(*) FROM message";
    assert_eq!(cluster.database.number(messages).await, 1, "the commit happened");
    let id = agent.accepted(&envelope).await;
    assert_eq!(agent.accepted(&envelope).await, id);
    assert_eq!(cluster.database.number(messages).await, 1);
    cluster.hubs[0].owner.answer(&id, "approve").await.expect(200);
    assert_eq!(agent.outcome(&id).await["status"], "answered");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_with_a_lost_commit_reply_stands_and_reaches_other_hubs() {
    let cluster = Cluster::start(2).await;
    let agent = cluster.agent("bot").await;
    let id = agent.accepted(&ask("bot")).await;
    let waiting = tokio::spawn({
        let api = agent.at(&cluster.hubs[1]);
        let id = id.clone();
        async move { api.outcome(&id).await }
    });
    until_waiters(&cluster.hubs[1], 1).await;
    cluster.wires[0].set_state(WireState::CutAfterCommitOf(id.clone().leak()));
    let reply = cluster.hubs[0].owner.answer(&id, "approve").await;
    assert!(
        reply.status == 200 || is_outcome_unknown(&reply),
        "{} {}",
        reply.status,
        reply.text()
    );
    assert_eq!(
        cluster.wires[0].state(),
        WireState::Open,
        "the wire saw the commit and cut the connection"
    );
    let outcome = within("the long-poll", waiting).await.expect("no panic");
    assert_eq!(outcome["response"]["response"]["value"], "approve", "{outcome}");
    cluster.hubs[0]
        .owner
        .answer(&id, "deny")
        .await
        .refused_as_terminal(&id, "answered");
    assert_eq!(agent.outcome(&id).await, outcome, "the same at both hubs");
    assert_eq!(cluster.database.number("SELECT count(*) FROM resolution").await, 1);
}
