//! A run is moved by one hub, and may be followed, answered, steered and stopped at any.

use serde_json::json;

use super::Cluster;
use crate::harness::*;
use crate::runs::stage::*;

fn two_people() -> serde_json::Value {
    let agents = json!({"first": person(), "second": person(), "last": echo()});
    sequence(agents, &["first", "second", "last"])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_followed_and_answered_at_hubs_that_do_not_move_it() {
    let cluster = Cluster::start(3).await;
    let mut here = Client::connect(&cluster.hubs[0]).await;
    let run = here.begin(&cluster.hubs[0], &two_people(), "").await;
    let asked = here.asked().await;
    let mut there = Client::connect(&cluster.hubs[1]).await;
    there.subscribe(&run).await;
    assert_eq!(
        there.expect("request_input").await,
        asked,
        "what waits is told, unchanged"
    );
    there.answer(&run, "first", "one").await;
    let second = there.until("request_input").await;
    assert_eq!(
        here.until("request_input").await,
        second,
        "all hear the same in the same order"
    );
    let mut third = Client::connect(&cluster.hubs[2]).await;
    third.answer(&run, "second", "two").await;
    let end = here.until("strategy_completed").await;
    assert_eq!(end.last().expect("an end")["result"], "two");
    let streamed = |frame: &serde_json::Value| frame["event"]["type"] == "text";
    let stored: Vec<_> = end.into_iter().filter(|frame| !streamed(frame)).collect();
    assert_eq!(there.until("strategy_completed").await, stored);
    let said = third.refused(
        json!({"type": "user_input", "runId": run, "agentName": "second", "text": "x"}),
        "NO_PENDING_INPUT",
    );
    assert_eq!(
        said.await,
        format!("No pending input request for run {run} agent second")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_answered_in_the_inbox_of_any_hub() {
    let cluster = Cluster::start(2).await;
    let mut here = Client::connect(&cluster.hubs[0]).await;
    let run = here.begin(&cluster.hubs[0], &talk(), "").await;
    here.asked().await;
    let item = crate::runs::inbox::item_of(&cluster.hubs[1], &run).await;
    cluster.hubs[1]
        .owner
        .answer(item["id"].as_str().expect("an id"), "hello")
        .await
        .expect(200);
    assert_eq!(here.result().await, "hello");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_steered_and_stopped_from_elsewhere() {
    let cluster = Cluster::start(2).await;
    let mut here = Client::connect(&cluster.hubs[0]).await;
    let mut there = Client::connect(&cluster.hubs[1]).await;
    let run = here.begin(&cluster.hubs[0], &two_people(), "").await;
    here.asked().await;
    there
        .send(json!({"type": "steer_run", "runId": run, "text": "be brief"}))
        .await;
    assert_eq!(here.expect("steer_queued").await["text"], "be brief");
    there.silence().await;
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
    let run = here.begin(&cluster.hubs[0], &two_people(), "").await;
    here.asked().await;
    let mut there = Client::connect(&cluster.hubs[1]).await;
    there.send(json!({"type": "list_strategies"})).await;
    let listed = there.expect("strategy_list").await;
    let listed = listed["runs"]
        .as_array()
        .expect("a list")
        .iter()
        .find(|entry| entry["runId"] == json!(run));
    let listed = listed.expect("it is listed");
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
async fn a_run_whose_hub_is_killed_goes_on_at_another_for_those_who_follow_it() {
    let mut cluster = Cluster::start(2).await;
    let mut here = Client::connect(&cluster.hubs[0]).await;
    let run = here.begin(&cluster.hubs[0], &two_people(), "").await;
    here.asked().await;
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
async fn a_hub_that_stops_hands_its_waiting_runs_on() {
    let mut cluster = Cluster::start(2).await;
    let mut here = Client::connect(&cluster.hubs[0]).await;
    let run = here.begin(&cluster.hubs[0], &talk(), "").await;
    here.asked().await;
    assert!(cluster.hubs[0].interrupt().success());
    let mut there = Client::connect(&cluster.hubs[1]).await;
    there.subscribe(&run).await;
    there.expect("request_input").await;
    there.answer(&run, "user", "hello").await;
    assert_eq!(there.result().await, "hello");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_frozen_beyond_its_lease_moves_its_runs_no_more_and_follows_them_instead() {
    let cluster = Cluster::start(2).await;
    let mut here = Client::connect(&cluster.hubs[0]).await;
    let run = here.begin(&cluster.hubs[0], &two_people(), "").await;
    here.asked().await;
    cluster.hubs[0].freeze();
    let owner = "SELECT count(*) FROM run JOIN node ON node.id = run.node";
    eventually("the frozen one is taken over from", async || {
        (cluster.nodes().await == 1).then_some(())
    })
    .await;
    eventually("the run has another hub", async || {
        (cluster.database.number(owner).await == 1).then_some(())
    })
    .await;
    let mut there = Client::connect(&cluster.hubs[1]).await;
    there.subscribe(&run).await;
    there.expect("request_input").await;
    there.answer(&run, "first", "one").await;
    there.until("request_input").await;
    cluster.hubs[0].thaw();
    let told = here.until("request_input").await;
    cluster.hubs[0].owner.get("/v1/inbox").await.expect(200);
    assert_eq!(told.of("step_completed").len(), 1, "what was missed is told: {told:#?}");
    here.answer(&run, "second", "two").await;
    assert_eq!(there.result().await, "two");
    assert_eq!(here.result().await, "two");
}
