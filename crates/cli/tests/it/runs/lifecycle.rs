//! The lifecycle of a run: prepare, start, continue, and calls in the wrong order.

use serde_json::json;

use super::stage::*;
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_run_starts_once_and_only_when_it_was_prepared() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let start = |run: &str| json!({"type": "start_run", "runId": run});
    let continue_run = |run: &str| json!({"type": "continue_run", "runId": run, "input": ""});
    let refusal = client.refused(start("unknown"), "START_FAILED").await;
    assert_eq!(refusal, "Prepared run not found: unknown");
    let refusal = client.refused(continue_run("unknown"), "CONTINUE_FAILED").await;
    assert_eq!(refusal, "Prepared run not found: unknown");
    let run = client.prepare(&strategy_file(&hub, &talk())).await;
    let refusal = client.refused(continue_run(&run), "CONTINUE_FAILED").await;
    assert_eq!(refusal, format!("Run was not prepared for continuation: {run}"));
    client.start(&run, "").await;
    client.next_question().await;
    let refusal = client.refused(start(&run), "START_FAILED").await;
    assert_eq!(refusal, format!("Run already started: {run}"));
    let refusal = client.refused(continue_run(&run), "CONTINUE_FAILED").await;
    assert!(
        [
            format!("Run already started: {run}"),
            format!("Run was not prepared for continuation: {run}")
        ]
        .contains(&refusal),
        "{refusal}"
    );
    client.answer(&run, "user", "hello").await;
    client.result().await;
    client
        .call(json!({"type": "prepare_run", "runId": run}), "run_prepared")
        .await;
    let refusal = client.refused(start(&run), "START_FAILED").await;
    assert_eq!(refusal, format!("Run was prepared for continuation: {run}"));
    client.send(continue_run(&run)).await;
    client.next_question().await;
    client.answer(&run, "user", "again").await;
    assert_eq!(client.result().await, "again");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ended_run_is_not_started_again_without_being_prepared() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &talk(), "hello").await;
    client.result().await;
    for (kind, code) in [("start_run", "START_FAILED"), ("continue_run", "CONTINUE_FAILED")] {
        client
            .refused(json!({"type": kind, "runId": run, "input": "x"}), code)
            .await;
    }
    client.expect_silence().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_id_is_a_short_plain_name() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let path = strategy_file(&hub, &talk());
    let long = "x".repeat(129);
    for run in ["../x", "a/b", ".hidden", "a b", "a\nb", "ä", "a%2fb", long.as_str()] {
        let message = json!({"type": "prepare_run", "strategyPath": path, "runId": run});
        let refusal = client.refused(message, "VALIDATION_ERROR").await;
        assert!(refusal.starts_with("Invalid message: runId: "), "{run:?}: {refusal}");
    }
    let longest = "x".repeat(128);
    for run in ["a", "0", "-", "_", "run_abc-123.4", longest.as_str()] {
        let message = json!({"type": "prepare_run", "strategyPath": path, "runId": run});
        assert_eq!(client.call(message, "run_prepared").await["runId"], run);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_id_in_use_is_refused() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let path = strategy_file(&hub, &talk());
    let again = |run: &str| json!({"type": "prepare_run", "strategyPath": path, "runId": run});
    client.call(again("mine"), "run_prepared").await;
    let refusal = client.refused(again("mine"), "PREPARE_FAILED").await;
    assert_eq!(refusal, "Run already exists: mine", "prepared");
    let refusal = client
        .refused(json!({"type": "prepare_run", "runId": "mine"}), "PREPARE_FAILED")
        .await;
    assert_eq!(refusal, "Run already exists: mine", "prepared and never started");
    client.start("mine", "").await;
    client.next_question().await;
    let refusal = client.refused(again("mine"), "PREPARE_FAILED").await;
    assert_eq!(refusal, "Run already exists: mine", "running");
    let refusal = client
        .refused(json!({"type": "prepare_run", "runId": "other"}), "PREPARE_FAILED")
        .await;
    assert_eq!(refusal, "Run not found: other");
    let mut nothing = again("mine");
    nothing.as_object_mut().unwrap().retain(|key, _| key == "type");
    let refusal = client.refused(nothing, "VALIDATION_ERROR").await;
    assert_eq!(
        refusal,
        "Invalid message: strategyPath: prepare_run requires runId or strategyPath"
    );
}

/// Waits until no client is connected, so that no prepared run has a follower.
async fn until_no_clients(hub: &Hub) {
    eventually("no client is connected", async || {
        (hub.owner.get("/health").await.expect(200)["connectedClients"] == 0).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_abandoned_preparation_can_be_replaced() {
    let hub = Hub::start().await;
    let path = strategy_file(&hub, &talk());
    let again = json!({"type": "prepare_run", "strategyPath": path, "runId": "mine"});
    Client::connect(&hub).await.call(again.clone(), "run_prepared").await;
    until_no_clients(&hub).await;
    let listed = hub.owner.get("/v1/runs").await.expect(200)["runs"].clone();
    assert_eq!(
        (&listed[0]["run_id"], &listed[0]["status"]),
        (&json!("mine"), &json!("pending")),
        "{listed}"
    );
    assert_eq!(
        hub.owner.get("/v1/runs?status=completed").await.expect(200)["runs"],
        json!([])
    );
    let mut client = Client::connect(&hub).await;
    let refusal = client
        .refused(json!({"type": "prepare_run", "runId": "mine"}), "PREPARE_FAILED")
        .await;
    assert_eq!(
        refusal, "Run already exists: mine",
        "without a strategy there is nothing to prepare"
    );
    client.call(again.clone(), "run_prepared").await;
    let mut other = Client::connect(&hub).await;
    other.refused(again, "PREPARE_FAILED").await;
    client.start("mine", "hello").await;
    assert_eq!(client.result().await, "hello");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prepared_run_can_be_started_after_a_reconnect() {
    let hub = Hub::start().await;
    let run = Client::connect(&hub).await.prepare(&strategy_file(&hub, &talk())).await;
    until_no_clients(&hub).await;
    let mut client = Client::connect(&hub).await;
    client.start(&run, "hello").await;
    assert_eq!(client.result().await, "hello");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_abandoned_continuation_can_be_prepared_again() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &talk(), "one").await;
    client.result().await;
    client
        .call(json!({"type": "prepare_run", "runId": run}), "run_prepared")
        .await;
    let shown = hub.owner.get(&format!("/v1/runs/{run}")).await.expect(200);
    assert_eq!(
        (&shown["status"], &shown["completed_at"]),
        (&json!("pending"), &json!(null)),
        "{shown}"
    );
    drop(client);
    until_no_clients(&hub).await;
    let mut client = Client::connect(&hub).await;
    client.continue_run(&run, "two").await;
    assert_eq!(client.result().await, "two");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_stopped_before_its_start_is_not_found() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.prepare(&strategy_file(&hub, &talk())).await;
    client.stop(&run).await;
    client.failure().await;
    for (kind, code) in [("start_run", "START_FAILED"), ("continue_run", "CONTINUE_FAILED")] {
        let refusal = client
            .refused(json!({"type": kind, "runId": run, "input": ""}), code)
            .await;
        assert_eq!(refusal, format!("Prepared run not found: {run}"));
    }
    let refusal = client
        .refused(json!({"type": "prepare_run", "runId": run}), "PREPARE_FAILED")
        .await;
    assert_eq!(refusal, format!("Run not found: {run}"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_preparation_leaves_nothing_behind() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let path = hub.scratch().path("later.json");
    let message = json!({"type": "prepare_run", "strategyPath": path, "runId": "mine"});
    let refusal = client.refused(message.clone(), "PREPARE_FAILED").await;
    assert!(
        refusal.starts_with(&format!("Strategy file not found: {} - ", path.display())),
        "{refusal}"
    );
    assert_eq!(client.live_run("mine").await, json!(null));
    client
        .refused(json!({"type": "subscribe", "runId": "mine"}), "SUBSCRIBE_ERROR")
        .await;
    hub.scratch().write("later.json", &talk().to_string());
    client.call(message, "run_prepared").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_continuation_leaves_the_run_as_it_was() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let path = strategy_file(&hub, &talk());
    let run = client.prepare(&path).await;
    client.start(&run, "hello").await;
    client.result().await;
    std::fs::remove_file(&path).expect("the file is there");
    let again = client.send(json!({"type": "prepare_run", "runId": run, "requestId": "p"}));
    again.await;
    let reply = client.next().await;
    // Either the strategy was stored with the run, or the missing file is reported and nothing changes.
    if reply["type"] == "error" {
        assert_eq!(reply["code"], "PREPARE_FAILED", "{reply}");
        assert_eq!(client.live_run(&run).await["status"], "completed");
    } else {
        assert_eq!(reply["type"], "run_prepared", "{reply}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ended_run_can_be_continued_at_once() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &talk(), "0").await;
    client.result().await;
    for round in 1..20 {
        client.continue_run(&run, &round.to_string()).await;
        assert_eq!(client.result().await, round.to_string());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_continuation_includes_the_conversation_so_far() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &talk(), "").await;
    client.next_question().await;
    client.answer(&run, "user", "hello").await;
    client.result().await;
    let prepared = client
        .call(json!({"type": "prepare_run", "runId": run}), "run_prepared")
        .await;
    let records = prepared["conversation"]["records"].as_array().expect("records").clone();
    let of = |name: &str| records.iter().find(|record| record["agentName"] == name).cloned();
    let text = of("assistant").expect("a record of the agent");
    assert_eq!(text["text"], "hello");
    assert_eq!(text["userMessage"], json!({"role": "user", "content": "hello"}));
    assert_eq!(
        text["responseMessages"],
        json!([{"role": "assistant", "content": "hello"}])
    );
    assert_eq!(
        (&text["finishReason"], &text["usage"]["promptTokens"]),
        (&json!("stop"), &json!(0))
    );
    for member in ["id", "createdAt"] {
        assert!(text[member].is_string(), "{member}: {text}");
    }
    assert_eq!(of("user").expect("a record of the answer")["text"], "hello");
    assert_eq!(prepared["conversation"]["retentionEvents"], json!([]));
    assert!(prepared["conversation"]["inputs"].is_array(), "{prepared}");
    client.expect_silence().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn start_and_continue_inputs_are_in_the_conversation() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &talk(), "first").await;
    client.result().await;
    client.continue_run(&run, "second").await;
    client.result().await;
    let prepared = client
        .call(json!({"type": "prepare_run", "runId": run}), "run_prepared")
        .await;
    let inputs = prepared["conversation"]["inputs"].as_array().expect("inputs").clone();
    let texts: Vec<&str> = inputs
        .iter()
        .map(|input| input["text"].as_str().expect("a text"))
        .collect();
    assert_eq!(texts, ["first", "second"]);
}
