//! What other people see, and what they cannot do meanwhile.

use serde_json::json;

use super::{LONG, hold, undo, with_undo};
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn the_first_decision_wins_when_its_hold_begins() {
    let hub = with_undo(LONG).start().await;
    let ann = hub.person("ann", "resolver").await;
    let bot = hub.agent("bot").await;
    let id = bot
        .accepted(&resolvers(ask("bot"), &["human:ann", "human:owner"]))
        .await;
    let held = hold(&ann, &id, "approve").await;
    assert_eq!(held["by"], "human:ann");
    let refused = hub.owner.answer(&id, "deny").await.refused("held");
    assert_eq!(refused["error"]["message"], "ann is answering this");
    undo(&hub.owner, &id).await.refused("held");
    for viewer in [&hub.owner, &*ann] {
        let item = viewer.get(&format!("/v1/inbox/{id}")).await.expect(200);
        assert_eq!((&item["status"], &item["held"]), (&json!("open"), &held));
        assert_eq!(item["can_answer"], false);
    }
    undo(&ann, &id).await.expect(200);
    undo(&ann, &id).await.refused("not_held");
    hub.owner.answer(&id, "deny").await.expect(200);
    undo(&ann, &id).await.refused_as_terminal(&id, "answered");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_api_and_the_command_line_decide_at_once() {
    let hub = with_undo(LONG).start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    assert_eq!(hub.owner.answer(&id, "approve").await.expect(200)["status"], "answered");
    let id = bot.accepted(&ask("bot")).await;
    hub.cli(&["answer", &id, "approve"]).ok();
    assert_eq!(bot.pull(&id).await["status"], "answered");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_an_undo_time_a_hold_is_a_decision() {
    let hub = with_undo(0).start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    let body = json!({"resolution": "answered", "value": "approve", "hold": true});
    assert_eq!(hub.owner.resolve(&id, body).await.expect(200)["status"], "answered");
}
