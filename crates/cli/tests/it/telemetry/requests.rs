use serde_json::{Value, json};

use crate::harness::*;

const TITLE: &str = "Title-5b1c";
const ANSWER: &str = "Answer-9e2d";

/// The lines of a JSON log.
fn lines(log: &str) -> Vec<Value> {
    let read = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    log.lines().map(read).collect()
}

fn named<'l>(lines: &'l [Value], field: &str, value: &str) -> &'l Value {
    let found = lines.iter().find(|line| line[field] == value);
    found.unwrap_or_else(|| panic!("no line with {field}={value} in {lines:#?}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_request_has_one_id_in_its_header_its_body_and_the_log() {
    let hub = Setup::default().args(&["--log-format", "json"]).start().await;
    let bot = hub.agent("bot").await;
    hub.execute("ALTER TABLE message_text RENAME TO message_text_gone")
        .await;
    let failed = bot.submit(&ask("bot")).await;
    let body = failed.expect(503);
    let id = body["error"]["id"].as_str().expect("an id").to_owned();
    assert_eq!(failed.header("x-request-id"), id);
    hub.process().signal("INT");
    let (ran, _scratch) = hub.into_finished();
    let logged = lines(&ran.stderr);
    let line = named(&logged, "error_id", &id);
    assert_eq!(line["request_id"], id.as_str());
    assert_eq!(
        (&line["level"], &line["message"]),
        (&json!("ERROR"), &json!("store operation failed"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn access_log_has_every_request_and_no_secret() {
    let config = "[log]\nformat = \"json\"\naccess = true\n";
    let hub = Setup::default().config(config).start().await;
    let bot = hub.agent("bot").await;
    let mut envelope = input("bot");
    envelope["title"] = json!(TITLE);
    let id = bot.accepted(&envelope).await;
    let body = json!({"resolution": "answered", "value": {"reason": ANSWER}});
    let resolved = hub.owner.resolve(&id, body).await;
    resolved.expect(200);
    let found = hub.owner.get(&format!("/v1/search?q={TITLE}")).await;
    found.expect(200);
    let polled = bot.get(&format!("/v1/messages/{id}")).await;
    polled.expect(200);
    hub.anonymous()
        .get("/v1/inbox?secret=1")
        .await
        .refused("unauthenticated");
    let owner_token = hub.token();
    hub.process().signal("INT");
    let (ran, _scratch) = hub.into_finished();
    for secret in [
        TITLE,
        ANSWER,
        &bot.token,
        &bot.signing_key,
        &owner_token,
        &id,
        "secret=1",
    ] {
        assert!(!ran.stderr.contains(secret), "{secret} in {}", ran.stderr);
    }
    let logged = lines(&ran.stderr);
    let line = named(&logged, "request_id", polled.header("x-request-id"));
    assert_eq!(line["target"], "access");
    assert_eq!(
        (&line["method"], &line["route"]),
        (&json!("GET"), &json!("/v1/messages/{id}"))
    );
    assert_eq!((&line["status"], &line["account"]), (&json!(200), &json!("agent:bot")));
    assert_eq!(line["bytes"], polled.body.len());
    assert!(
        line["duration_ms"].as_f64().is_some_and(|millis| millis > 0.0),
        "{line}"
    );
    let line = named(&logged, "request_id", resolved.header("x-request-id"));
    assert_eq!(
        (&line["method"], &line["account"]),
        (&json!("POST"), &json!("human:owner"))
    );
    let refused = logged
        .iter()
        .find(|line| line["status"] == 401)
        .expect("the refused one");
    assert_eq!((refused.get("account"), &refused["route"]), (None, &json!("/v1/inbox")));
}

#[tokio::test(flavor = "multi_thread")]
async fn request_id_is_taken_over_from_trusted_proxies_only() {
    let id_of = async |hub: &Hub, given: &str| {
        let request = hub.anonymous().request(reqwest::Method::GET, "/health");
        let reply = Api::send(request.header("x-request-id", given)).await;
        reply.header("x-request-id").to_owned()
    };
    let trusting = Setup::default().args(&["--trusted-proxies", "127.0.0.1"]).start().await;
    assert_eq!(id_of(&trusting, "Root=1-6789").await, "Root=1-6789");
    for odd in ["two words", "<b>", &"x".repeat(65)] {
        assert_eq!(id_of(&trusting, odd).await.len(), 36, "{odd}");
    }
    let alone = Hub::start().await;
    let own = id_of(&alone, "Root=1-6789").await;
    assert_eq!(own.len(), 36, "{own}");
    assert_ne!(own, id_of(&alone, "Root=1-6789").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_error_carries_the_id_of_its_request() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let anonymous = hub.anonymous();
    let foreign = anonymous
        .request(reqwest::Method::GET, "/health")
        .header("host", "elsewhere.example");
    for (reply, status) in [
        (bot.post("/v1/messages", &json!({})).await, 400),
        (anonymous.get("/v1/inbox").await, 401),
        (bot.get("/v1/messages/msg_00000000000000000000000000").await, 404),
        (hub.owner.get("/v1/no-such-address").await, 404),
        (hub.owner.post("/v1/inbox", &json!({})).await, 405),
        (Api::send(foreign).await, 421),
    ] {
        let body = reply.expect(status);
        assert_eq!(body["error"]["id"], reply.header("x-request-id"), "{body}");
    }
}
