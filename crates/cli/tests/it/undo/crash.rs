//! A hold survives the hub.

use super::{LONG, hold, response, undo, with_undo};
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_of_a_killed_hub_ends_after_the_restart() {
    let mut hub = with_undo(2).start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    hold(&hub.owner, &id, "approve").await;
    hub.kill();
    hub.restart().await;
    assert_eq!(response(&bot.outcome(&id).await)["value"], "approve");
    let trail = hub.owner.get(&format!("/v1/admin/audit?id={id}")).await.expect(200);
    let entries = trail["entries"].as_array().expect("entries");
    assert_eq!(entries.len(), 2, "submitted and answered, once: {trail}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_is_taken_back_after_a_restart() {
    let mut hub = with_undo(LONG).start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    hold(&hub.owner, &id, "approve").await;
    hub.kill();
    hub.restart().await;
    hub.owner.answer(&id, "deny").await.refused("held");
    undo(&hub.owner, &id).await.expect(200);
    hub.owner.answer(&id, "deny").await.expect(200);
    assert_eq!(response(&bot.outcome(&id).await)["value"], "deny");
}
