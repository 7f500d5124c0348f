//! Models that fail, hang or break off.

use serde_json::json;

use super::stage::*;
use crate::harness::*;

const KEY: &str = "sk-secret-key";

fn refuse(status: u16, body: &str) -> ModelReply {
    ModelReply::Refuse {
        status,
        body: body.to_owned(),
    }
}

async fn stage(more: &str, replies: impl IntoIterator<Item = ModelReply>) -> (Model, Hub, Client) {
    let model = Model::start().await;
    model.script(replies);
    let hub = Setup::default().config(&model.config(more)).start().await;
    let client = Client::connect(&hub).await;
    (model, hub, client)
}

async fn failure(hub: &Hub, client: &mut Client) -> String {
    client.start_strategy(hub, &alone(llm()), "Hi.").await;
    let (code, message) = client.failure().await;
    assert_eq!(code, "EXECUTION_ERROR", "{message}");
    assert!(message.starts_with("Step \"worker\" failed: "), "{message}");
    assert!(!message.contains(KEY), "{message}");
    message
}

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_or_broken_model_is_retried() {
    for reply in [
        refuse(429, "{}"),
        refuse(500, "oops"),
        refuse(502, ""),
        refuse(503, ""),
        ModelReply::HangUp,
    ] {
        let (model, hub, mut client) = stage("", [reply.clone(), reply, says(&["at last"])]).await;
        client.start_strategy(&hub, &alone(llm()), "Hi.").await;
        let events = client.until("strategy_completed").await;
        assert_eq!(events.last().unwrap()["result"], "at last");
        assert_eq!(events.of_kind("agent_output").len(), 1, "{events:#?}");
        assert_eq!(model.request_count(), 3);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_stays_broken_fails_the_step_after_its_retries() {
    let body = r#"{"error":{"message":"The engine is on fire","type":"server_error"}}"#;
    let replies = vec![refuse(500, body); 5];
    let (model, hub, mut client) = stage("max_retries = 1", replies).await;
    let message = failure(&hub, &mut client).await;
    assert!(
        message.contains("500") && message.contains("The engine is on fire"),
        "{message}"
    );
    assert_eq!(model.request_count(), 2, "one attempt and one retry");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_may_have_its_own_number_of_retries() {
    let (model, hub, mut client) = stage("", vec![refuse(500, ""); 5]).await;
    let mut agent = llm();
    agent["modelOptions"] = json!({"maxRetries": 0});
    client.start_strategy(&hub, &alone(agent), "Hi.").await;
    client.failure().await;
    assert_eq!(model.request_count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_error_is_not_retried_and_never_shows_the_key() {
    for status in [400, 401, 403, 404] {
        let body = format!(r#"{{"error":{{"message":"Incorrect API key provided: {KEY}"}}}}"#);
        let (model, hub, mut client) = stage("", [refuse(status, &body)]).await;
        let message = failure(&hub, &mut client).await;
        assert!(message.contains(&status.to_string()), "{message}");
        assert_eq!(model.request_count(), 1, "{status} is not retried");
        drop(client);
        hub.process().signal("INT");
        let (ran, _scratch) = hub.into_finished();
        assert!(
            !format!("{}{}", ran.stdout, ran.stderr).contains(KEY),
            "the logs do not contain the key"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_page_of_any_size_gives_a_short_error() {
    let (_model, hub, mut client) = stage("max_retries = 0", [refuse(400, &"<p>error</p>".repeat(100_000))]).await;
    let message = failure(&hub, &mut client).await;
    assert!(message.len() < 5_000, "{} bytes", message.len());
}

/// A reply that stalls after one word.
fn stalled_reply() -> ModelReply {
    let ModelReply::Stream(mut parts) = says(&["word"]) else {
        unreachable!()
    };
    parts.truncate(2);
    parts.push(Part::Hold(Gate::shut()));
    ModelReply::Stream(parts)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_model_hits_the_idle_timeout() {
    let (model, hub, mut client) = stage("idle_timeout_seconds = 1\nmax_retries = 0", [stalled_reply()]).await;
    let message = failure(&hub, &mut client).await;
    assert!(
        message.contains("1 s") && message.contains("idle_timeout_seconds"),
        "{message}"
    );
    model.until_abandoned(1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endless_model_reply_hits_the_timeout() {
    for reply in [
        stalled_reply(),
        ModelReply::Hang,
        ModelReply::Stream(vec![Part::Hold(Gate::shut())]),
    ] {
        let (model, hub, mut client) = stage("timeout_seconds = 1\nmax_retries = 0", [reply]).await;
        let message = failure(&hub, &mut client).await;
        assert!(
            message.contains("1 s") && message.contains("llm.timeout_seconds"),
            "{message}"
        );
        model.until_abandoned(1).await;
    }
}

/// Streamed text cannot be taken back, so a broken stream is not retried.
#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_breaks_off_fails_the_step() {
    let ModelReply::Stream(mut parts) = says(&["half a sen"]) else {
        unreachable!()
    };
    parts.truncate(2);
    parts.push(Part::Cut);
    let (model, hub, mut client) = stage("", [ModelReply::Stream(parts), says(&["tence"])]).await;
    failure(&hub, &mut client).await;
    assert_eq!(model.request_count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_inside_the_stream_fails_the_step_with_its_message() {
    let parts = vec![Part::Raw(
        "data: {\"error\":{\"message\":\"context too long\"}}\n\n".to_owned(),
    )];
    let (_model, hub, mut client) = stage("max_retries = 0", [ModelReply::Stream(parts)]).await;
    let message = failure(&hub, &mut client).await;
    assert!(message.contains("context too long"), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_malformed_or_endless_stream_is_bounded() {
    let nonsense = ModelReply::Stream(vec![Part::Raw("data: {nonsense\n\n".to_owned())]);
    let endless = ModelReply::Stream(vec![Part::Raw("x".repeat(1 << 20)); 64]);
    for reply in [nonsense, endless] {
        let (_model, hub, mut client) = stage("max_retries = 0", [reply]).await;
        let message = failure(&hub, &mut client).await;
        assert!(message.len() < 5_000, "{} bytes", message.len());
        hub.owner.healthy().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreachable_model_is_reported_with_its_address() {
    let config = "[llm]\nbase_url = \"http://127.0.0.1:1/v1\"\napi_key = \"sk-secret-key\"\nmax_retries = 0\n";
    let hub = Setup::default().config(config).start().await;
    let mut client = Client::connect(&hub).await;
    let message = failure(&hub, &mut client).await;
    assert!(message.contains("127.0.0.1:1"), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_model_settings_the_error_names_the_missing_keys() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let path = strategy_file(&hub, &alone(llm()));
    client.send(json!({"type": "prepare_run", "strategyPath": path})).await;
    let reply = client.next().await;
    let message = if reply["type"] == "error" {
        assert_eq!(reply["code"], "PREPARE_FAILED", "{reply}");
        reply["message"].as_str().unwrap().to_owned()
    } else {
        client.start(reply["runId"].as_str().unwrap(), "Hi.").await;
        client.failure().await.1
    };
    assert!(message.contains("[llm]") && message.contains("base_url"), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_model_settings_stop_the_start() {
    for (config, name) in [
        ("[llm]\nbase_url = \"not a url\"\n", "base_url"),
        (
            "[llm]\nbase_url = \"http://127.0.0.1:1/v1\"\napi_key = \"a\"\napi_key_env = \"B\"\n",
            "api_key",
        ),
        (
            "[llm]\nbase_url = \"http://127.0.0.1:1/v1\"\napi_key_env = \"SURELY_NOT_SET\"\n",
            "SURELY_NOT_SET",
        ),
        ("[llm]\nmodel = \"x\"\n", "model"),
        ("[runs]\ncommands = \"yes\"\n", "commands"),
        ("[runs]\ncomands = \"ask\"\n", "comands"),
    ] {
        let stderr = Setup::default().config(config).refused().fails(1);
        assert!(stderr.contains(name), "{config}: {stderr}");
    }
}
