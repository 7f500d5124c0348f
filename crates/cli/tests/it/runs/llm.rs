//! A model's work as its followers see it.

use serde_json::{Value, json};

use super::stage::*;
use crate::harness::*;

async fn stage(replies: impl IntoIterator<Item = ModelReply>) -> (Model, Hub, Client) {
    let model = Model::start().await;
    model.script(replies);
    let hub = Setup::default().config(&model.config("")).start().await;
    let client = Client::connect(&hub).await;
    (model, hub, client)
}

fn streamed(events: &[Value]) -> Vec<&str> {
    events
        .of_kind("agent_streaming")
        .iter()
        .map(|event| event["event"]["type"].as_str().unwrap())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_reply_is_streamed_then_output_then_done() {
    let (_model, hub, mut client) = stage([says(&["Hel", "lo, ", "wörld \u{1F600}"])]).await;
    let run = client.prepare(&strategy_file(&hub, &alone(llm()))).await;
    client
        .send(json!({"type": "start_run", "runId": run, "input": "Hi.", "requestId": "s"}))
        .await;
    let events = client.until("strategy_completed").await;
    let kinds = events.kinds();
    assert_eq!(kinds[..2], ["strategy_started", "step_started"]);
    let output = kinds
        .iter()
        .position(|kind| *kind == "agent_output")
        .expect("an agent_output");
    assert_eq!(
        kinds[output..],
        [
            "agent_output",
            "agent_streaming",
            "step_completed",
            "strategy_completed"
        ]
    );
    assert!(
        kinds[2..output].iter().all(|kind| *kind == "agent_streaming"),
        "{kinds:?}"
    );
    assert_eq!(streamed(&events).first(), Some(&"step-start"));
    assert_eq!(streamed(&events).last(), Some(&"done"));
    let text: String = events
        .iter()
        .filter(|event| event["event"]["type"] == "text")
        .map(|event| event["event"]["text"].as_str().expect("text"))
        .collect();
    assert_eq!(text, "Hello, wörld \u{1F600}");
    let usage = json!({"promptTokens": 7, "completionTokens": 5});
    let context_usage = json!({"totalTokens": 12, "inputTokens": 7, "outputTokens": 5});
    let result = json!({"text": text, "usage": usage, "contextUsage": context_usage, "finishReason": "stop"});
    assert_eq!(events[output]["text"], json!(text));
    assert_eq!(
        (&events[output]["usage"], &events[output]["model"]),
        (&usage, &json!("test-model"))
    );
    assert_eq!(events[output]["contextUsage"], context_usage);
    assert_eq!(events[output + 1]["event"]["result"], result);
    assert_eq!(events[output + 2]["result"], result);
    assert_eq!(
        (&events[output + 3]["result"], &events[output + 3]["usage"]),
        (&json!(text), &usage)
    );
    for event in events.of_kind("agent_streaming") {
        assert_eq!(
            (&event["agentName"], &event["model"]),
            (&json!("worker"), &json!("test-model")),
            "{event}"
        );
        assert_eq!(event["requestId"], "s");
    }
    assert_eq!(seqs(&events), (1..=events.len() as u64).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn text_is_streamed_before_the_model_finishes() {
    let gate = Gate::shut();
    let ModelReply::Stream(mut parts) = says(&["first", "second"]) else {
        unreachable!()
    };
    parts.insert(2, Part::Hold(gate.clone()));
    let (_model, hub, mut client) = stage([ModelReply::Stream(parts)]).await;
    client.start_strategy(&hub, &alone(llm()), "Hi.").await;
    loop {
        let event = client.next().await;
        assert_ne!(event["type"], "agent_output", "the model has not finished");
        if event["event"]["text"] == "first" {
            break;
        }
    }
    gate.open();
    assert_eq!(client.result().await, "firstsecond");
}

#[tokio::test(flavor = "multi_thread")]
async fn usage_adds_up_over_the_steps() {
    let (_model, hub, mut client) = stage([]).await;
    let strategy = cycle(json!({"a": llm(), "b": echo()}), &["a", "b"], json!({"cycles": 3}));
    client.start_strategy(&hub, &strategy, "Hi.").await;
    let events = client.until("strategy_completed").await;
    assert_eq!(
        events.last().unwrap()["usage"],
        json!({"promptTokens": 21, "completionTokens": 15})
    );
    let steps: Vec<&Value> = events
        .of_kind("step_completed")
        .iter()
        .map(|event| &event["result"]["usage"]["promptTokens"])
        .collect();
    assert_eq!(steps, [7, 0, 7, 0, 7, 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn usage_of_an_observer_is_not_counted() {
    let (_model, hub, mut client) = stage([says(&["text"]), says(&["done"])]).await;
    let more = json!({"observer": "judge", "cycles": 3});
    client
        .start_strategy(&hub, &cycle(json!({"a": llm(), "judge": llm()}), &["a"], more), "Hi.")
        .await;
    let events = client.until("strategy_completed").await;
    assert_eq!(
        events.last().unwrap()["usage"],
        json!({"promptTokens": 7, "completionTokens": 5})
    );
    assert_eq!(events.last().unwrap()["result"], "text");
    assert_eq!(
        events.of_kind("agent_output").len(),
        2,
        "the observer's output is still reported"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn another_finish_reason_is_reported() {
    let ModelReply::Stream(mut parts) = says(&["cut sho"]) else {
        unreachable!()
    };
    parts[2] = Part::Chunk(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]}));
    let (_model, hub, mut client) = stage([ModelReply::Stream(parts)]).await;
    client.start_strategy(&hub, &alone(llm()), "Hi.").await;
    let events = client.until("strategy_completed").await;
    assert_eq!(events.of_kind("step_completed")[0]["result"]["finishReason"], "length");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_reply_without_usage_is_valid() {
    let parts = vec![
        Part::Raw(": a comment\r\n\r\n".to_owned()),
        Part::Raw(
            "event: x\r\ndata: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\r\n\r\n"
                .to_owned(),
        ),
        Part::Raw("data: [DONE]\r\n\r\n".to_owned()),
    ];
    let (_model, hub, mut client) = stage([ModelReply::Stream(parts)]).await;
    client.start_strategy(&hub, &alone(llm()), "Hi.").await;
    let events = client.until("strategy_completed").await;
    let end = events.last().unwrap();
    assert_eq!(
        (&end["result"], &end["usage"]),
        (&json!(""), &json!({"promptTokens": 0, "completionTokens": 0}))
    );
    assert!(events.of_kind("agent_output")[0].get("contextUsage").is_none());
    assert!(
        events.of_kind("step_completed")[0]["result"]
            .get("contextUsage")
            .is_none()
    );
}

/// TCP chunks may split anywhere, even inside a character.
#[tokio::test(flavor = "multi_thread")]
async fn a_fragmented_stream_is_reassembled() {
    let chunk = json!({"choices": [{"index": 0, "delta": {"content": "grüße"}, "finish_reason": null}]}).to_string();
    let (head, tail) = chunk.split_at(chunk.find("grüße").unwrap() + 2);
    let parts = vec![
        Part::Raw("da".to_owned()),
        Part::Raw(format!("ta: {head}")),
        Part::Raw(format!("{tail}\n")),
        Part::Raw("\n".to_owned()),
        Part::Raw("data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n".to_owned()),
        Part::Raw("data: [DO".to_owned()),
        Part::Raw("NE]\n\n".to_owned()),
    ];
    let (_model, hub, mut client) = stage([ModelReply::Stream(parts)]).await;
    client.start_strategy(&hub, &alone(llm()), "Hi.").await;
    assert_eq!(client.result().await, "grüße");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_subscriber_gets_all_durable_events_even_after_a_restart() {
    let (_model, mut hub, mut client) = stage([says(&["one ", "two"])]).await;
    let run = client.start_strategy(&hub, &alone(llm()), "Hi.").await;
    let log = client.until("strategy_completed").await;
    let durable = |events: &[Value]| -> Vec<Value> {
        let is_durable = |event: &&Value| event["type"] != "agent_streaming" || event["event"]["type"] == "done";
        events.iter().filter(is_durable).cloned().collect()
    };
    for _ in 0..2 {
        let mut late = Client::connect(&hub).await;
        late.subscribe_after(&run, 1).await;
        assert_eq!(durable(&late.frames_so_far().await), durable(&log));
        hub.kill();
        hub.restart().await;
    }
    let mut client = Client::connect(&hub).await;
    client.continue_run(&run, "again").await;
    let more = client.until("strategy_completed").await;
    assert!(seqs(&more)[0] > seq(log.last().unwrap()), "no seq is reused");
}
