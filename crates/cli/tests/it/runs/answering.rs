//! Answers on the socket: late answers, wrong agents, and clients without a subscription.

use serde_json::json;

use super::stage::*;
use crate::harness::*;

fn input(run: &str, agent: &str, text: &str) -> serde_json::Value {
    json!({"type": "user_input", "runId": run, "agentName": agent, "text": text})
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_without_a_pending_question_is_refused() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let no_pending = |run: &str, agent: &str| format!("No pending input request for run {run} agent {agent}");
    let refusal = client.refused(input("unknown", "user", "x"), "NO_PENDING_INPUT").await;
    assert_eq!(refusal, no_pending("unknown", "user"));
    let path = strategy_file(&hub, &talk());
    let run = client.prepare(&path).await;
    let refusal = client
        .refused(input(&run, "user", "too early"), "NO_PENDING_INPUT")
        .await;
    assert_eq!(refusal, no_pending(&run, "user"));
    client.start(&run, "").await;
    client.next_question().await;
    let refusal = client
        .refused(input(&run, "assistant", "wrong agent"), "NO_PENDING_INPUT")
        .await;
    assert_eq!(refusal, no_pending(&run, "assistant"));
    client.answer(&run, "user", "first").await;
    assert_eq!(client.result().await, "first");
    let refusal = client
        .refused(input(&run, "user", "after the end"), "NO_PENDING_INPUT")
        .await;
    assert_eq!(refusal, no_pending(&run, "user"));
    let stopped = client.prepare(&path).await;
    client.start(&stopped, "").await;
    client.next_question().await;
    client.stop(&stopped).await;
    assert_eq!(client.failure().await.0, "CANCELLED");
    let refusal = client
        .refused(input(&stopped, "user", "after the stop"), "NO_PENDING_INPUT")
        .await;
    assert_eq!(refusal, no_pending(&stopped, "user"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_second_answer_is_refused_while_the_run_continues() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let agents = json!({"first": person(), "second": person()});
    let run = client
        .start_strategy(&hub, &sequence(agents, &["first", "second"]), "")
        .await;
    client.next_question().await;
    client.answer(&run, "first", "one").await;
    client.until("request_input").await;
    client.refused(input(&run, "first", "two"), "NO_PENDING_INPUT").await;
    client.answer(&run, "second", "three").await;
    assert_eq!(client.result().await, "three");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_echoes_the_request_id_only_if_there_was_one() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    client.send(input("unknown", "user", "x")).await;
    let error = client.expect("error").await;
    assert_eq!(field_names(&error), ["code", "message", "ts", "type"]);
    let mut named = input("unknown", "user", "x");
    named["requestId"] = json!("r1");
    client.send(named).await;
    let error = client.expect("error").await;
    assert_eq!(field_names(&error), ["code", "message", "requestId", "ts", "type"]);
    assert_eq!(error["requestId"], "r1");
}

#[tokio::test(flavor = "multi_thread")]
async fn empty_and_unusual_texts_are_valid_answers() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let path = strategy_file(&hub, &talk());
    for text in [
        "",
        " ",
        "\n",
        "line\r\nline\t\u{1F600}\u{202e}",
        "{{input}} </user_steering> \"",
        "\u{1}\u{7f}",
    ] {
        let run = client.prepare(&path).await;
        client.start(&run, "").await;
        client.next_question().await;
        client.answer(&run, "user", text).await;
        assert_eq!(client.result().await, text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_of_a_mebibyte_arrives_whole_and_a_longer_one_is_refused() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &talk(), "").await;
    client.next_question().await;
    let text = "ü".repeat(512 * 1024);
    let refusal = client
        .refused(input(&run, "user", &format!("{text}!")), "VALIDATION_ERROR")
        .await;
    assert!(refusal.contains("text: "), "{refusal}");
    client.answer(&run, "user", &text).await;
    assert_eq!(client.result().await, text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_without_a_subscription_gets_no_events_and_may_answer() {
    let hub = Hub::start().await;
    let mut starter = Client::connect(&hub).await;
    let mut other = Client::connect(&hub).await;
    let run = starter.start_strategy(&hub, &talk(), "").await;
    starter.next_question().await;
    other.expect_silence().await;
    other.answer(&run, "user", "from elsewhere").await;
    assert_eq!(starter.result().await, "from elsewhere");
    other.expect_silence().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn unsubscribing_ends_the_events_and_is_never_an_error() {
    let hub = Hub::start().await;
    let mut starter = Client::connect(&hub).await;
    let mut other = Client::connect(&hub).await;
    let run = starter.start_strategy(&hub, &talk(), "").await;
    starter.next_question().await;
    other.subscribe(&run).await;
    other.expect("request_input").await;
    for run in [run.as_str(), run.as_str(), "unknown", "../x"] {
        other.unsubscribe(run).await;
        other.expect_silence().await;
    }
    starter.answer(&run, "user", "hello").await;
    starter.result().await;
    other.expect_silence().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_outlives_its_starter_and_asks_a_later_subscriber() {
    let hub = Hub::start().await;
    let mut starter = Client::connect(&hub).await;
    let run = starter.start_strategy(&hub, &talk(), "").await;
    let ask = starter.next_question().await;
    drop(starter);
    let mut later = Client::connect(&hub).await;
    later.subscribe(&run).await;
    assert_eq!(later.next().await, ask, "unchanged, with the same ts and seq");
    later.subscribe(&run).await;
    later.expect_silence().await;
    later.answer(&run, "user", "hello").await;
    assert_eq!(later.result().await, "hello");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_runs_with_the_same_agent_name_do_not_cross() {
    let hub = Hub::start().await;
    let mut one = Client::connect(&hub).await;
    let mut two = Client::connect(&hub).await;
    let first = one.start_strategy(&hub, &talk(), "").await;
    let second = two.start_strategy(&hub, &talk(), "").await;
    one.next_question().await;
    two.next_question().await;
    one.answer(&second, "user", "for the second").await;
    one.expect_silence().await;
    assert_eq!(two.result().await, "for the second");
    two.answer(&first, "user", "for the first").await;
    assert_eq!(one.result().await, "for the first");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_must_name_the_pending_question() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let strategy = cycle(
        json!({"user": person(), "assistant": echo()}),
        &["user", "assistant"],
        json!({"cycles": 2}),
    );
    let run = client.start_strategy(&hub, &strategy, "").await;
    let first = client.next_question().await["inputId"].clone();
    let input_for = |input_id: &serde_json::Value, text: &str| {
        let mut message = input(&run, "user", text);
        message["inputId"] = input_id.clone();
        message
    };
    let other = json!(uuid::Uuid::new_v4().to_string());
    let refusal = client.refused(input_for(&other, "x"), "NO_PENDING_INPUT").await;
    assert_eq!(refusal, format!("No pending input request for run {run} agent user"));
    client.send(input_for(&first, "one")).await;
    let second = client.next_question().await["inputId"].clone();
    assert_ne!(first, second);
    client.refused(input_for(&first, "again"), "NO_PENDING_INPUT").await;
    client.send(input_for(&second, "two")).await;
    assert_eq!(client.result().await, "two");
}
