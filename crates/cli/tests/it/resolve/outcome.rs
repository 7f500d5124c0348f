use serde_json::{Value, json};

use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_reaches_the_agent_with_its_attested_actor() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut envelope = select("bot");
    envelope["state"] = json!({"step": 7});
    let id = bot.accepted(&envelope).await;
    let body = json!({"resolution": "answered", "value": "green", "comment": "go", "actor": "human:mallory"});
    let resolved = hub.owner.resolve(&id, body).await.expect(200);
    let resolution_id = resolved["resolution_id"].as_str().expect("a resolution_id").to_owned();
    assert_eq!(
        resolved,
        json!({"id": id, "status": "answered", "resolution_id": resolution_id})
    );
    assert!(
        resolution_id.starts_with("res_") && resolution_id.len() == 30,
        "{resolution_id}"
    );
    let message = bot.pull(&id).await;
    assert_eq!(message["status"], "answered");
    let response = &message["response"];
    let resolved_at = response["response"]["resolved_at"].as_str().expect("resolved_at");
    assert!(resolved_at.parse::<jiff::Timestamp>().is_ok(), "{resolved_at}");
    let expected = json!({
        "a2h_version": "0.3",
        "in_reply_to": id,
        "resolution_id": resolution_id,
        "agent": {"id": "bot", "run_id": "run-1"},
        "resolution": "answered",
        "defaulted": false,
        "response": {
            "value": "green", "edited": false, "actor": "human:owner", "resolved_at": resolved_at, "comment": "go",
        },
        "state": {"step": 7},
    });
    assert_eq!(response, &expected);
    assert_eq!(bot.pull(&id).await, message, "the same every time");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_declined_ask_has_an_actor_and_no_value() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    hub.owner
        .resolve(&id, json!({"resolution": "declined", "comment": "not today"}))
        .await
        .expect(200);
    let response = bot.pull(&id).await["response"].clone();
    assert_eq!(response["resolution"], "declined");
    assert_eq!(response["response"]["actor"], "human:owner");
    assert_eq!(response["response"]["comment"], "not today");
    assert!(response["response"].get("value").is_none(), "{response}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_completed_with_its_checklist_or_dismissed() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let done = bot.accepted(&task("bot")).await;
    let checklist = json!([{"text": "rotate", "done": true}, {"text": "announce", "done": false}]);
    let body = json!({"resolution": "completed", "comment": "rotated", "checklist": checklist});
    assert_eq!(hub.owner.resolve(&done, body).await.expect(200)["status"], "completed");
    let response = bot.outcome(&done).await["response"].clone();
    assert_eq!(response["resolution"], "completed");
    assert_eq!(response["response"]["checklist"], checklist);
    assert_eq!(response["response"]["comment"], "rotated");
    assert!(response["response"].get("value").is_none(), "{response}");
    let dropped = bot.accepted(&task("bot")).await;
    assert_eq!(
        hub.owner
            .resolve(&dropped, json!({"resolution": "dismissed"}))
            .await
            .expect(200)["status"],
        "dismissed"
    );
    let response = bot.outcome(&dropped).await["response"].clone();
    assert_eq!(
        response["response"]["actor"], "human:owner",
        "also without details: {response}"
    );
    assert!(response["response"]["resolved_at"].is_string(), "{response}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_second_resolver_gets_the_outcome() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    hub.owner.answer(&id, "approve").await.expect(200);
    let before = bot.pull(&id).await;
    for body in [
        json!({"resolution": "answered", "value": "deny"}),
        json!({"resolution": "answered", "value": "approve"}),
        json!({"resolution": "declined"}),
    ] {
        hub.owner.resolve(&id, body).await.refused_as_terminal(&id, "answered");
    }
    assert_eq!(bot.pull(&id).await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resolved_message_leaves_the_inbox_and_stays_in_the_list() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    let inbox = async || hub.owner.get("/v1/inbox").await.expect(200)["items"].clone();
    assert_eq!(inbox().await[0]["id"], id);
    let resolved = hub.owner.answer(&id, "deny").await.expect(200);
    assert_eq!(inbox().await, json!([]));
    let item = hub.owner.get(&format!("/v1/inbox/{id}")).await.expect(200);
    assert_eq!(item["resolution"]["resolution_id"], resolved["resolution_id"]);
    assert_eq!(item["resolution"]["value"], "deny");
    assert_eq!(item["resolution"]["actor"], "human:owner");
}

#[tokio::test(flavor = "multi_thread")]
async fn values_of_sensitive_answers_go_to_the_agent_only() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut whole = input("bot");
    whole["sensitive"] = json!(true);
    let mut field = input("bot");
    field["request"]["schema"]["properties"]["reason"]["x-ma2h-sensitive"] = json!(true);
    for envelope in [whole, field] {
        let id = bot.accepted(&envelope).await;
        let value = json!({"reason": "MARK-SENSITIVE"});
        hub.owner
            .resolve(&id, json!({"resolution": "answered", "value": value}))
            .await
            .expect(200);
        let shown = hub.owner.get(&format!("/v1/inbox/{id}")).await.text();
        assert!(!shown.contains("MARK-SENSITIVE"), "{shown}");
        assert_eq!(bot.pull(&id).await["response"]["response"]["value"], value);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_change_leaves_a_chained_audit_entry() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    hub.owner.answer(&id, "approve").await.expect(200);
    let entries = hub.owner.get(&format!("/v1/admin/audit?id={id}")).await.expect(200)["entries"].clone();
    let entries: Vec<Value> = entries.as_array().cloned().expect("a list");
    assert!(entries.len() >= 2, "submitted and answered: {entries:?}");
    assert_eq!(entries[0]["actor"], "agent:bot");
    assert_eq!(entries.last().unwrap()["actor"], "human:owner");
    for entry in &entries {
        assert_eq!(entry["content_sha256"].as_str().map(str::len), Some(64), "{entry}");
        assert_eq!(entry["hash"].as_str().map(str::len), Some(64), "{entry}");
    }
    for pair in entries.windows(2) {
        assert_eq!(
            pair[1]["prev_hash"], pair[0]["hash"],
            "each entry holds on to the one before"
        );
    }
    bot.get(&format!("/v1/admin/audit?id={id}"))
        .await
        .refused("not_authorized");
}
