use countersign_protocol::runs::strategy::LlmAgent;
use countersign_protocol::runs::{ChatMessage, ContextUsage, Record, StreamEvent, Usage};
use countersign_protocol::time::Timestamp;
use countersign_runs::engine::agents::Tools;
use countersign_runs::settings::{ApiKey, Endpoint, LlmSettings, RunsSettings};
use serde_json::json;

use crate::context::TestContext;
use crate::endpoint::{Act, Model, answer, delta, events, finish, word};
use crate::stage::{KEY, Task, llm, llm_settings, tools};

fn text(text: &str) -> StreamEvent {
    StreamEvent::Text { text: text.to_owned() }
}

#[tokio::test]
async fn text_is_streamed_for_every_split_of_the_bytes() {
    let stream = format!(": hello\r\n\r\n{}", answer(&["The ", "sea ", "cömes \n\"and\" goes"]));
    for size in [1, 2, 7, usize::MAX] {
        let model = Model::start([Act::Stream(stream.clone(), size)]).await;
        let mut context = TestContext::default();
        let done = Task::new(&llm(LlmAgent::default()), "tides")
            .done(&tools(&model), &mut context)
            .await
            .unwrap();
        assert_eq!(done.text, "The sea cömes \n\"and\" goes");
        assert_eq!(
            done.usage,
            Usage {
                prompt_tokens: 3,
                completion_tokens: 2
            }
        );
        let context_usage = ContextUsage {
            total_tokens: 5,
            input_tokens: Some(3),
            output_tokens: Some(2),
        };
        assert_eq!(done.context_usage, Some(context_usage));
        assert_eq!(done.finish_reason, "stop");
        assert_eq!(done.model.as_deref(), Some("tiny"));
        assert_eq!(done.responses, [("assistant".to_owned(), done.text)]);
        let expected = [
            StreamEvent::StepStart,
            text("The "),
            text("sea "),
            text("cömes \n\"and\" goes"),
        ];
        assert_eq!(context.events, expected);
    }
}

#[tokio::test]
async fn the_request_has_the_key_and_asks_for_a_stream() {
    let model = Model::start([Act::Stream(answer(&["ok"]), usize::MAX)]).await;
    let agent = llm(LlmAgent {
        system_prompt: Some("Be brief.".to_owned()),
        ..LlmAgent::default()
    });
    Task::new(&agent, "tides")
        .done(&tools(&model), &mut TestContext::default())
        .await
        .unwrap();
    let [request] = &model.requests()[..] else {
        panic!("one request")
    };
    assert_eq!(request.line, "POST /v1/chat/completions HTTP/1.1");
    assert_eq!(request.headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(request.headers["content-type"], "application/json");
    let expected = json!({
        "model": "tiny",
        "stream": true,
        "stream_options": {"include_usage": true},
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "tides"}],
    });
    assert_eq!(request.body, expected);
}

#[tokio::test]
async fn a_model_gets_its_earlier_records_of_this_run() {
    let model = Model::start([Act::Stream(answer(&["ok"]), usize::MAX)]).await;
    let earlier = [Record {
        id: "r-1".to_owned(),
        agent_name: "writer".to_owned(),
        created_at: Timestamp::from_millis(0),
        user_message: ChatMessage::user("before"),
        response_messages: vec![],
        text: "said".to_owned(),
        usage: Usage::default(),
        context_usage: None,
        finish_reason: "stop".to_owned(),
    }];
    let agent = llm(LlmAgent::default());
    let task = Task {
        earlier: &earlier,
        model_override: Some("big"),
        ..Task::new(&agent, "now")
    };
    let done = task.done(&tools(&model), &mut TestContext::default()).await.unwrap();
    assert_eq!(done.model.as_deref(), Some("big"));
    let body = &model.requests()[0].body;
    assert_eq!(body["model"], "big");
    let expected = json!([
        {"role": "user", "content": "before"},
        {"role": "assistant", "content": "said"},
        {"role": "user", "content": "now"},
    ]);
    assert_eq!(body["messages"], expected);
}

#[tokio::test]
async fn a_named_provider_gets_its_models_under_their_own_name_and_no_other_key() {
    let usual = Model::start([]).await;
    let other = Model::start([Act::Stream(answer(&["ok"]), usize::MAX)]).await;
    let mut settings = llm_settings(&usual);
    let endpoint = Endpoint {
        base_url: format!("{}/", other.base_url()).parse().unwrap(),
        key: ApiKey::None,
    };
    settings.providers.insert("local".to_owned(), endpoint);
    let tools = Tools::new(&RunsSettings::default(), &settings).unwrap();
    let agent = llm(LlmAgent {
        model: Some("local/qwen/3".to_owned()),
        ..LlmAgent::default()
    });
    let done = Task::new(&agent, "hi")
        .done(&tools, &mut TestContext::default())
        .await
        .unwrap();
    assert_eq!(done.model.as_deref(), Some("local/qwen/3"));
    let request = &other.requests()[0];
    assert_eq!(request.body["model"], "qwen/3");
    assert_eq!(request.headers.get("authorization"), None);
    assert!(usual.requests().is_empty());
}

#[tokio::test]
async fn reasoning_is_separate_from_text() {
    let thought = |text| delta(json!({"reasoning_content": text, "content": null}));
    let stream = events([
        thought("hm"),
        thought("m"),
        word("So: "),
        delta(json!({"reasoning": "wait"})),
        word("42"),
        finish("stop"),
    ]);
    let model = Model::start([Act::Stream(stream, 1)]).await;
    let mut context = TestContext::default();
    let done = Task::new(&llm(LlmAgent::default()), "?")
        .done(&tools(&model), &mut context)
        .await
        .unwrap();
    assert_eq!(done.text, "So: 42");
    let id = |n: u32| format!("thinking-0-{n}");
    let thinking = |n, text: &str| StreamEvent::Thinking {
        id: id(n),
        text: text.to_owned(),
    };
    let expected = [
        StreamEvent::StepStart,
        StreamEvent::ThinkingStart { id: id(0) },
        thinking(0, "hm"),
        thinking(0, "m"),
        StreamEvent::ThinkingEnd { id: id(0) },
        text("So: "),
        StreamEvent::ThinkingStart { id: id(1) },
        thinking(1, "wait"),
        StreamEvent::ThinkingEnd { id: id(1) },
        text("42"),
    ];
    assert_eq!(context.events, expected);
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_understood() {
    let body = json!({
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "whole"}, "finish_reason": "length"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 4},
    });
    let reply = Act::Reply(
        200,
        "content-type: application/json; charset=utf-8\r\n".to_owned(),
        body.to_string(),
    );
    let model = Model::start([reply]).await;
    let mut context = TestContext::default();
    let done = Task::new(&llm(LlmAgent::default()), "?")
        .done(&tools(&model), &mut context)
        .await
        .unwrap();
    assert_eq!((done.text.as_str(), done.finish_reason.as_str()), ("whole", "length"));
    assert_eq!(
        done.usage,
        Usage {
            prompt_tokens: 1,
            completion_tokens: 4
        }
    );
    assert_eq!(context.text(), "whole");
}

#[tokio::test]
async fn an_answer_may_end_without_the_done_marker() {
    let without_mark = answer(&["a", "b"]).replace("data: [DONE]\n\n", "");
    let without_line = answer(&["a", "b"]).trim_end().to_owned();
    for stream in [without_mark, without_line] {
        let model = Model::start([Act::Stream(stream, usize::MAX)]).await;
        let done = Task::new(&llm(LlmAgent::default()), "?")
            .done(&tools(&model), &mut TestContext::default())
            .await;
        assert_eq!(done.unwrap().text, "ab");
    }
}

#[tokio::test]
async fn a_missing_endpoint_error_names_the_settings() {
    let tools = Tools::new(&RunsSettings::default(), &LlmSettings::default()).unwrap();
    let agent = llm(LlmAgent::default());
    let error = Task::new(&agent, "?")
        .done(&tools, &mut TestContext::default())
        .await
        .unwrap_err();
    for part in ["\"tiny\"", "base_url", "api_key_env", "[llm]", "[llm.providers.NAME]"] {
        assert!(error.contains(part), "{error}");
    }
}
