//! What the agent sees: an open message until the hold ends, then one outcome.

use serde_json::json;

use super::{LONG, SHORT, hold, response, time, undo, with_undo};
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_sees_an_open_message_until_the_hold_ends_and_then_one_outcome() {
    let config = format!("undo_seconds = {SHORT}\n[push]\nfirst_retry_ms = 20\n");
    let setup = Setup::default().args(&["--allow-loopback-callbacks"]).config(&config);
    let hub = setup.start().await;
    let receiver = Receiver::start().await;
    let bot = hub.agent("bot").await;
    hub.approve(&bot, &receiver.host()).await;
    let id = bot.accepted(&push_to(ask("bot"), &receiver.url("/done"))).await;
    let etag = bot.get(&format!("/v1/messages/{id}")).await.header("etag").to_owned();
    let held = hold(&hub.owner, &id, "approve").await;
    let during = bot.get(&format!("/v1/messages/{id}")).await;
    let is_over = during.json()["status"] != "open";
    assert!(
        is_over || during.header("etag") == etag,
        "the hold is not in the version"
    );

    let outcome = bot.outcome(&id).await;
    assert_eq!(response(&outcome)["value"], "approve");
    let resolved_at = time(&response(&outcome)["resolved_at"]);
    assert!(resolved_at >= time(&held["until"]), "{outcome}");
    let pushes = receiver.at("/done", 1).await;
    assert_eq!(pushes[0].resolution_id(), outcome["response"]["resolution_id"]);
    hub.delivery(&id, "delivered").await;
    assert_eq!(receiver.seen().len(), 1, "one push");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_learns_nothing_of_a_decision_that_is_taken_back() {
    let config = format!("undo_seconds = {LONG}\n[push]\nfirst_retry_ms = 20\n");
    let setup = Setup::default().args(&["--allow-loopback-callbacks"]).config(&config);
    let hub = setup.start().await;
    let receiver = Receiver::start().await;
    let bot = hub.agent("bot").await;
    hub.approve(&bot, &receiver.host()).await;
    let id = bot.accepted(&push_to(ask("bot"), &receiver.url("/done"))).await;
    let before = bot.pull(&id).await;
    hold(&hub.owner, &id, "approve").await;
    assert_eq!(bot.pull(&id).await, before);
    let waited = bot.get(&format!("/v1/messages/{id}?wait=1")).await.expect(200);
    assert_eq!(waited, before);
    let listed = bot.get("/v1/messages").await.expect(200);
    assert!(!listed.to_string().contains("held"), "{listed}");
    undo(&hub.owner, &id).await.expect(200);
    assert_eq!(bot.pull(&id).await, before);
    assert_eq!(receiver.seen().len(), 0);
    hub.owner.answer(&id, "deny").await.expect(200);
    assert_eq!(response(&bot.outcome(&id).await)["value"], "deny");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancel_waits_for_the_end_of_the_hold() {
    let hub = with_undo(SHORT).start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    hold(&hub.owner, &id, "approve").await;
    bot.cancel(&id).await.refused_as_terminal(&id, "answered");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancel_applies_when_the_decision_is_taken_back() {
    let hub = with_undo(LONG).start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    hold(&hub.owner, &id, "approve").await;
    let cancel = bot.cancel(&id);
    let taken_back = async {
        // The cancel is at the hub when the agent's long-poll, sent after it, is.
        bot.get(&format!("/v1/messages/{id}?wait=1")).await.expect(200);
        undo(&hub.owner, &id).await.expect(200);
    };
    let (cancelled, ()) = tokio::join!(cancel, taken_back);
    assert_eq!(cancelled.expect(200)["status"], "cancelled");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_cannot_hold_a_decision() {
    let hub = with_undo(LONG).start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&resolvers(ask("bot"), &["agent:bot"])).await;
    let body = json!({"resolution": "answered", "value": "approve", "hold": true});
    bot.resolve(&id, body).await.refused_field("validation_error", "hold");
    bot.answer(&id, "approve").await.expect(200);
}
