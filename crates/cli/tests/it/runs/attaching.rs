//! Coming to a run that is already there.

use serde_json::json;

use super::stage::*;
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn preparing_a_running_run_by_its_id_attaches_to_it() {
    let hub = Hub::start().await;
    let mut starter = Client::connect(&hub).await;
    let run = starter.begin(&hub, &review(), "fish").await;
    let ask = starter.asked().await;
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
    assert_eq!(records.len(), 1, "what was said so far: {prepared}");
    assert_eq!(
        (&records[0]["agentName"], &records[0]["text"]),
        (&json!("draft"), &json!("Draft: fish"))
    );
    assert_eq!(other.next().await, ask, "then what waits");
    other.silence().await;
    other.answer(&run, "editor", "done").await;
    assert_eq!(other.result().await, "done");
    assert_eq!(starter.result().await, "done");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_subscriber_of_a_run_that_asks_nothing_hears_nothing_until_something_happens() {
    let hub = Hub::start().await;
    let mut starter = Client::connect(&hub).await;
    let run = starter.prepare(&strategy_file(&hub, &talk())).await;
    let mut other = Client::connect(&hub).await;
    other.subscribe(&run).await;
    other.silence().await;
    starter.start(&run, "hello").await;
    assert_eq!(other.result().await, "hello");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ended_run_can_be_subscribed_to_and_says_nothing() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.begin(&hub, &talk(), "hello").await;
    client.result().await;
    let mut other = Client::connect(&hub).await;
    other.subscribe(&run).await;
    other.silence().await;
    let said = other
        .refused(json!({"type": "subscribe", "runId": "unknown"}), "SUBSCRIBE_ERROR")
        .await;
    assert_eq!(said, "Run not found: unknown");
    let said = other
        .refused(json!({"type": "subscribe", "runId": "../x"}), "SUBSCRIBE_ERROR")
        .await;
    assert_eq!(said, "Run not found: ../x");
}

/// More have ended since than the hub keeps in memory.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_ended_long_ago_is_still_there() {
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
    assert_eq!(client.so_far().await, log);
    client.proceed(&first, "again").await;
    assert_eq!(client.result().await, "again");
}

#[tokio::test(flavor = "multi_thread")]
async fn subscribing_again_and_again_changes_nothing() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.begin(&hub, &talk(), "").await;
    client.asked().await;
    for _ in 0..10_000 {
        client.subscribe(&run).await;
    }
    client.silence().await;
    client.answer(&run, "user", "hello").await;
    let events = client.until("strategy_completed").await;
    assert_eq!(events.of("step_started").len(), 1, "each event comes once: {events:#?}");
    client.silence().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_unsubscribing_a_subscription_is_new_again() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.begin(&hub, &talk(), "").await;
    let ask = client.asked().await;
    client.unsubscribe(&run).await;
    client.subscribe(&run).await;
    assert_eq!(client.next().await, ask);
    client.subscribe_after(&run, seq(&ask) - 1).await;
    assert_eq!(client.next().await, ask, "asked for by number");
    client.silence().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_an_ask_is_told_to_those_who_understand_it() {
    let hub = Hub::start().await;
    let mut plain = Client::connect(&hub).await;
    let run = plain.begin(&hub, &talk(), "").await;
    let ask = plain.asked().await;
    let mut extended = Client::connect(&hub).await;
    extended
        .send(json!({"type": "subscribe", "runId": run, "extensions": true}))
        .await;
    assert_eq!(extended.next().await, ask);
    let mut third = Client::connect(&hub).await;
    third.answer(&run, "user", "hello").await;
    let events = extended.until("strategy_completed").await;
    let resolved = events.of("input_resolved");
    assert_eq!(resolved.len(), 1, "{events:#?}");
    assert_eq!(resolved[0]["inputId"], ask["inputId"]);
    assert_eq!(
        (&resolved[0]["runId"], &resolved[0]["agentName"]),
        (&json!(run), &json!("user"))
    );
    assert_eq!(
        events[0]["type"], "input_resolved",
        "before the run goes on: {events:#?}"
    );
    assert!(plain.until("strategy_completed").await.of("input_resolved").is_empty());
}
