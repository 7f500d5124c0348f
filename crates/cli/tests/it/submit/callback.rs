use serde_json::{Value, json};

use crate::harness::*;

fn with_auth(url: &str, auth: Value) -> Value {
    let mut envelope = push_to(ask("bot"), url);
    envelope["request"]["callback"]["auth"] = auth;
    envelope
}

#[tokio::test(flavor = "multi_thread")]
async fn a_callback_host_must_be_approved_for_this_agent() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let other = hub.agent("other").await;
    let envelope = push_to(ask("bot"), "https://hooks.example/resume");
    bot.submit(&envelope)
        .await
        .refused_field("invalid_field", "callback.url");
    hub.approve(&other, "hooks.example").await;
    bot.submit(&envelope)
        .await
        .refused_field("invalid_field", "callback.url");
    let registered = bot.post("/v1/callbacks", &json!({"host": "hooks.example"})).await;
    assert!(registered.status < 300, "{}", registered.text());
    bot.submit(&envelope)
        .await
        .refused_field("invalid_field", "callback.url");
    hub.approve(&bot, "hooks.example").await;
    bot.accepted(&envelope).await;
    let mut task = push_to(task("bot"), "https://else.example/resume");
    bot.submit(&task).await.refused_field("invalid_field", "callback.url");
    task["action"]["callback"]["url"] = json!("https://hooks.example:8443/resume");
    bot.accepted(&task).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn agent_has_at_most_twenty_hosts_waiting_for_approval() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    for number in 0..20 {
        let host = format!("h{number}.example");
        bot.post("/v1/callbacks", &json!({ "host": host })).await.expect(201);
    }
    let one_more = json!({"host": "more.example"});
    let refused = bot.post("/v1/callbacks", &one_more).await;
    refused.refused_field("invalid_field", "host");
    assert!(
        refused.text().contains("an owner approves or removes one first"),
        "{}",
        refused.text()
    );
    bot.post("/v1/callbacks", &json!({"host": "h0.example"}))
        .await
        .expect(201);
    hub.approve(&bot, "h0.example").await;
    bot.post("/v1/callbacks", &one_more).await.expect(201);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_covers_the_exact_host_and_no_lookalike() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    hub.approve(&bot, "hooks.example:8443").await;
    for url in [
        "https://hooks.example/resume",
        "https://hooks.example:8444/resume",
        "https://hooks.example.evil.example:8443/resume",
        "https://evil-hooks.example:8443/resume",
        "https://hooks.example:8443@evil.example/resume",
        "https://evil.example/?https://hooks.example:8443/",
        "https://evil.example#@hooks.example:8443/",
        "https://sub.hooks.example:8443/resume",
    ] {
        bot.submit(&push_to(ask("bot"), url))
            .await
            .refused_field("invalid_field", "callback.url");
    }
    for url in [
        "https://hooks.example:8443/resume?run=7",
        "https://HOOKS.example:8443/resume",
    ] {
        bot.accepted(&push_to(ask("bot"), url)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_callback_url_is_refused() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    hub.approve(&bot, "hooks.example").await;
    for url in [
        "hooks.example/resume",
        "ftp://hooks.example/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "https://",
        "",
    ] {
        let reply = bot.submit(&push_to(ask("bot"), url)).await;
        assert!([400, 422].contains(&reply.status), "{url}: {}", reply.text());
        assert!(
            reply.json()["error"]["field"]
                .as_str()
                .is_some_and(|field| field.contains("callback.url")),
            "{url}"
        );
    }
    let plain = bot.submit(&push_to(ask("bot"), "http://hooks.example/resume")).await;
    plain.refused_field("invalid_field", "callback.url");
}

#[tokio::test(flavor = "multi_thread")]
async fn callback_credentials_must_fit_their_scheme() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    hub.approve(&bot, "hooks.example").await;
    for auth in [
        json!({}),
        json!("hmac"),
        json!({"scheme": "basic", "token_ref": "x"}),
        json!({"scheme": "hmac"}),
        json!({"scheme": "hmac", "token_ref": "x"}),
        json!({"scheme": "hmac", "secret_ref": "x", "token_ref": "x"}),
        json!({"scheme": "bearer"}),
        json!({"scheme": "bearer", "secret_ref": "x"}),
        json!({"scheme": "apikey", "secret_ref": "x"}),
    ] {
        let reply = bot.submit(&with_auth("https://hooks.example/resume", auth)).await;
        reply.refused_field("validation_error", "callback.auth");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_must_be_registered_and_is_never_an_environment_variable() {
    let hub = Setup::default()
        .env("A2H_CALLBACK_SECRET", "from the environment")
        .start()
        .await;
    let bot = hub.agent("bot").await;
    let other = hub.agent("other").await;
    hub.approve(&bot, "hooks.example").await;
    let secret = json!({"agent_id": other.id, "name": "deploy", "value": "s3cret"});
    hub.owner.post("/v1/admin/secrets", &secret).await.expect(200);
    for auth in [
        json!({"scheme": "hmac", "secret_ref": "deploy"}),
        json!({"scheme": "hmac", "secret_ref": "env:A2H_CALLBACK_SECRET"}),
        json!({"scheme": "bearer", "token_ref": "deploy"}),
        json!({"scheme": "apikey", "token_ref": "A2H_CALLBACK_SECRET"}),
    ] {
        let reply = bot.submit(&with_auth("https://hooks.example/resume", auth)).await;
        reply.refused_field("invalid_field", "callback.auth");
    }
    for name in ["deploy", "env:A2H_CALLBACK_SECRET"] {
        let secret = json!({"agent_id": bot.id, "name": name, "value": "s3cret"});
        hub.owner.post("/v1/admin/secrets", &secret).await.expect(200);
        let auth = json!({"scheme": "hmac", "secret_ref": name});
        bot.accepted(&with_auth("https://hooks.example/resume", auth)).await;
    }
}
