//! A run is owned by one hub; clients follow, answer, steer and stop it at any hub.

use serde_json::json;

use super::Cluster;
use crate::harness::*;
use crate::runs::stage::*;

fn two_people() -> serde_json::Value {
    let agents = json!({"first": person(), "second": person(), "last": echo()});
    sequence(agents, &["first", "second", "last"])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_followed_and_answered_at_hubs_that_do_not_own_it() {
    let cluster = Cluster::start(3).await;
    let mut here = Client::connect(&cluster.hubs[0]).await;
    let run = here.start_strategy(&cluster.hubs[0], &two_people(), "").await;
    let asked = here.next_question().await;
    let mut there = Client::connect(&cluster.hubs[1]).await;
    there.subscribe(&run).await;
    assert_eq!(
        there.expect("request_input").await,
        asked,
        "the pending question is replayed unchanged"
    );
    there.answer(&run, "first", "one").await;
    let second = there.until("request_input").await;
    assert_eq!(
        here.until("request_input").await,
        second,
        "all followers get the same events in the same order"
    );
    let mut third = Client::connect(&cluster.hubs[2]).await;
    third.answer(&run, "second", "two").await;
    let end = here.until("strategy_completed").await;
    assert_eq!(end.last().expect("an end")["result"], "two");
    let streamed = |frame: &serde_json::Value| frame["event"]["type"] == "text";
    let stored: Vec<_> = end.into_iter().filter(|frame| !streamed(frame)).collect();
    assert_eq!(there.until("strategy_completed").await, stored);
    let refusal = third.refused(
        json!({"type": "user_input", "runId": run, "agentName": "second", "text": "x"}),
        "NO_PENDING_INPUT",
    );
    assert_eq!(
        refusal.await,
        format!("No pending input request for run {run} agent second")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_answered_in_the_inbox_of_any_hub() {
    let cluster = Cluster::start(2).await;
    let mut here = Client::connect(&cluster.hubs[0]).await;
    let run = here.start_strategy(&cluster.hubs[0], &talk(), "").await;
    here.next_question().await;
    let item = crate::runs::inbox::item_of(&cluster.hubs[1], &run).await;
    cluster.hubs[1]
        .owner
        .answer(item["id"].as_str().expect("an id"), "hello")
        .await
        .expect(200);
    assert_eq!(here.result().await, "hello");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_steered_and_stopped_from_another_hub() {
    let cluster = Cluster::start(2).await;
    let mut here = Client::connect(&cluster.hubs[0]).await;
    let mut there = Client::connect(&cluster.hubs[1]).await;
    let run = here.start_strategy(&cluster.hubs[0], &two_people(), "").await;
    here.next_question().await;
    there
        .send(json!({"type": "steer_run", "runId": run, "text": "be brief"}))
        .await;
    assert_eq!(here.expect("steer_queued").await["text"], "be brief");
    there.expect_silence().await;
    there.send(json!({"type": "stop_run", "runId": run})).await;
    assert_eq!(here.failure().await.0, "CANCELLED");
    there
        .refused(
            json!({"type": "steer_run", "runId": run, "text": "x"}),
            "RUN_NOT_STEERABLE",
        )
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_attaches_to_a_run_of_another_hub_and_sees_it_listed() {
    let cluster = Cluster::start(2).await;
    let mut here = Client::connect(&cluster.hubs[0]).await;
    let run = here.start_strategy(&cluster.hubs[0], &two_people(), "").await;
    here.next_question().await;
    let mut there = Client::connect(&cluster.hubs[1]).await;
    there.send(json!({"type": "list_strategies"})).await;
    let listed = there.expect("strategy_list").await;
    let listed = listed["runs"]
        .as_array()
        .expect("a list")
        .iter()
        .find(|entry| entry["runId"] == json!(run));
    let listed = listed.expect("the run in the list");
    assert_eq!(
        (&listed["status"], &listed["pendingInputs"][0]["agentName"]),
        (&json!("running"), &json!("first"))
    );
    there.send(json!({"type": "prepare_run", "runId": run})).await;
    assert_eq!(there.expect("run_prepared").await["runId"], json!(run));
    there.expect("request_input").await;
    let path = strategy_file(&cluster.hubs[1], &two_people());
    let again = json!({"type": "prepare_run", "runId": run, "strategyPath": path});
    assert_eq!(
        there.refused(again, "PREPARE_FAILED").await,
        format!("Run already exists: {run}")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_of_a_killed_hub_continues_at_another_for_its_followers() {
    let mut cluster = Cluster::start(2).await;
    let mut here = Client::connect(&cluster.hubs[0]).await;
    let run = here.start_strategy(&cluster.hubs[0], &two_people(), "").await;
    here.next_question().await;
    let mut there = Client::connect(&cluster.hubs[1]).await;
    there.subscribe(&run).await;
    let asked = there.expect("request_input").await;
    cluster.hubs[0].kill();
    there.answer(&run, "first", "one").await;
    let events = there.until("request_input").await;
    assert!(seq(&events[0]) > seq(&asked), "{events:#?}");
    there.answer(&run, "second", "two").await;
    assert_eq!(there.result().await, "two");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopping_hub_hands_over_its_waiting_runs() {
    let mut cluster = Cluster::start(2).await;
    let mut here = Client::connect(&cluster.hubs[0]).await;
    let run = here.start_strategy(&cluster.hubs[0], &talk(), "").await;
    here.next_question().await;
    assert!(cluster.hubs[0].interrupt().success());
    let mut there = Client::connect(&cluster.hubs[1]).await;
    there.subscribe(&run).await;
    there.expect("request_input").await;
    there.answer(&run, "user", "hello").await;
    assert_eq!(there.result().await, "hello");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_frozen_beyond_its_lease_loses_its_runs_and_follows_them() {
    let cluster = Cluster::start(2).await;
    let mut here = Client::connect(&cluster.hubs[0]).await;
    let run = here.start_strategy(&cluster.hubs[0], &two_people(), "").await;
    here.next_question().await;
    cluster.hubs[0].freeze();
    let owner = "SELECT count(*) FROM run JOIN node ON node.id = run.node";
    eventually("the frozen node is taken over", async || {
        (cluster.nodes().await == 1).then_some(())
    })
    .await;
    eventually("another hub owns the run", async || {
        (cluster.database.number(owner).await == 1).then_some(())
    })
    .await;
    let mut there = Client::connect(&cluster.hubs[1]).await;
    there.subscribe(&run).await;
    there.expect("request_input").await;
    there.answer(&run, "first", "one").await;
    there.until("request_input").await;
    cluster.hubs[0].thaw();
    let events = here.until("request_input").await;
    cluster.hubs[0].owner.get("/v1/inbox").await.expect(200);
    assert_eq!(
        events.of_kind("step_completed").len(),
        1,
        "missed events are replayed: {events:#?}"
    );
    here.answer(&run, "second", "two").await;
    assert_eq!(there.result().await, "two");
    assert_eq!(here.result().await, "two");
}
