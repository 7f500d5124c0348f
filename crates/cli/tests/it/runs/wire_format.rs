//! The wire format, frame by frame.

use serde_json::{Value, json};

use super::stage::*;
use crate::harness::*;

const NO_USAGE: [(&str, u64); 2] = [("promptTokens", 0), ("completionTokens", 0)];

fn no_usage() -> Value {
    NO_USAGE
        .iter()
        .map(|(name, count)| ((*name).to_owned(), json!(count)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// Asserts that the frame has exactly these members besides the ones every event has.
#[track_caller]
fn assert_members(frame: &Value, expected: Value) {
    let mut members = frame.clone();
    for common in ["runId", "seq", "ts", "requestId"] {
        assert!(
            members.as_object_mut().expect("an object").remove(common).is_some(),
            "{common}: {frame}"
        );
    }
    assert_eq!(members, expected);
}

/// A person, then an agent: every frame from start to end.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_with_a_person_sends_exactly_these_frames() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let strategy = talk();
    let names = json!(["user", "assistant"]);
    let path = strategy_file(&hub, &strategy);
    let prepared = client
        .call(json!({"type": "prepare_run", "strategyPath": path}), "run_prepared")
        .await;
    let run = prepared["runId"].as_str().expect("a run id");
    assert!(
        uuid::Uuid::parse_str(run).is_ok_and(|id| id.get_version_num() == 4),
        "{run}"
    );
    let mut reply = prepared.clone();
    for member in ["runId", "ts", "requestId"] {
        reply.as_object_mut().expect("an object").remove(member);
    }
    let empty = json!({"records": [], "retentionEvents": [], "inputs": []});
    assert_eq!(
        reply,
        json!({
            "type": "run_prepared", "strategyName": "Test strategy", "agents": names, "flowTree": strategy["flow"],
            "conversation": empty, "mcpServers": [],
        })
    );
    client
        .send(json!({"type": "start_run", "runId": run, "requestId": "s1"}))
        .await;
    let started = client.expect("strategy_started").await;
    let own = json!({"type": "strategy_started", "strategyName": "Test strategy", "agents": names, "flowTree": strategy["flow"]});
    assert_members(&started, own);
    assert_members(
        &client.next().await,
        json!({"type": "step_started", "stepName": "user", "message": ""}),
    );
    let ask = client.expect("request_input").await;
    let input_id = ask["inputId"].as_str().expect("an input id");
    assert!(uuid::Uuid::parse_str(input_id).is_ok(), "{ask}");
    assert_members(
        &ask,
        json!({"type": "request_input", "agentName": "user", "inputId": input_id}),
    );
    client.expect_silence().await;
    client
        .send(json!({"type": "user_input", "runId": run, "agentName": "user", "text": "T", "requestId": "u1"}))
        .await;
    let rest = client.until("strategy_completed").await;
    let result = json!({"text": "T", "usage": no_usage(), "finishReason": "stop"});
    assert_members(
        &rest[0],
        json!({"type": "step_completed", "stepName": "user", "result": result}),
    );
    assert_members(
        &rest[1],
        json!({"type": "step_started", "stepName": "assistant", "message": "T"}),
    );
    let text = json!({"type": "agent_output", "agentName": "assistant", "text": "T", "usage": no_usage()});
    assert_members(&rest[2], text);
    let event = json!({"type": "done", "result": result});
    assert_members(
        &rest[3],
        json!({"type": "agent_streaming", "agentName": "assistant", "event": event}),
    );
    assert_members(
        &rest[4],
        json!({"type": "step_completed", "stepName": "assistant", "result": result}),
    );
    assert_members(
        &rest[5],
        json!({"type": "strategy_completed", "result": "T", "usage": no_usage()}),
    );
    assert_eq!(rest.len(), 6, "{rest:#?}");
    client.expect_silence().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn events_are_numbered_from_one_without_gaps_and_echo_the_request_id() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.prepare(&strategy_file(&hub, &talk())).await;
    client
        .send(json!({"type": "start_run", "runId": run, "requestId": "s1"}))
        .await;
    let mut events = client.until("request_input").await;
    client.answer(&run, "user", "hello").await;
    events.extend(client.until("strategy_completed").await);
    assert_eq!(seqs(&events), (1..=events.len() as u64).collect::<Vec<_>>());
    assert!(events.iter().all(|event| event["requestId"] == "s1"), "{events:#?}");
    let timestamps: Vec<&str> = events.iter().map(|event| event["ts"].as_str().unwrap()).collect();
    assert!(timestamps.is_sorted(), "{timestamps:?}");
    client
        .call(json!({"type": "prepare_run", "runId": run}), "run_prepared")
        .await;
    client
        .send(json!({"type": "continue_run", "runId": run, "input": "more", "requestId": "c1"}))
        .await;
    let more = client.until("strategy_completed").await;
    assert_eq!(seq(&more[0]), events.len() as u64 + 1, "seqs continue across segments");
    assert!(more.iter().all(|event| event["requestId"] == "c1"), "{more:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_without_a_request_id_puts_none_on_its_events() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.prepare(&strategy_file(&hub, &talk())).await;
    client
        .send(json!({"type": "start_run", "runId": run, "input": "hello"}))
        .await;
    let events = client.until("strategy_completed").await;
    assert!(
        events.iter().all(|event| event.get("requestId").is_none()),
        "{events:#?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_has_no_agent_output_and_streams_nothing() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let agents = json!({"first": person(), "second": person_with(json!({"requireInput": false})), "third": person()});
    let run = client
        .start_strategy(&hub, &sequence(agents, &["first", "second", "third"]), "")
        .await;
    client.next_question().await;
    client.answer(&run, "first", "one").await;
    let mut events = client.until("request_input").await;
    client.answer(&run, "third", "three").await;
    events.extend(client.until("strategy_completed").await);
    assert!(
        events.of_kind("agent_output").is_empty() && events.of_kind("agent_streaming").is_empty(),
        "{events:#?}"
    );
    let steps: Vec<&Value> = events
        .of_kind("step_completed")
        .iter()
        .map(|event| &event["result"]["text"])
        .collect();
    assert_eq!(steps, ["one", "one", "three"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn all_subscribers_get_the_same_events_in_the_same_order() {
    let hub = Hub::start().await;
    let mut starter = Client::connect(&hub).await;
    let run = starter.prepare(&strategy_file(&hub, &talk())).await;
    let mut others = [
        Client::connect(&hub).await,
        Client::connect(&hub).await,
        Client::connect(&hub).await,
    ];
    for other in &mut others {
        other.subscribe(&run).await;
        other.expect_silence().await;
    }
    starter
        .send(json!({"type": "start_run", "runId": run, "requestId": "s1"}))
        .await;
    let mut events = starter.until("request_input").await;
    starter.answer(&run, "user", "hello").await;
    events.extend(starter.until("strategy_completed").await);
    for other in &mut others {
        assert_eq!(other.until("strategy_completed").await, events);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn starting_a_run_subscribes_the_starter() {
    let hub = Hub::start().await;
    let mut preparer = Client::connect(&hub).await;
    let run = preparer.prepare(&strategy_file(&hub, &talk())).await;
    preparer.unsubscribe(&run).await;
    let mut starter = Client::connect(&hub).await;
    starter.start(&run, "").await;
    starter.next_question().await;
    preparer.expect_silence().await;
    starter.answer(&run, "user", "hello").await;
    assert_eq!(starter.result().await, "hello");
}
