//! When a person is asked, and with which prompt.

use serde_json::{Value, json};

use super::stage::*;
use crate::harness::*;

/// Runs the strategy up to its first question; `Err` is the result if it completes without one.
async fn first_question(hub: &Hub, strategy: &Value, input: &str) -> Result<Value, String> {
    let mut client = Client::connect(hub).await;
    client.start_strategy(hub, strategy, input).await;
    loop {
        let frame = client.next().await;
        match frame["type"].as_str() {
            Some("request_input") => return Ok(frame),
            Some("strategy_completed") => return Err(frame["result"].as_str().expect("a result").to_owned()),
            Some("strategy_error") => panic!("{frame}"),
            _ => {}
        }
    }
}

fn person_first(config: Value) -> Value {
    sequence(
        json!({"user": person_with(config), "assistant": echo()}),
        &["user", "assistant"],
    )
}

fn person_in_the_middle(config: Value) -> Value {
    let agents = json!({"draft": template("Draft: {{input}}"), "editor": person_with(config), "print": echo()});
    sequence(agents, &["draft", "editor", "print"])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_person_is_not_asked_when_the_start_has_input() {
    let hub = Hub::start().await;
    assert_eq!(first_question(&hub, &talk(), "hello").await, Err("hello".to_owned()));
    assert_eq!(
        first_question(&hub, &person_first(json!({"requireInput": true})), " ").await,
        Err(" ".to_owned())
    );
    let preset = person_first(json!({"presetMessage": "Which topic?"}));
    assert_eq!(
        first_question(&hub, &preset, "hello").await,
        Err("hello".to_owned()),
        "the input wins over the preset"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_person_is_asked_when_the_start_has_no_input() {
    let hub = Hub::start().await;
    let ask = first_question(&hub, &talk(), "").await.expect("a question");
    assert!(ask.get("prompt").is_none(), "no prompt: {ask}");
    let ask = first_question(&hub, &person_first(json!({"presetMessage": "Which topic?"})), "")
        .await
        .expect("a question");
    assert_eq!(ask["prompt"], "Which topic?");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_later_person_is_always_asked_and_sees_the_previous_output() {
    let hub = Hub::start().await;
    for input in ["", "fish"] {
        let ask = first_question(&hub, &person_in_the_middle(json!({})), input)
            .await
            .expect("a question");
        assert_eq!(ask["prompt"], format!("Draft: {input}"));
        let ask = first_question(&hub, &person_in_the_middle(json!({"presetMessage": "Fine?"})), input)
            .await
            .expect("a question");
        assert_eq!(ask["prompt"], "Fine?");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_without_required_input_passes_on_the_preset_or_the_input() {
    let hub = Hub::start().await;
    let optional = json!({"requireInput": false});
    assert_eq!(
        first_question(&hub, &person_first(optional.clone()), "hello").await,
        Err("hello".to_owned())
    );
    assert_eq!(
        first_question(&hub, &person_first(optional.clone()), "").await,
        Err(String::new())
    );
    assert_eq!(
        first_question(&hub, &person_in_the_middle(optional), "fish").await,
        Err("Draft: fish".to_owned())
    );
    let preset = json!({"requireInput": false, "presetMessage": "as agreed"});
    assert_eq!(
        first_question(&hub, &person_first(preset.clone()), "hello").await,
        Err("as agreed".to_owned())
    );
    assert_eq!(
        first_question(&hub, &person_in_the_middle(preset), "fish").await,
        Err("as agreed".to_owned())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_answer_is_the_result_of_the_step_and_the_input_of_the_next() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &review(), "fish").await;
    let before = client.until("request_input").await;
    assert_eq!(
        before.of_kind("step_started").last().expect("a step")["message"],
        "Draft: fish"
    );
    client.answer(&run, "editor", "Final: fish").await;
    let after = client.until("strategy_completed").await;
    assert_eq!(after[0]["result"]["text"], "Final: fish");
    assert_eq!(after[1]["message"], "Final: fish");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_continuation_counts_as_a_new_start() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &talk(), "one").await;
    assert_eq!(client.result().await, "one");
    client.continue_run(&run, "two").await;
    assert_eq!(client.result().await, "two", "the continuation's input is the answer");
    client.continue_run(&run, "").await;
    client.next_question().await;
    client.answer(&run, "user", "three").await;
    assert_eq!(client.result().await, "three");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_first_call_is_answered_by_the_start() {
    let hub = Hub::start().await;
    let strategy = cycle(json!({"user": person()}), &["user"], json!({"cycles": 2}));
    let ask = first_question(&hub, &strategy, "hello")
        .await
        .expect("the second round asks");
    assert_eq!(ask["prompt"], "hello");
    let agents = json!({"one": person(), "two": person()});
    let ask = first_question(&hub, &sequence(agents, &["one", "two"]), "hello")
        .await
        .expect("the second person is asked");
    assert_eq!((&ask["agentName"], &ask["prompt"]), (&json!("two"), &json!("hello")));
}
