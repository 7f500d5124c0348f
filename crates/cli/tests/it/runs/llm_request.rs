//! Requests to the model: content, address and API key.

use serde_json::{Value, json};

use super::stage::*;
use crate::harness::*;

/// Runs a strategy of one agent and returns the model request.
async fn request(agent: Value, input: &str) -> ModelRequest {
    let model = Model::start().await;
    let hub = Setup::default().config(&model.config("")).start().await;
    let mut client = Client::connect(&hub).await;
    client.start_strategy(&hub, &alone(agent), input).await;
    client.result().await;
    model.requests(1).await.remove(0)
}

fn pairs(messages: &[(&str, &str)]) -> Vec<(String, String)> {
    messages
        .iter()
        .map(|(role, text)| ((*role).to_owned(), (*text).to_owned()))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plain_agent_sends_its_message_and_asks_for_a_stream() {
    let sent = request(llm(), "Hi there.").await;
    assert_eq!(sent.path, "/v1/chat/completions");
    assert_eq!(sent.headers["authorization"], "Bearer sk-secret-key");
    assert_eq!(sent.body["model"], "test-model");
    assert_eq!(sent.body["stream"], true);
    assert_eq!(sent.body["stream_options"]["include_usage"], true);
    assert_eq!(sent.messages(), pairs(&[("user", "Hi there.")]));
    assert!(sent.body.get("tools").is_none(), "{}", sent.body);
    assert!(
        !sent.body.as_object().unwrap().values().any(Value::is_null),
        "{}",
        sent.body
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn options_reach_the_model_under_its_own_names() {
    let mut agent = llm();
    agent["modelOptions"] = json!({
        "temperature": 0.25, "topP": 0.5, "maxOutputTokens": 99, "frequencyPenalty": 0.5, "presencePenalty": -0.5, "seed": 42,
    });
    agent["providerOptions"] = json!({"reasoning_effort": "low"});
    let body = request(agent, "Hi.").await.body;
    for (name, value) in [
        ("temperature", json!(0.25)),
        ("top_p", json!(0.5)),
        ("frequency_penalty", json!(0.5)),
        ("presence_penalty", json!(-0.5)),
        ("seed", json!(42)),
        ("reasoning_effort", json!("low")),
    ] {
        assert_eq!(body[name], value, "{name}: {body}");
    }
    assert!(
        body["max_tokens"] == 99 || body["max_completion_tokens"] == 99,
        "{body}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_output_schema_is_sent() {
    let mut agent = llm();
    let schema = json!({"type": "object", "properties": {"ok": {"type": "boolean"}}});
    agent["outputSchema"] = schema.clone();
    let body = request(agent, "Hi.").await.body;
    assert_eq!(body["response_format"]["type"], "json_schema", "{body}");
    assert_eq!(body["response_format"]["json_schema"]["schema"], schema, "{body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_system_prompt_is_a_text_a_file_or_a_filled_template() {
    let model = Model::start().await;
    let hub = Setup::default().config(&model.config("")).start().await;
    hub.scratch().write("prompt.md", "From the file.");
    let template = json!({"template": "You are {{who}}, {{who}}.", "variables": {"who": "a poet"}});
    let mut client = Client::connect(&hub).await;
    for (key, value, expected) in [
        ("systemPrompt", json!("Be brief."), "Be brief."),
        ("systemPrompt", json!("prompt.md"), "From the file."),
        ("systemPromptTemplate", template, "You are a poet, a poet."),
    ] {
        let mut agent = llm();
        agent[key] = value;
        client.start_strategy(&hub, &alone(agent), "Hi.").await;
        client.result().await;
        let messages = model.requests(1).await.pop().unwrap().messages();
        assert_eq!(messages, pairs(&[("system", expected), ("user", "Hi.")]));
    }
    let mut agent = llm();
    agent["systemPrompt"] = json!("missing.txt");
    let refusal = client.prepare_refused(&strategy_file(&hub, &alone(agent))).await;
    assert!(
        refusal.contains("systemPrompt: the file it names cannot be read: ") && !refusal.contains("missing.txt"),
        "{refusal}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_that_mentions_files_is_a_text() {
    let model = Model::start().await;
    let hub = Setup::default().config(&model.config("")).start().await;
    let mut client = Client::connect(&hub).await;
    let mut agent = llm();
    agent["systemPrompt"] = json!("Look into notes.txt and\nsay what is in prompt.md");
    client.start_strategy(&hub, &alone(agent), "Hi.").await;
    client.result().await;
    let messages = model.requests(1).await[0].messages();
    assert_eq!(
        messages[0].1, "Look into notes.txt and\nsay what is in prompt.md",
        "several words are a text, not a path"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_remembers_only_its_own_conversation() {
    let model = Model::start().await;
    let hub = Setup::default().config(&model.config("")).start().await;
    model.script([says(&["a1"]), says(&["b1"]), says(&["a2"]), says(&["b2"])]);
    let mut client = Client::connect(&hub).await;
    let strategy = cycle(json!({"a": llm(), "b": llm()}), &["a", "b"], json!({"cycles": 2}));
    let run = client.start_strategy(&hub, &strategy, "go").await;
    assert_eq!(client.result().await, "b2");
    let sent = model.requests(4).await;
    assert_eq!(
        sent[2].messages(),
        pairs(&[("user", "go"), ("assistant", "a1"), ("user", "b1")])
    );
    assert_eq!(
        sent[3].messages(),
        pairs(&[("user", "a1"), ("assistant", "b1"), ("user", "a2")])
    );
    client.continue_run(&run, "more").await;
    client.result().await;
    let remembered = model.requests(6).await[4].messages();
    let expected = [
        ("user", "go"),
        ("assistant", "a1"),
        ("user", "b1"),
        ("assistant", "a2"),
        ("user", "more"),
    ];
    assert_eq!(remembered, pairs(&expected), "across segments too");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_has_its_own_address_and_key() {
    let usual = Model::start().await;
    let other = Model::start().await;
    let config = usual.config(&format!(
        "[llm.providers.acme]\nbase_url = \"{}\"\napi_key_env = \"ACME_KEY\"\n",
        other.base_url()
    ));
    let hub = Setup::default()
        .config(&config)
        .env("ACME_KEY", "sk-of-acme")
        .start()
        .await;
    let mut client = Client::connect(&hub).await;
    let agents = json!({
        "one": {"model": "acme/gpt/large"}, "two": {"model": "plain"}, "three": {"model": "unknown/model"},
    });
    client
        .start_strategy(&hub, &sequence(agents, &["one", "two", "three"]), "Hi.")
        .await;
    client.result().await;
    let acme = other.requests(1).await;
    assert_eq!(
        (&acme[0].body["model"], acme[0].headers["authorization"].as_str()),
        (&json!("gpt/large"), "Bearer sk-of-acme")
    );
    let plain = usual.requests(2).await;
    assert_eq!(
        (&plain[0].body["model"], &plain[1].body["model"]),
        (&json!("plain"), &json!("unknown/model"))
    );
    assert_eq!(plain[0].headers["authorization"], "Bearer sk-secret-key");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_model_can_be_overridden_for_a_run() {
    let model = Model::start().await;
    let hub = Setup::default().config(&model.config("")).start().await;
    let mut client = Client::connect(&hub).await;
    let file = strategy_file(&hub, &alone(llm()));
    let message = json!({"type": "prepare_run", "strategyPath": file, "modelOverride": "other-model"});
    let run = client.call(message, "run_prepared").await["runId"]
        .as_str()
        .unwrap()
        .to_owned();
    client.start(&run, "Hi.").await;
    let events = client.until("strategy_completed").await;
    assert_eq!(events.of_kind("agent_output")[0]["model"], "other-model");
    client.continue_run(&run, "More.").await;
    client.result().await;
    let sent = model.requests(2).await;
    assert_eq!(
        (&sent[0].body["model"], &sent[1].body["model"]),
        (&json!("other-model"), &json!("other-model"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn without_an_api_key_no_authorization_header_is_sent() {
    let model = Model::start().await;
    let hub = Setup::default()
        .config(&format!("[llm]\nbase_url = \"{}\"\n", model.base_url()))
        .start()
        .await;
    let mut client = Client::connect(&hub).await;
    client.start_strategy(&hub, &alone(llm()), "Hi.").await;
    client.result().await;
    assert!(!model.requests(1).await[0].headers.contains_key("authorization"));
}
