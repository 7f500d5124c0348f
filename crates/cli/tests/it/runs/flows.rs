//! Sequences, broadcasts and nested flows.

use serde_json::{Value, json};

use super::stage::*;
use crate::harness::*;

/// The name and message of every started step.
fn steps(events: &[Value]) -> Vec<(&str, &str)> {
    events
        .iter()
        .filter(|event| event["type"] == "step_started")
        .map(|event| (event["stepName"].as_str().unwrap(), event["message"].as_str().unwrap()))
        .collect()
}

async fn run(strategy: &Value, input: &str) -> (Vec<Value>, String) {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    client.start_strategy(&hub, strategy, input).await;
    let events = client.until("strategy_completed").await;
    let result = events.last().unwrap()["result"].as_str().unwrap().to_owned();
    (events, result)
}

#[tokio::test(flavor = "multi_thread")]
async fn each_step_of_a_sequence_gets_the_previous_output() {
    let agents = json!({"a": template("<a {{input}}>"), "b": template("<b {{input}}>"), "c": echo()});
    let (events, result) = run(&sequence(agents, &["a", "b", "c", "a"]), "x").await;
    assert_eq!(
        steps(&events),
        [("a", "x"), ("b", "<a x>"), ("c", "<b <a x>>"), ("a", "<b <a x>>")]
    );
    assert_eq!(result, "<a <b <a x>>>");
    let done: Vec<&Value> = events
        .of_kind("step_completed")
        .iter()
        .map(|event| &event["result"]["text"])
        .collect();
    assert_eq!(done, ["<a x>", "<b <a x>>", "<b <a x>>", "<a <b <a x>>>"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_template_fills_only_the_input_placeholder() {
    let (_, result) = run(
        &alone(template("{{input}} {{ input }} {{other}} $input {{input}}")),
        "{{input}}",
    )
    .await;
    assert_eq!(result, "{{input}} {{ input }} {{other}} $input {{input}}");
    let (_, result) = run(&alone(template("no place")), "x").await;
    assert_eq!(result, "no place");
    let (_, result) = run(&alone(template("[{{input}}]")), "").await;
    assert_eq!(result, "[]");
}

#[tokio::test(flavor = "multi_thread")]
async fn broadcast_steps_get_the_same_input_and_their_outputs_are_joined_in_order() {
    let agents = json!({"a": template("a:{{input}}"), "b": template("b:{{input}}"), "c": template("c:{{input}}")});
    let mut broadcast = flow("Main", "broadcast", &["c", "a", "b"]);
    let (events, result) = run(&strategy(agents.clone(), broadcast.clone()), "x").await;
    assert_eq!(steps(&events), [("c", "x"), ("a", "x"), ("b", "x")]);
    assert_eq!(result, "c:x\n\na:x\n\nb:x");
    broadcast["separator"] = json!(" | ");
    assert_eq!(
        run(&strategy(agents.clone(), broadcast.clone()), "x").await.1,
        "c:x | a:x | b:x"
    );
    broadcast["separator"] = json!("");
    assert_eq!(run(&strategy(agents, broadcast), "x").await.1, "c:xa:xb:x");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_nested_flow_is_one_step_with_its_own_name() {
    let agents = json!({"a": template("a:{{input}}"), "b": template("b:{{input}}"), "end": template("({{input}})")});
    let mut broadcast = flow("Both", "broadcast", &["a", "b"]);
    broadcast["separator"] = json!("+");
    let steps_of = json!([{"agent": "end"}, broadcast, {"agent": "end"}]);
    let strategy = strategy(agents, json!({"name": "Main", "type": "sequential", "steps": steps_of}));
    let (events, result) = run(&strategy, "x").await;
    assert_eq!(steps(&events), [("end", "x"), ("Both", "(x)"), ("end", "a:(x)+b:(x)")]);
    assert_eq!(result, "(a:(x)+b:(x))");
    let speakers: Vec<&str> = events
        .of_kind("agent_output")
        .iter()
        .map(|event| event["agentName"].as_str().unwrap())
        .collect();
    assert_eq!(speakers, ["end", "a", "b", "end"], "agents report output at any depth");
    assert_eq!(events.of_kind("step_completed").len(), 3);
    assert_eq!(events.of_kind("step_completed")[1]["result"]["finishReason"], "stop");
}

#[tokio::test(flavor = "multi_thread")]
async fn people_are_asked_at_any_depth() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let mut innermost = flow("Innermost", "broadcast", &["ann", "bob"]);
    innermost["separator"] = json!("/");
    let inner = json!({"name": "Inner", "type": "cycle", "cycles": 2, "steps": [innermost]});
    let outer = json!({"name": "Outer", "type": "sequential", "steps": [{"agent": "start"}, inner]});
    let agents = json!({"start": echo(), "ann": person(), "bob": person()});
    let run = client.start_strategy(&hub, &strategy(agents, outer), "go").await;
    for (agent, prompt, text) in [
        ("ann", "go", "1"),
        ("bob", "go", "2"),
        ("ann", "1/2", "3"),
        ("bob", "1/2", "4"),
    ] {
        let ask = client.next_question().await;
        assert_eq!((&ask["agentName"], &ask["prompt"]), (&json!(agent), &json!(prompt)));
        client.answer(&run, agent, text).await;
    }
    assert_eq!(client.result().await, "3/4");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_names_every_enclosing_flow() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let inner = flow("Inner", "sequential", &["tool"]);
    let outer = json!({"name": "Outer", "type": "sequential", "steps": [{"agent": "a"}, inner]});
    client
        .start_strategy(
            &hub,
            &strategy(json!({"a": echo(), "tool": command("true", &[])}), outer),
            "",
        )
        .await;
    let events = client.until("strategy_error").await;
    let error = events.last().unwrap();
    assert_eq!(error["error"]["code"], "EXECUTION_ERROR");
    let message = error["error"]["message"].as_str().unwrap();
    assert!(
        message.starts_with("Step \"Inner\" failed: Step \"tool\" failed: "),
        "{message}"
    );
    assert!(
        error["requestId"].is_string(),
        "a failure belongs to its start: {error}"
    );
    assert_eq!(
        events.of_kind("step_completed").len(),
        1,
        "only completed steps: {events:#?}"
    );
    client.expect_silence().await;
}

/// Five rounds turn one letter into a million; further rounds are refused.
#[tokio::test(flavor = "multi_thread")]
async fn a_text_that_outgrows_the_limit_fails_the_step() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let agents = json!({"more": template(&"{{input}}".repeat(16))});
    client
        .start_strategy(&hub, &cycle(agents, &["more"], json!({"cycles": 100_000})), "x")
        .await;
    let (code, message) = client.failure().await;
    assert_eq!(code, "EXECUTION_ERROR");
    assert!(
        message.starts_with("Step \"more\" failed: ") && message.len() < 500,
        "{message}"
    );
    hub.owner.healthy().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_may_appear_in_many_steps() {
    let agents = json!({"a": template("{{input}}!")});
    let steps = ["a"; 100];
    let (events, result) = run(&sequence(agents, &steps), "x").await;
    assert_eq!(result, format!("x{}", "!".repeat(100)));
    assert_eq!(events.of_kind("step_completed").len(), 100);
}
