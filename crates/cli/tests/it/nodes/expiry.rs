//! Expiry with several hubs.

use futures_util::future::join_all;
use serde_json::json;

use super::Cluster;
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_message_expires_once_on_three_hubs() {
    let cluster = Cluster::start(3).await;
    let agent = cluster.agent("bot").await;
    let apis: Vec<Api> = cluster.hubs.iter().map(|hub| agent.at(hub)).collect();
    let envelopes: Vec<_> = (0..30).map(|_| expiring(ask("bot"), 8000)).collect();
    let ids = join_all(
        envelopes
            .iter()
            .enumerate()
            .map(|(n, envelope)| apis[n % 3].accepted(envelope)),
    )
    .await;
    let outcomes = join_all(ids.iter().enumerate().map(|(n, id)| apis[(n + 1) % 3].outcome(id))).await;
    assert!(
        outcomes.iter().all(|outcome| outcome["status"] == "expired"),
        "{outcomes:?}"
    );
    assert_eq!(cluster.database.number("SELECT count(*) FROM resolution").await, 30);
    assert_eq!(
        cluster.database.number("SELECT open FROM agent WHERE id = 'bot'").await,
        0
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_of_a_killed_hub_expires_at_another() {
    let mut cluster = Cluster::start(2).await;
    let agent = cluster.agent("bot").await;
    let mut envelope = expiring(ask("bot"), 5000);
    envelope["request"]["default_on_expire"] = json!("deny");
    let id = agent.accepted(&envelope).await;
    cluster.hubs[0].kill();
    let outcome = agent.at(&cluster.hubs[1]).outcome(&id).await;
    assert_eq!(outcome["status"], "expired", "{outcome}");
}
