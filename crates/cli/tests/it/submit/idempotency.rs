use serde_json::{Value, json};

use crate::harness::*;

/// The same JSON document with its keys in reverse order and extra white space.
fn reformatted(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let members = map
                .iter()
                .rev()
                .map(|(key, value)| format!(" \n{} :\t{}", json!(key), reformatted(value)));
            format!("{{{} }}", members.collect::<Vec<_>>().join(" ,"))
        }
        Value::Array(items) => {
            format!("[ {} ]", items.iter().map(reformatted).collect::<Vec<_>>().join(" , "))
        }
        scalar => scalar.to_string(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_payload_again_gets_the_same_id() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    for envelope in [select("bot"), input("bot"), task("bot"), notify("bot")] {
        let first = bot.submit(&envelope).await.expect(202);
        assert_eq!(bot.submit(&envelope).await.expect(202), first, "the same bytes");
        let reordered = bot.post_bytes("/v1/messages", reformatted(&envelope)).await.expect(202);
        assert_eq!(reordered, first, "another key order and white space");
        let mut other_run = envelope.clone();
        other_run["agent"]["run_id"] = json!("run-2");
        assert_eq!(bot.submit(&other_run).await.expect(202), first, "another run");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_returns_the_current_status() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let envelope = ask("bot");
    let first = bot.submit(&envelope).await.expect(202);
    let id = first["id"].as_str().unwrap();
    hub.owner.answer(id, "deny").await.expect(200);
    let again = bot.submit(&envelope).await.expect(202);
    let mut expected = first;
    expected["status"] = json!("answered");
    assert_eq!(again, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_after_expiry_still_gets_its_ack() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let envelope = expiring(ask("bot"), 5000);
    let id = bot.accepted(&envelope).await;
    assert_eq!(bot.outcome(&id).await["status"], "expired");
    let again = bot.submit(&envelope).await.expect(202);
    assert_eq!([&again["id"], &again["status"]], [&json!(id), &json!("expired")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_survives_a_restart_and_the_loss_of_its_callback_host() {
    let mut hub = Setup::pushing().start().await;
    let bot = hub.agent("bot").await;
    hub.approve(&bot, "127.0.0.1").await;
    let envelope = push_to(ask("bot"), "http://127.0.0.1:9/resume");
    let id = bot.accepted(&envelope).await;
    let binding = json!({"agent_id": "bot", "host": "127.0.0.1"});
    hub.owner.post("/v1/admin/callbacks/remove", &binding).await.expect(200);
    hub.kill();
    hub.restart().await;
    assert_eq!(bot.accepted(&envelope).await, id);
}

#[tokio::test(flavor = "multi_thread")]
async fn another_payload_under_the_same_key_is_a_conflict() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let envelope = select("bot");
    let id = bot.accepted(&envelope).await;
    let changes: [fn(&mut Value); 6] = [
        |e| e["title"] = json!("Deploy build 43?"),
        |e| e["created_at"] = json!("2026-01-02T03:04:06Z"),
        |e| e["state"] = json!({"step": 1}),
        |e| e["x_unknown"] = json!(1),
        |e| e["request"]["options"][0]["label"] = json!("Bleu"),
        |e| e["type"] = json!("notify"),
    ];
    for change in changes {
        let mut other = envelope.clone();
        change(&mut other);
        if other["type"] == "notify" {
            other.as_object_mut().unwrap().remove("request");
        }
        bot.submit(&other).await.refused("idempotency_conflict");
    }
    assert_eq!(bot.pull(&id).await["title"], envelope["title"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_belongs_to_one_agent() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let other = hub.agent("other").await;
    let mut envelope = ask("bot");
    let id = bot.accepted(&envelope).await;
    envelope["agent"]["id"] = json!("other");
    assert_ne!(other.accepted(&envelope).await, id);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_submit_does_not_use_up_its_key() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut envelope = select("bot");
    envelope["request"]["default_on_expire"] = json!("purple");
    bot.submit(&envelope).await.refused("invalid_field");
    envelope["request"]["default_on_expire"] = json!("green");
    bot.accepted(&envelope).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_duplicates_make_one_message() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let envelope = ask("bot").to_string();
    let mut copies = tokio::task::JoinSet::new();
    for _ in 0..32 {
        let request = bot.post_request("/v1/messages", envelope.clone());
        copies.spawn(Api::send(request));
    }
    let ids: std::collections::BTreeSet<String> = copies
        .join_all()
        .await
        .iter()
        .map(|reply| reply.expect(202)["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(ids.len(), 1, "{ids:?}");
    assert_eq!(
        hub.owner.get("/v1/inbox").await.expect(200)["items"]
            .as_array()
            .map(Vec::len),
        Some(1)
    );
}
