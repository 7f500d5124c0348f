use std::time::Duration;

use countersign_protocol::runs::strategy::LlmAgent;
use countersign_runs::engine::agents::Tools;
use countersign_runs::settings::{LlmSettings, RunsSettings};
use serde_json::json;
use tokio::net::TcpListener;

use crate::context::TestContext;
use crate::endpoint::{Act, Model, answer, word};
use crate::stage::{KEY, Task, llm, llm_settings};

/// The error after a model endpoint performs these acts.
async fn failure(acts: impl IntoIterator<Item = Act>, change: impl FnOnce(&mut LlmSettings)) -> String {
    let model = Model::start(acts).await;
    let mut settings = llm_settings(&model);
    change(&mut settings);
    let tools = Tools::new(&RunsSettings::default(), &settings).unwrap();
    let error = Task::new(&llm(LlmAgent::default()), "?")
        .done(&tools, &mut TestContext::default())
        .await
        .unwrap_err();
    assert!(
        error.starts_with(&format!("the model endpoint {}/chat/completions ", model.base_url())),
        "{error}"
    );
    assert!(!error.contains(KEY), "{error}");
    error
}

#[tokio::test]
async fn a_server_that_never_answers_hits_the_timeout() {
    let begun = "data: {\"choices\":[]}\n\n".to_owned();
    for act in [Act::Hang, Act::Stall(String::new()), Act::Stall(begun)] {
        let error = failure([act], |settings| settings.timeout = Duration::from_millis(50)).await;
        assert!(
            error.contains("did not finish its answer within 0.05 s (llm.timeout_seconds)"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_stalled_server_hits_the_idle_timeout() {
    let error = failure([Act::Stall(format!("data: {}\n\n", word("a")))], |settings| {
        settings.idle_timeout = Duration::from_millis(50);
    });
    let error = error.await;
    assert!(
        error.contains("sent nothing for 0.05 s (llm.idle_timeout_seconds)"),
        "{error}"
    );
}

#[tokio::test]
async fn a_complete_answer_does_not_need_the_end_of_the_connection() {
    let stream = answer(&["a", "b"]);
    let without_mark = stream.replace("data: [DONE]\n\n", "");
    for act in [
        Act::Stall(stream.clone()),
        Act::Stall(without_mark),
        Act::Endless(stream),
    ] {
        let model = Model::start([act]).await;
        let settings = LlmSettings {
            idle_timeout: Duration::from_millis(50),
            ..llm_settings(&model)
        };
        let tools = Tools::new(&RunsSettings::default(), &settings).unwrap();
        let done = Task::new(&llm(LlmAgent::default()), "?")
            .done(&tools, &mut TestContext::default())
            .await
            .unwrap();
        assert_eq!((done.text.as_str(), done.usage.prompt_tokens), ("ab", 3));
    }
}

#[tokio::test]
async fn an_unreachable_server_is_reported_with_the_reason() {
    // Bound and released, so that the port is closed.
    let address = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let model = Model::start([]).await;
    let mut settings = llm_settings(&model);
    settings
        .endpoint
        .as_mut()
        .unwrap()
        .base_url
        .set_port(Some(address.port()))
        .unwrap();
    let tools = Tools::new(&RunsSettings::default(), &settings).unwrap();
    let error = Task::new(&llm(LlmAgent::default()), "?")
        .done(&tools, &mut TestContext::default())
        .await
        .unwrap_err();
    assert!(
        error.contains(&format!("{address}/v1/chat/completions cannot be reached: ")),
        "{error}"
    );
    assert!(error.contains("refused") && error.ends_with("(attempt 3)"), "{error}");
}

#[tokio::test]
async fn an_unparsable_answer_is_shown_as_an_excerpt() {
    let error = failure([Act::Stream("data: {\"choices\": oops}\n\n".to_owned(), 3)], |_| {}).await;
    assert!(
        error.contains("sent an answer that cannot be parsed") && error.contains("{\"choices\": oops}"),
        "{error}"
    );

    let error = failure([Act::Stream("data: {\"choices\": 7}\n\n".to_owned(), 3)], |_| {}).await;
    assert!(error.contains("sent an answer that cannot be parsed"), "{error}");
}

#[tokio::test]
async fn a_web_page_instead_of_a_model_is_reported_and_not_retried() {
    let page = |kind: &str| Act::Reply(200, kind.to_owned(), "<h1>Welcome,\n log in</h1>".to_owned());
    for (kind, shown) in [("content-type: Text/HTML; charset=utf-8\r\n", " (text/html)"), ("", "")] {
        let error = failure([page(kind)], |_| {}).await;
        let end = format!(
            "sent a response that is not from a model{shown}; check base_url. It says: <h1>Welcome, log in</h1>"
        );
        assert!(error.ends_with(&end), "{error}");
    }
}

#[tokio::test]
async fn an_empty_answer_is_reported_and_retried() {
    let nothing = || Act::Reply(200, "content-type: text/event-stream\r\n".to_owned(), String::new());
    let error = failure([nothing(), nothing(), nothing()], |_| {}).await;
    assert!(
        error.ends_with("answered 200 OK with an empty body (attempt 3)"),
        "{error}"
    );
}

#[tokio::test]
async fn a_stream_cut_in_its_first_event_is_reported() {
    let cut = || {
        Act::Reply(
            200,
            "content-type: text/event-stream\r\n".to_owned(),
            "data: {\"cho".to_owned(),
        )
    };
    let error = failure([cut(), cut(), cut()], |_| {}).await;
    assert!(
        error.ends_with("closed the connection in the middle of its answer (attempt 3)"),
        "{error}"
    );
}

#[tokio::test]
async fn an_error_in_the_stream_is_reported() {
    let stream = format!(
        "data: {}\n\ndata: {}\n\n",
        word("a"),
        json!({"error": {"message": "overloaded"}})
    );
    let error = failure([Act::Stream(stream, 5)], |_| {}).await;
    assert!(
        error.contains("reports an error: {\"message\":\"overloaded\"}"),
        "{error}"
    );
}

#[tokio::test]
async fn a_key_repeated_by_the_server_is_redacted() {
    let body = format!("{}wrong key {KEY}", "x".repeat(480));
    let error = failure([Act::Reply(401, String::new(), body)], |_| {}).await;
    assert!(error.contains("wrong key (key)"), "{error}");
    let error = failure([Act::Stream(format!("data: {KEY}\n\n"), 1)], |_| {}).await;
    assert!(error.contains("(key)"), "{error}");
    let long = failure([Act::Reply(400, String::new(), "y".repeat(100_000))], |_| {}).await;
    assert!(long.len() < 700, "{}", long.len());
}

#[tokio::test]
async fn the_key_does_not_follow_a_redirect() {
    let elsewhere = Model::start([]).await;
    let location = format!("location: {}/chat/completions\r\n", elsewhere.base_url());
    let error = failure([Act::Reply(307, location, String::new())], |_| {}).await;
    assert!(
        error.contains("answered 307 Temporary Redirect (redirects are not followed; correct base_url)"),
        "{error}"
    );
    assert!(elsewhere.requests().is_empty());
}

#[tokio::test]
async fn an_endless_answer_is_cut_off() {
    let model = Model::start([Act::Endless(format!("data: {}\n\n", word(&"x".repeat(64 * 1024))))]).await;
    let tools = Tools::new(&RunsSettings::default(), &llm_settings(&model)).unwrap();
    let mut context = TestContext::default();
    let error = Task::new(&llm(LlmAgent::default()), "?")
        .done(&tools, &mut context)
        .await
        .unwrap_err();
    assert!(error.ends_with("sent more than 4 MiB of text"), "{error}");
    assert_eq!(context.text().len(), 4 * 1024 * 1024);
    model
        .until("the connection to be closed", |seen| seen.cut_off == 1)
        .await;
}

#[tokio::test]
async fn an_endless_event_is_cut_off() {
    let error = failure([Act::Endless("x".repeat(64 * 1024))], |_| {}).await;
    assert!(error.ends_with("sent an event longer than 4 MiB"), "{error}");
}
