//! Holds survive a kill of the hub at any moment.

use serde_json::json;

use super::{LONG, hold, response, undo, with_undo};
use crate::harness::*;
use crate::nodes::Cluster;

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

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_killed_before_the_hold_is_stored_leaves_the_question_open() {
    let mut cluster = Cluster::with_setup(1, || with_undo(LONG)).await;
    let bot = cluster.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    let lock = cluster
        .database
        .locked(&format!("SELECT 1 FROM message WHERE id = '{id}' FOR UPDATE"))
        .await;
    let body = json!({"resolution": "answered", "value": "approve", "hold": true});
    let path = format!("/v1/messages/{id}/resolve");
    let holding = tokio::spawn(Api::try_send(
        cluster.hubs[0].owner.post_request(&path, body.to_string()),
    ));
    cluster.database.until_blocked().await;
    cluster.hubs[0].kill();
    holding.await.expect("no panic").expect_err("the hub is gone");
    lock.batch_execute("ROLLBACK").await.expect("the lock ends");
    cluster.hubs[0].restart().await;
    undo(&cluster.hubs[0].owner, &id).await.refused("not_held");
    cluster.hubs[0].owner.answer(&id, "deny").await.expect(200);
    assert_eq!(response(&bot.at(&cluster.hubs[0]).outcome(&id).await)["value"], "deny");
    assert_eq!(cluster.database.number("SELECT count(*) FROM hold").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_killed_in_the_middle_of_the_release_releases_once_after_the_restart() {
    let mut cluster = Cluster::with_setup(1, || with_undo(1)).await;
    let bot = cluster.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    // The release writes the resolution, and then waits for the row of the agent.
    let lock = cluster
        .database
        .locked("SELECT 1 FROM agent WHERE id = 'bot' FOR UPDATE")
        .await;
    hold(&cluster.hubs[0].owner, &id, "approve").await;
    cluster.database.until_blocked().await;
    cluster.hubs[0].kill();
    lock.batch_execute("ROLLBACK").await.expect("the lock ends");
    cluster.hubs[0].restart().await;
    assert_eq!(
        response(&bot.at(&cluster.hubs[0]).outcome(&id).await)["value"],
        "approve"
    );
    undo(&cluster.hubs[0].owner, &id)
        .await
        .refused_as_terminal(&id, "answered");
    assert_eq!(cluster.database.number("SELECT count(*) FROM resolution").await, 1);
    let open = "SELECT open FROM agent WHERE id = 'bot'";
    assert_eq!(cluster.database.number(open).await, 0);
}

/// New deliveries are not due for an hour.
const DELAY_DELIVERIES: &str = "CREATE FUNCTION delay() RETURNS trigger LANGUAGE plpgsql AS \
     $$ BEGIN NEW.due_at = NEW.due_at + 3600000; RETURN NEW; END $$; \
     CREATE TRIGGER delay BEFORE INSERT ON delivery FOR EACH ROW EXECUTE FUNCTION delay()";

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_killed_between_the_release_and_the_push_pushes_after_the_restart() {
    let config = "undo_seconds = 1\n[push]\nfirst_retry_ms = 20\n";
    let setup = || Setup::default().args(&["--allow-loopback-callbacks"]).config(config);
    let mut cluster = Cluster::with_setup(1, setup).await;
    cluster.database.execute(DELAY_DELIVERIES).await;
    let receiver = Receiver::start().await;
    let bot = cluster.agent("bot").await;
    cluster.hubs[0].approve(&bot, &receiver.host()).await;
    let id = bot.accepted(&push_to(ask("bot"), &receiver.url("/done"))).await;
    hold(&cluster.hubs[0].owner, &id, "approve").await;
    let outcome = bot.outcome(&id).await;
    cluster.hubs[0].kill();
    assert_eq!(receiver.seen().len(), 0);
    cluster
        .database
        .execute("UPDATE delivery SET due_at = created_at")
        .await;
    cluster.hubs[0].restart().await;
    let pushed = receiver.at("/done", 1).await;
    assert_eq!(pushed[0].resolution_id(), outcome["response"]["resolution_id"]);
    cluster.hubs[0].delivery(&id, "delivered").await;
    assert_eq!(receiver.seen().len(), 1, "one push");
}
