//! Attaching to an existing run.

use serde_json::json;

use super::stage::*;
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn preparing_a_running_run_by_its_id_attaches_to_it() {
    let hub = Hub::start().await;
    let mut starter = Client::connect(&hub).await;
    let run = starter.start_strategy(&hub, &review(), "fish").await;
    let ask = starter.next_question().await;
    let mut other = Client::connect(&hub).await;
    let prepared = other
        .call(json!({"type": "prepare_run", "runId": run}), "run_prepared")
        .await;
    assert_eq!(
        (&prepared["runId"], &prepared["strategyName"]),
        (&json!(run), &json!("Test strategy"))
    );
    assert_eq!(prepared["agents"], json!(["draft", "editor", "print"]));
    assert_eq!(prepared["flowTree"], review()["flow"]);
    let records = prepared["conversation"]["records"].as_array().expect("records");
    assert_eq!(records.len(), 1, "the conversation so far: {prepared}");
    assert_eq!(
        (&records[0]["agentName"], &records[0]["text"]),
        (&json!("draft"), &json!("Draft: fish"))
    );
    assert_eq!(other.next().await, ask, "then the pending question");
    other.expect_silence().await;
    other.answer(&run, "editor", "done").await;
    assert_eq!(other.result().await, "done");
    assert_eq!(starter.result().await, "done");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_subscriber_of_an_idle_run_gets_only_new_events() {
    let hub = Hub::start().await;
    let mut starter = Client::connect(&hub).await;
    let run = starter.prepare(&strategy_file(&hub, &talk())).await;
    let mut other = Client::connect(&hub).await;
    other.subscribe(&run).await;
    other.expect_silence().await;
    starter.start(&run, "hello").await;
    assert_eq!(other.result().await, "hello");
}

#[tokio::test(flavor = "multi_thread")]
async fn subscribing_to_an_ended_run_sends_nothing() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &talk(), "hello").await;
    client.result().await;
    let mut other = Client::connect(&hub).await;
    other.subscribe(&run).await;
    other.expect_silence().await;
    let refusal = other
        .refused(json!({"type": "subscribe", "runId": "unknown"}), "SUBSCRIBE_ERROR")
        .await;
    assert_eq!(refusal, "Run not found: unknown");
    let refusal = other
        .refused(json!({"type": "subscribe", "runId": "../x"}), "SUBSCRIBE_ERROR")
        .await;
    assert_eq!(refusal, "Run not found: ../x");
}

/// More runs have ended since than the hub keeps in memory.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_ended_long_ago_can_be_replayed_and_continued() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let path = strategy_file(&hub, &talk());
    let first = client.prepare(&path).await;
    client.start(&first, "first").await;
    let log = client.until("strategy_completed").await;
    client.unsubscribe(&first).await;
    for _ in 0..150 {
        let run = client.prepare(&path).await;
        client.start(&run, "more").await;
        client.result().await;
    }
    client.subscribe_after(&first, 1).await;
    assert_eq!(client.frames_so_far().await, log);
    client.continue_run(&first, "again").await;
    assert_eq!(client.result().await, "again");
}

#[tokio::test(flavor = "multi_thread")]
async fn repeated_subscribes_change_nothing() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &talk(), "").await;
    client.next_question().await;
    for _ in 0..10_000 {
        client.subscribe(&run).await;
    }
    client.expect_silence().await;
    client.answer(&run, "user", "hello").await;
    let events = client.until("strategy_completed").await;
    assert_eq!(
        events.of_kind("step_started").len(),
        1,
        "each event comes once: {events:#?}"
    );
    client.expect_silence().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn subscribing_after_an_unsubscribe_replays_the_question() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &talk(), "").await;
    let ask = client.next_question().await;
    client.unsubscribe(&run).await;
    client.subscribe(&run).await;
    assert_eq!(client.next().await, ask);
    client.subscribe_after(&run, seq(&ask) - 1).await;
    assert_eq!(client.next().await, ask, "replayed by seq");
    client.expect_silence().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn input_resolved_is_sent_only_to_clients_with_extensions() {
    let hub = Hub::start().await;
    let mut plain = Client::connect(&hub).await;
    let run = plain.start_strategy(&hub, &talk(), "").await;
    let ask = plain.next_question().await;
    let mut extended = Client::connect(&hub).await;
    extended
        .send(json!({"type": "subscribe", "runId": run, "extensions": true}))
        .await;
    assert_eq!(extended.next().await, ask);
    let mut third = Client::connect(&hub).await;
    third.answer(&run, "user", "hello").await;
    let events = extended.until("strategy_completed").await;
    let resolved = events.of_kind("input_resolved");
    assert_eq!(resolved.len(), 1, "{events:#?}");
    assert_eq!(resolved[0]["inputId"], ask["inputId"]);
    assert_eq!(
        (&resolved[0]["runId"], &resolved[0]["agentName"]),
        (&json!(run), &json!("user"))
    );
    assert_eq!(
        events[0]["type"], "input_resolved",
        "before the run continues: {events:#?}"
    );
    assert!(
        plain
            .until("strategy_completed")
            .await
            .of_kind("input_resolved")
            .is_empty()
    );
}
