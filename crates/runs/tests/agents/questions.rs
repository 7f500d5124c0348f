use std::pin::pin;

use countersign_protocol::runs::strategy::LlmAgent;
use countersign_protocol::runs::{StreamEvent, ToolStatus, Usage};
use countersign_runs::engine::agents::Resumed;
use serde_json::{Value, json};

use crate::context::TestContext;
use crate::endpoint::{Act, Model, answer, calls};
use crate::stage::{Task, asker, llm, tools};

const TWO: [(&str, &str, &str); 2] = [
    ("a", "ask_question", r#"{"question": "Which sea?"}"#),
    ("b", "ask_question", r#"{"question": "How löng?"}"#),
];

#[tokio::test]
async fn questions_go_to_people_at_once_and_their_answers_to_the_model() {
    for size in [1, usize::MAX] {
        let model = Model::start([Act::Stream(calls(&TWO), size), Act::Stream(answer(&["Fine."]), size)]).await;
        let mut context = TestContext::answering(&[&["North", ""]]);
        let done = Task::new(&asker(), "write")
            .done(&tools(&model), &mut context)
            .await
            .unwrap();
        assert_eq!(done.text, "Fine.");
        assert_eq!(
            done.usage,
            Usage {
                prompt_tokens: 13,
                completion_tokens: 7
            }
        );
        let responses = [("tool", "North"), ("tool", ""), ("assistant", "Fine.")];
        assert_eq!(
            done.responses,
            responses.map(|(role, text)| (role.to_owned(), text.to_owned()))
        );
        assert_eq!(context.asked.len(), 1, "asked together");
        assert_eq!(context.questions(), ["Which sea?", "How löng?"]);

        let second = &model.requests()[1].body;
        let call = |(id, name, arguments): (&str, &str, &str)| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
        let expected = json!([
            {"role": "user", "content": "write"},
            {"role": "assistant", "content": null, "tool_calls": TWO.map(call)},
            {"role": "tool", "tool_call_id": "a", "content": "North"},
            {"role": "tool", "tool_call_id": "b", "content": ""},
        ]);
        assert_eq!(second["messages"], expected);
        assert_eq!(second["tools"][0]["function"]["name"], "ask_question");
    }
}

#[tokio::test]
async fn followers_see_tool_calls_and_results() {
    let model = Model::start([Act::Stream(calls(&TWO[..1]), 9), Act::Stream(answer(&["Fine."]), 9)]).await;
    let mut context = TestContext::answering(&[&["North"]]);
    Task::new(&asker(), "write")
        .done(&tools(&model), &mut context)
        .await
        .unwrap();
    let id = "a".to_owned();
    let name = "ask_question".to_owned();
    let args = r#"{"question": "Which sea?"}"#.to_owned();
    let expected = [
        StreamEvent::StepStart,
        StreamEvent::ToolCall {
            tool_call_id: id.clone(),
            tool_name: name.clone(),
            args,
        },
        StreamEvent::ToolResult {
            tool_call_id: id,
            tool_name: name,
            output: "North".to_owned(),
            status: ToolStatus::Completed,
            error: None,
        },
        StreamEvent::StepStart,
        StreamEvent::Text {
            text: "Fine.".to_owned(),
        },
    ];
    assert_eq!(context.events, expected);
}

#[tokio::test]
async fn a_conversation_resumes_after_a_restart() {
    let model = Model::start([Act::Stream(calls(&TWO), 9), Act::Stream(answer(&["Fine."]), 9)]).await;
    let agent = asker();
    let mut before = TestContext::default();
    let cut = Task::new(&agent, "write")
        .done(&tools(&model), &mut before)
        .await
        .unwrap_err();
    assert_eq!(cut, "no answer in time");

    // The stored state goes through JSON text.
    let state: Value = serde_json::from_str(&before.asked[0].1.to_string()).unwrap();
    let resumed = Some(Resumed {
        state,
        answers: vec!["North".to_owned(), "long".to_owned()],
    });
    let mut after = TestContext::default();
    let done = Task {
        resumed,
        ..Task::new(&agent, "write")
    }
    .done(&tools(&model), &mut after)
    .await
    .unwrap();
    assert_eq!(done.text, "Fine.");
    assert_eq!(
        done.usage,
        Usage {
            prompt_tokens: 13,
            completion_tokens: 7
        }
    );
    assert_eq!(done.responses.len(), 3);
    assert!(after.asked.is_empty(), "nobody is asked twice");
    let messages = &model.requests()[1].body["messages"];
    assert_eq!(
        messages[2],
        json!({"role": "tool", "tool_call_id": "a", "content": "North"})
    );
    assert_eq!(
        messages[3],
        json!({"role": "tool", "tool_call_id": "b", "content": "long"})
    );
}

#[tokio::test]
async fn a_wrong_number_of_answers_is_refused() {
    let model = Model::start([]).await;
    let agent = asker();
    for state in [json!({}), json!({"talk": 1}), Value::Null] {
        let resumed = Some(Resumed {
            state,
            answers: vec!["North".to_owned()],
        });
        let task = Task {
            resumed,
            ..Task::new(&agent, "write")
        };
        let error = task
            .done(&tools(&model), &mut TestContext::default())
            .await
            .unwrap_err();
        assert!(error.contains("cannot be read"), "{error}");
    }
    assert!(model.requests().is_empty());
}

#[tokio::test]
async fn an_invalid_call_gets_an_error_for_the_model() {
    let wrong = [
        ("a", "rm_rf", "{}"),
        ("b", "ask_question", "{oops"),
        ("c", "ask_question", r#"{"question": " "}"#),
        ("d", "ask_question", r#"{"q": "x"}"#),
    ];
    let model = Model::start([Act::Stream(calls(&wrong), 9), Act::Stream(answer(&["Sorry."]), 9)]).await;
    let mut context = TestContext::default();
    let done = Task::new(&asker(), "write")
        .done(&tools(&model), &mut context)
        .await
        .unwrap();
    assert_eq!(done.text, "Sorry.");
    assert!(context.asked.is_empty());
    let messages = &model.requests()[1].body["messages"];
    for (number, part) in ["no tool \"rm_rf\"", "not valid JSON", "empty", "missing"]
        .iter()
        .enumerate()
    {
        let content = messages[number + 2]["content"].as_str().unwrap();
        assert!(content.starts_with("Error: ") && content.contains(part), "{content}");
    }
    // Invalid arguments are not sent back to the endpoint.
    assert_eq!(messages[1]["tool_calls"][1]["function"]["arguments"], "{}");
}

#[tokio::test]
async fn an_agent_without_the_tool_cannot_ask() {
    let model = Model::start([Act::Stream(calls(&TWO), 9), Act::Stream(answer(&["ok"]), 9)]).await;
    let mut context = TestContext::answering(&[&["North", "long"]]);
    Task::new(&llm(LlmAgent::default()), "write")
        .done(&tools(&model), &mut context)
        .await
        .unwrap();
    assert!(context.asked.is_empty());
}

#[tokio::test]
async fn the_number_of_rounds_is_bounded() {
    let agent = llm(LlmAgent {
        tools: vec!["ask_question".to_owned()],
        max_steps: Some(2),
        ..LlmAgent::default()
    });
    let model = Model::start([Act::Stream(calls(&TWO), 9), Act::Stream(calls(&TWO), 9)]).await;
    let mut context = TestContext::answering(&[&["North", "long"]]);
    let error = Task::new(&agent, "write")
        .done(&tools(&model), &mut context)
        .await
        .unwrap_err();
    assert!(error.contains("round 2 of 2") && error.contains("maxSteps"), "{error}");
    assert_eq!(context.asked.len(), 1, "nobody is asked what the model will not hear");
    let requests = model.requests();
    assert_eq!(requests[0].body.get("tool_choice"), None);
    assert_eq!(requests[1].body["tool_choice"], "none");
}

#[tokio::test]
async fn a_stopped_agent_closes_its_connection() {
    let model = Model::start([Act::Stall(
        answer(&["a"]).replace("data: [DONE]", "").replace("stop", ""),
    )])
    .await;
    let agent = llm(LlmAgent::default());
    let tools = tools(&model);
    let mut context = TestContext::default();
    let mut events = context.listen();
    {
        let mut work = pin!(Task::new(&agent, "write").done(&tools, &mut context));
        tokio::select! {
            done = &mut work => panic!("{done:?}"),
            () = async {
                assert_eq!(events.recv().await, Some(StreamEvent::StepStart));
                assert_eq!(events.recv().await, Some(StreamEvent::Text { text: "a".to_owned() }));
            } => {}
        }
    }
    model
        .until("the connection to be closed", |seen| seen.cut_off == 1)
        .await;
}

#[tokio::test]
async fn more_rounds_are_not_advised_for_an_unavailable_tool() {
    let wrong = calls(&[("a", "rm\u{1b}_rf", "{}")]);
    for tools_given in [vec![], vec!["ask_question".to_owned()]] {
        let agent = llm(LlmAgent {
            tools: tools_given,
            max_steps: Some(2),
            ..LlmAgent::default()
        });
        let model = Model::start([Act::Stream(wrong.clone(), 9), Act::Stream(wrong.clone(), 9)]).await;
        let error = Task::new(&agent, "write")
            .done(&tools(&model), &mut TestContext::default())
            .await
            .unwrap_err();
        assert_eq!(
            error,
            "the model called \"rm _rf\" in round 2 of 2, a tool it was not given"
        );
    }
}
