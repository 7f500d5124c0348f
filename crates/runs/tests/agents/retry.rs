use std::time::Duration;

use countersign_protocol::runs::strategy::{LlmAgent, ModelOptions};
use countersign_runs::engine::agents::{AgentOutcome, Tools};
use countersign_runs::settings::{LlmSettings, RunsSettings};
use serde_json::json;

use crate::context::TestContext;
use crate::endpoint::{Act, Model, answer, delta};
use crate::stage::{KEY, Task, llm, llm_settings};

fn refusal(status: u16, body: &str) -> Act {
    Act::Reply(status, String::new(), body.to_owned())
}

fn fine() -> Act {
    Act::Stream(answer(&["ok"]), usize::MAX)
}

async fn ask(model: &Model, settings: &LlmSettings) -> Result<AgentOutcome, String> {
    let tools = Tools::new(&RunsSettings::default(), settings).unwrap();
    Task::new(&llm(LlmAgent::default()), "?")
        .done(&tools, &mut TestContext::default())
        .await
        .inspect_err(|error| {
            assert!(
                error.starts_with(&format!("the model endpoint {}/chat/completions ", model.base_url())),
                "{error}"
            );
            assert!(!error.contains(KEY), "{error}");
        })
}

#[tokio::test]
async fn temporary_errors_are_retried() {
    let busy = Act::Reply(429, "retry-after: 0\r\n".to_owned(), "slow down".to_owned());
    for troubles in [
        vec![busy, refusal(408, "")],
        vec![refusal(500, "oops"), refusal(503, "")],
        vec![Act::HangUp],
    ] {
        let asked = troubles.len() + 1;
        let model = Model::start(troubles.into_iter().chain([fine()])).await;
        assert_eq!(ask(&model, &llm_settings(&model)).await.unwrap().text, "ok");
        assert_eq!(model.requests().len(), asked);
        assert_eq!(model.requests()[0].body, model.requests()[asked - 1].body);
    }
}

#[tokio::test]
async fn an_answer_cut_before_its_first_output_is_retried() {
    let role = format!("data: {}\n\n", delta(json!({"role": "assistant", "content": ""})));
    let half_a_call = delta(json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "ask_question"}}]}));
    for begun in [
        String::new(),
        role,
        format!("data: {half_a_call}\n\n"),
        "data: {\"choi".to_owned(),
    ] {
        let model = Model::start([Act::Break(begun), fine()]).await;
        assert_eq!(ask(&model, &llm_settings(&model)).await.unwrap().text, "ok");
    }
}

#[tokio::test]
async fn an_answer_cut_after_its_first_output_is_not_retried() {
    let model = Model::start([Act::Break(format!("data: {}\n\n", delta(json!({"content": "a"}))))]).await;
    let error = ask(&model, &llm_settings(&model)).await.unwrap_err();
    assert!(
        error.contains("closed the connection in the middle of its answer"),
        "{error}"
    );
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test]
async fn retries_are_bounded_and_the_last_error_is_reported() {
    let model = Model::start(["one", "two", "three"].map(|body| refusal(502, body))).await;
    let error = ask(&model, &llm_settings(&model)).await.unwrap_err();
    assert!(error.contains("answered 502 Bad Gateway: three (attempt 3)"), "{error}");
}

#[tokio::test]
async fn an_agent_may_set_the_number_of_retries() {
    let model = Model::start([refusal(500, "one")]).await;
    let tools = Tools::new(&RunsSettings::default(), &llm_settings(&model)).unwrap();
    let model_options = ModelOptions {
        max_retries: Some(0),
        ..ModelOptions::default()
    };
    let agent = llm(LlmAgent {
        model_options,
        ..LlmAgent::default()
    });
    let error = Task::new(&agent, "?")
        .done(&tools, &mut TestContext::default())
        .await
        .unwrap_err();
    assert!(error.ends_with("answered 500 Internal Server Error: one"), "{error}");
}

#[tokio::test]
async fn a_long_retry_after_is_not_retried() {
    let model = Model::start([Act::Reply(429, "retry-after: 3600\r\n".to_owned(), "quota".to_owned())]).await;
    let error = ask(&model, &llm_settings(&model)).await.unwrap_err();
    assert!(error.ends_with("answered 429 Too Many Requests: quota"), "{error}");
}

#[tokio::test]
async fn a_pause_beyond_the_timeout_is_not_started() {
    let model = Model::start([Act::Reply(503, "retry-after: 50\r\n".to_owned(), "soon".to_owned())]).await;
    let settings = LlmSettings {
        timeout: Duration::from_secs(20),
        ..llm_settings(&model)
    };
    let error = ask(&model, &settings).await.unwrap_err();
    assert!(error.ends_with("answered 503 Service Unavailable: soon"), "{error}");
}

#[tokio::test]
async fn permanent_errors_are_not_retried() {
    for (status, expected) in [
        (400, "400 Bad Request"),
        (401, "401 Unauthorized"),
        (404, "404 Not Found"),
    ] {
        let model = Model::start([refusal(status, "{\"error\": {\n \"message\": \"no\"}}")]).await;
        let error = ask(&model, &llm_settings(&model)).await.unwrap_err();
        assert!(
            error.ends_with(&format!("answered {expected}: {{\"error\": {{ \"message\": \"no\"}}}}")),
            "{error}"
        );
    }
}
