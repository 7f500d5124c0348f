//! Stopping a run.

use serde_json::{Value, json};

use super::stage::*;
use crate::harness::*;

fn cancelled(run: &str) -> Value {
    let error = json!({"code": "CANCELLED", "message": "Run cancelled by client"});
    json!({"type": "strategy_error", "runId": run, "error": error})
}

fn without_seq_and_ts(frame: &Value) -> Value {
    without(&without(frame, "seq"), "ts")
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_a_waiting_run_is_reported_once() {
    let hub = Hub::start().await;
    let mut one = Client::connect(&hub).await;
    let mut two = Client::connect(&hub).await;
    let run = one.start_strategy(&hub, &talk(), "").await;
    one.next_question().await;
    two.subscribe(&run).await;
    two.expect("request_input").await;
    two.send(json!({"type": "stop_run", "runId": run, "requestId": "stop"}))
        .await;
    for client in [&mut one, &mut two] {
        assert_eq!(
            without_seq_and_ts(&client.next().await),
            cancelled(&run),
            "without a requestId"
        );
    }
    two.stop(&run).await;
    for client in [&mut one, &mut two] {
        client.expect_silence().await;
    }
    assert_eq!(one.live_run(&run).await["status"], "cancelled");
    assert_eq!(one.stored_run(&run).await["status"], "cancelled");
    let late = json!({"type": "user_input", "runId": run, "agentName": "user", "text": "late"});
    one.refused(late, "NO_PENDING_INPUT").await;
    one.subscribe_after(&run, 0).await;
    let frames = one.frames_so_far().await;
    assert_eq!(frames.of_kind("strategy_error").len(), 1, "{frames:#?}");
    assert_eq!(frames.last().expect("an end")["type"], "strategy_error", "{frames:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_question_of_a_stopped_run_leaves_the_inbox() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &talk(), "").await;
    client.next_question().await;
    let id = super::inbox::item_of(&hub, &run).await["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    client.stop(&run).await;
    client.failure().await;
    assert_eq!(hub.owner.get("/v1/inbox").await.expect(200)["items"], json!([]));
    let shown = hub.owner.get(&format!("/v1/inbox/{id}")).await.expect(200);
    assert_eq!(shown["status"], "cancelled", "{shown}");
    hub.owner
        .answer(&id, "late")
        .await
        .refused_as_terminal(&id, "cancelled");
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_an_unknown_or_ended_run_is_silent() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    client.stop("unknown").await;
    client.expect_silence().await;
    client.stop("../x").await;
    client.expect_silence().await;
    let run = client.start_strategy(&hub, &talk(), "hello").await;
    client.result().await;
    client.stop(&run).await;
    client.expect_silence().await;
    assert_eq!(client.live_run(&run).await["status"], "completed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_never_started_is_stopped_and_not_stored() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.prepare(&strategy_file(&hub, &talk())).await;
    client.stop(&run).await;
    assert_eq!(without_seq_and_ts(&client.next().await), cancelled(&run));
    client.expect_silence().await;
    assert_eq!(client.stored_run(&run).await, Value::Null);
    let start = json!({"type": "start_run", "runId": run});
    client.refused(start, "START_FAILED").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_a_run_aborts_its_model_call() {
    let model = Model::start().await;
    model.script([ModelReply::Hang]);
    let hub = Setup::default().config(&model.config("")).start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &alone(llm()), "hello").await;
    model.requests(1).await;
    client.stop(&run).await;
    assert_eq!(
        client.failure().await,
        ("CANCELLED".to_owned(), "Run cancelled by client".to_owned())
    );
    model.until_abandoned(1).await;
    client.expect_silence().await;
    assert_eq!(client.stored_run(&run).await["status"], "cancelled");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_run_can_be_continued() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &review(), "fish").await;
    let last = client.next_question().await;
    client.stop(&run).await;
    client.failure().await;
    let prepared = client
        .call(json!({"type": "prepare_run", "runId": run}), "run_prepared")
        .await;
    assert_eq!(prepared["conversation"]["records"][0]["text"], "Draft: fish");
    client
        .send(json!({"type": "continue_run", "runId": run, "input": "bird"}))
        .await;
    let started = client.expect("strategy_started").await;
    assert!(seq(&started) > seq(&last) + 1, "no seq is reused: {started}");
    assert_eq!(client.next_question().await["prompt"], "Draft: bird");
    client.answer(&run, "editor", "done").await;
    assert_eq!(client.result().await, "done");
}

/// A stop races the natural end of the run; exactly one of them wins.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_stopped_while_it_ends_has_one_end() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let path = strategy_file(&hub, &talk());
    let mut stopper = Client::connect(&hub).await;
    for _ in 0..30 {
        let run = client.prepare(&path).await;
        client.start(&run, "").await;
        client.next_question().await;
        client.answer(&run, "user", "hello").await;
        stopper.stop(&run).await;
        stopper.expect_silence().await;
        let stored = eventually("the run has ended", async || {
            let stored = stopper.stored_run(&run).await;
            (stored["status"] != "running").then_some(stored)
        })
        .await;
        let mut frames = client.frames_so_far().await;
        // A late answer is refused, to its sender only.
        frames.retain(|frame| frame["code"] != "NO_PENDING_INPUT");
        let ends: Vec<&str> = frames
            .kinds()
            .into_iter()
            .filter(|kind| kind.starts_with("strategy_"))
            .collect();
        assert_eq!(ends.len(), 1, "{frames:#?}");
        assert_eq!(frames.last().expect("an end")["type"], ends[0], "{frames:#?}");
        let expected = if ends[0] == "strategy_completed" {
            "completed"
        } else {
            "cancelled"
        };
        assert_eq!(stored["status"], expected);
    }
}
