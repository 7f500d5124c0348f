//! Ending a run before its time.

use serde_json::{Value, json};

use super::stage::*;
use crate::harness::*;

fn cancelled(run: &str) -> Value {
    let error = json!({"code": "CANCELLED", "message": "Run cancelled by client"});
    json!({"type": "strategy_error", "runId": run, "error": error})
}

fn bare(frame: &Value) -> Value {
    without(&without(frame, "seq"), "ts")
}

/// Check 7.
#[tokio::test(flavor = "multi_thread")]
async fn stopping_a_run_that_waits_is_told_once_and_nothing_follows() {
    let hub = Hub::start().await;
    let mut one = Client::connect(&hub).await;
    let mut two = Client::connect(&hub).await;
    let run = one.begin(&hub, &talk(), "").await;
    one.asked().await;
    two.subscribe(&run).await;
    two.expect("request_input").await;
    two.send(json!({"type": "stop_run", "runId": run, "requestId": "stop"}))
        .await;
    for client in [&mut one, &mut two] {
        assert_eq!(bare(&client.next().await), cancelled(&run), "and it names no request");
    }
    two.stop(&run).await;
    for client in [&mut one, &mut two] {
        client.silence().await;
    }
    assert_eq!(one.live(&run).await["status"], "cancelled");
    assert_eq!(one.kept(&run).await["status"], "cancelled");
    let late = json!({"type": "user_input", "runId": run, "agentName": "user", "text": "late"});
    one.refused(late, "NO_PENDING_INPUT").await;
    one.subscribe_after(&run, 0).await;
    let told = one.so_far().await;
    assert_eq!(told.of("strategy_error").len(), 1, "{told:#?}");
    assert_eq!(told.last().expect("an end")["type"], "strategy_error", "{told:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_question_of_a_stopped_run_leaves_the_inbox() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.begin(&hub, &talk(), "").await;
    client.asked().await;
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

/// Check 14.
#[tokio::test(flavor = "multi_thread")]
async fn stopping_what_is_not_there_or_already_over_is_silent() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    client.stop("unknown").await;
    client.silence().await;
    client.stop("../x").await;
    client.silence().await;
    let run = client.begin(&hub, &talk(), "hello").await;
    client.result().await;
    client.stop(&run).await;
    client.silence().await;
    assert_eq!(client.live(&run).await["status"], "completed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_never_started_is_stopped_and_not_kept() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.prepare(&strategy_file(&hub, &talk())).await;
    client.stop(&run).await;
    assert_eq!(bare(&client.next().await), cancelled(&run));
    client.silence().await;
    assert_eq!(client.kept(&run).await, Value::Null);
    let start = json!({"type": "start_run", "runId": run});
    client.refused(start, "START_FAILED").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_a_run_lets_go_of_its_model() {
    let model = Model::start().await;
    model.script([Turn::Hang]);
    let hub = Setup::default().config(&model.config("")).start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.begin(&hub, &alone(llm()), "hello").await;
    model.asked(1).await;
    client.stop(&run).await;
    assert_eq!(
        client.failure().await,
        ("CANCELLED".to_owned(), "Run cancelled by client".to_owned())
    );
    model.left(1).await;
    client.silence().await;
    assert_eq!(client.kept(&run).await["status"], "cancelled");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_run_can_be_continued() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.begin(&hub, &review(), "fish").await;
    let last = client.asked().await;
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
    assert!(seq(&started) > seq(&last) + 1, "numbers are not given twice: {started}");
    assert_eq!(client.asked().await["prompt"], "Draft: bird");
    client.answer(&run, "editor", "done").await;
    assert_eq!(client.result().await, "done");
}

/// Stops race the natural end; whatever wins is the only end.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_has_one_end_also_when_it_is_stopped_while_it_ends() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let path = strategy_file(&hub, &talk());
    let mut stopper = Client::connect(&hub).await;
    for _ in 0..30 {
        let run = client.prepare(&path).await;
        client.start(&run, "").await;
        client.asked().await;
        client.answer(&run, "user", "hello").await;
        stopper.stop(&run).await;
        stopper.silence().await;
        let kept = eventually("the run has ended", async || {
            let kept = stopper.kept(&run).await;
            (kept["status"] != "running").then_some(kept)
        })
        .await;
        let mut told = client.so_far().await;
        // An answer that came too late is told so, to its sender alone.
        told.retain(|frame| frame["code"] != "NO_PENDING_INPUT");
        let ends: Vec<&str> = told
            .kinds()
            .into_iter()
            .filter(|kind| kind.starts_with("strategy_"))
            .collect();
        assert_eq!(ends.len(), 1, "{told:#?}");
        assert_eq!(told.last().expect("an end")["type"], ends[0], "{told:#?}");
        let expected = if ends[0] == "strategy_completed" {
            "completed"
        } else {
            "cancelled"
        };
        assert_eq!(kept["status"], expected);
    }
}
