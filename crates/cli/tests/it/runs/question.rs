//! A model that asks a person through the `ask_question` tool.

use serde_json::{Value, json};

use super::inbox::item_of;
use super::stage::*;
use crate::harness::*;

fn asker() -> Value {
    let mut agent = llm();
    agent["tools"] = json!(["ask_question"]);
    alone(agent)
}

async fn stage(replies: impl IntoIterator<Item = ModelReply>) -> (Model, Hub, Client) {
    let model = Model::start().await;
    model.script(replies);
    let hub = Setup::default().config(&model.config("")).start().await;
    let client = Client::connect(&hub).await;
    (model, hub, client)
}

fn response(question: &Value, text: &str) -> Value {
    let id = &question["requestId"];
    json!({"type": "question_response", "runId": question["runId"], "questionRequestId": id, "response": text})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_models_question_is_sent_and_the_answer_is_the_tool_result() {
    let (model, hub, mut client) = stage([calls(&[("call_1", "Which colour?")]), says(&["Blue", " it is."])]).await;
    let run = client.start_strategy(&hub, &asker(), "Paint the door.").await;
    let before = client.until("request_question").await;
    let called = before
        .iter()
        .find(|event| event["event"]["type"] == "tool-call")
        .expect("the call is streamed");
    assert_eq!(called["event"]["toolCallId"], "call_1");
    assert_eq!(called["event"]["toolName"], "ask_question");
    let args: Value = serde_json::from_str(called["event"]["args"].as_str().expect("text")).expect("JSON");
    assert_eq!(args, json!({"question": "Which colour?"}));
    let question = before.last().unwrap();
    let mut frame = question.clone();
    for member in ["ts", "seq", "requestId"] {
        frame.as_object_mut().unwrap().remove(member);
    }
    let expected = json!({
        "type": "request_question", "runId": run, "agentName": "worker", "toolName": "ask_question",
        "question": "Which colour?",
    });
    assert_eq!(frame, expected);
    client.expect_silence().await;
    client.send(response(question, "blue")).await;
    let after = client.until("strategy_completed").await;
    let result = after
        .iter()
        .find(|event| event["event"]["type"] == "tool-result")
        .expect("the result is streamed");
    assert_eq!(result["event"]["toolCallId"], "call_1");
    assert_eq!(
        (&result["event"]["output"], &result["event"]["status"]),
        (&json!("blue"), &json!("completed"))
    );
    assert_eq!(after.last().unwrap()["result"], "Blue it is.");
    assert_eq!(
        after.last().unwrap()["usage"],
        json!({"promptTokens": 14, "completionTokens": 10}),
        "of both model calls"
    );
    let asked = model.requests(2).await;
    let tools: Vec<&Value> = asked[0].body["tools"].as_array().expect("tools").iter().collect();
    assert_eq!(tools[0]["function"]["name"], "ask_question");
    let messages = asked[1].body["messages"].as_array().expect("messages");
    let last = messages.last().unwrap();
    assert_eq!(
        (&last["role"], &last["tool_call_id"], &last["content"]),
        (&json!("tool"), &json!("call_1"), &json!("blue"))
    );
    assert_eq!(messages[messages.len() - 2]["tool_calls"][0]["id"], "call_1");
}

#[tokio::test(flavor = "multi_thread")]
async fn several_questions_wait_at_once_and_are_answered_in_any_order() {
    let questions = [
        ("call_1", "Which colour?"),
        ("call_2", "Which size?"),
        ("call_3", "Which door?"),
    ];
    let (model, hub, mut client) = stage([calls(&questions), says(&["Good."])]).await;
    client.start_strategy(&hub, &asker(), "Paint.").await;
    let mut asked = vec![];
    while asked.len() < 3 {
        let frame = client.next().await;
        if frame["type"] == "request_question" {
            asked.push(frame);
        }
    }
    let mut late = Client::connect(&hub).await;
    late.subscribe(asked[0]["runId"].as_str().unwrap()).await;
    assert_eq!(late.frames_so_far().await, asked, "all pending questions, oldest first");
    for nth in [2, 0] {
        client.send(response(&asked[nth], &format!("answer {nth}"))).await;
        client.expect_silence().await;
    }
    client
        .refused(response(&asked[2], "again"), "NO_PENDING_QUESTION")
        .await;
    late.send(response(&asked[1], "")).await;
    assert_eq!(client.result().await, "Good.");
    let messages = model.requests(2).await[1].body["messages"]
        .as_array()
        .expect("messages")
        .clone();
    let answers: Vec<(&Value, &Value)> = messages
        .iter()
        .filter(|message| message["role"] == "tool")
        .map(|m| (&m["tool_call_id"], &m["content"]))
        .collect();
    assert_eq!(
        answers,
        [
            (&json!("call_1"), &json!("answer 0")),
            (&json!("call_2"), &json!("")),
            (&json!("call_3"), &json!("answer 2")),
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_given_before_a_kill_survive_a_later_checkpoint() {
    let questions = [("call_1", "Which colour?"), ("call_2", "Which size?")];
    let (model, mut hub, mut client) = stage([calls(&questions), says(&["Good."])]).await;
    let run = client.start_strategy(&hub, &asker(), "Paint.").await;
    let mut asked = client.until("request_question").await;
    asked.extend(client.until("request_question").await);
    let asked = asked.of_kind("request_question");
    client.send(response(asked[0], "blue")).await;
    client.expect_silence().await;
    client
        .send(json!({"type": "steer_run", "runId": run, "text": "be brief"}))
        .await;
    client.expect("steer_queued").await;
    hub.kill();
    hub.restart().await;
    let mut client = Client::connect(&hub).await;
    client.subscribe(&run).await;
    let still_asked = client.expect("request_question").await;
    assert_eq!(still_asked["question"], "Which size?");
    client.send(response(&still_asked, "large")).await;
    assert_eq!(client.result().await, "Good.");
    let messages = model.requests(2).await[1].messages();
    let answers: Vec<_> = messages
        .iter()
        .filter(|(role, _)| role == "tool")
        .map(|(_, text)| text.as_str())
        .collect();
    assert_eq!(answers, ["blue", "large"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_a_free_text_in_the_inbox() {
    let (_model, hub, mut client) =
        stage([calls(&[("call_1", "Which colour?\nAny will do.")]), says(&["Good."])]).await;
    let run = client.start_strategy(&hub, &asker(), "Paint.").await;
    let question = client.until("request_question").await.pop().unwrap();
    let item = item_of(&hub, &run).await;
    assert_eq!(
        (&item["title"], &item["body"]),
        (&json!("Which colour?"), &question["question"])
    );
    assert_eq!(
        (&item["question"]["kind"], &item["source"]["ask"]),
        (&json!("text"), &json!("question"))
    );
    hub.cli(&["answer", item["id"].as_str().unwrap(), "green"]).ok();
    assert_eq!(client.result().await, "Good.");
    client.refused(response(&question, "late"), "NO_PENDING_QUESTION").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_on_the_socket_resolves_the_question_in_the_inbox() {
    let (_model, hub, mut client) = stage([calls(&[("call_1", "Which colour?")]), says(&["Good."])]).await;
    let run = client.start_strategy(&hub, &asker(), "Paint.").await;
    let question = client.until("request_question").await.pop().unwrap();
    let id = super::inbox::id_of(&hub, &run).await;
    client.send(response(&question, "blue")).await;
    client.result().await;
    let shown = hub.owner.get(&format!("/v1/inbox/{id}")).await.expect(200);
    assert_eq!(
        (&shown["status"], &shown["resolution"]["value"]),
        (&json!("answered"), &json!("blue"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_a_run_withdraws_all_its_questions() {
    let questions = [("call_1", "Which colour?"), ("call_2", "Which size?")];
    let (_model, hub, mut client) = stage([calls(&questions)]).await;
    let run = client.start_strategy(&hub, &asker(), "Paint.").await;
    let first = client.until("request_question").await.pop().unwrap();
    client.expect("request_question").await;
    client.stop(&run).await;
    assert_eq!(client.failure().await.0, "CANCELLED");
    assert_eq!(hub.owner.get("/v1/inbox").await.expect(200)["items"], json!([]));
    client.refused(response(&first, "late"), "NO_PENDING_QUESTION").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_tool_is_an_error_for_the_model() {
    let mut parts = tool_call(0, "call_1", "delete_everything", "{}").to_vec();
    parts.push(Part::Raw(
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n"
            .to_owned(),
    ));
    let (model, hub, mut client) = stage([ModelReply::Stream(parts), says(&["Sorry."])]).await;
    client.start_strategy(&hub, &asker(), "Go.").await;
    assert_eq!(client.result().await, "Sorry.");
    let messages = model.requests(2).await[1].messages();
    let (role, content) = messages.last().unwrap();
    assert_eq!(role, "tool");
    assert!(content.contains("delete_everything"), "{content}");
}

#[tokio::test(flavor = "multi_thread")]
async fn endless_questions_of_a_model_are_limited_by_max_steps() {
    let replies = (0..5)
        .map(|number| calls(&[(format!("call_{number}").as_str(), "And now?")]))
        .collect::<Vec<_>>();
    let (model, hub, mut client) = stage(replies).await;
    let mut strategy = asker();
    strategy["agents"]["worker"]["maxSteps"] = json!(2);
    client.start_strategy(&hub, &strategy, "Go.").await;
    let mut ended = None;
    for _ in 0..4 {
        let frames = loop {
            let frame = client.next().await;
            let kind = frame["type"].as_str().unwrap_or_default().to_owned();
            if ["request_question", "strategy_completed", "strategy_error"].contains(&kind.as_str()) {
                break frame;
            }
        };
        if frames["type"] == "request_question" {
            client.send(response(&frames, "go on")).await;
        } else {
            ended = Some(frames);
            break;
        }
    }
    assert!(ended.is_some(), "the run ends");
    assert!(
        model.request_count() <= 2,
        "the model was called {} times",
        model.request_count()
    );
}
