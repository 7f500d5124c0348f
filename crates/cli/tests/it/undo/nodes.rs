//! Holds with several hubs on one database.

use super::{LONG, hold, response, undo, with_undo};
use crate::harness::*;
use crate::nodes::Cluster;

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_held_at_one_hub_is_taken_back_at_another() {
    let cluster = Cluster::with_setup(3, || with_undo(LONG)).await;
    let bot = cluster.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    hold(&cluster.hubs[0].owner, &id, "approve").await;
    cluster.hubs[1].owner.answer(&id, "deny").await.refused("held");
    assert_eq!(bot.at(&cluster.hubs[2]).pull(&id).await["status"], "open");
    undo(&cluster.hubs[1].owner, &id).await.expect(200);
    undo(&cluster.hubs[0].owner, &id).await.refused("not_held");
    cluster.hubs[2].owner.answer(&id, "deny").await.expect(200);
    assert_eq!(response(&bot.outcome(&id).await)["value"], "deny");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_of_a_killed_hub_is_released_once_by_the_others() {
    let mut cluster = Cluster::with_setup(3, || with_undo(2)).await;
    let bot = cluster.agent("bot").await;
    let mut ids = Vec::new();
    for _ in 0..10 {
        let id = bot.accepted(&ask("bot")).await;
        hold(&cluster.hubs[0].owner, &id, "approve").await;
        ids.push(id);
    }
    cluster.hubs[0].kill();
    for id in &ids {
        let outcome = bot.at(&cluster.hubs[1]).outcome(id).await;
        assert_eq!(response(&outcome)["value"], "approve", "{outcome}");
    }
    assert_eq!(cluster.database.number("SELECT count(*) FROM resolution").await, 10);
    assert_eq!(cluster.database.number("SELECT count(*) FROM hold").await, 0);
    assert_eq!(
        cluster.database.number("SELECT open FROM agent WHERE id = 'bot'").await,
        0
    );
}
