//! `state` belongs to the agent and is returned byte for byte.

use serde_json::json;

use crate::harness::*;

fn hostile_states() -> Vec<String> {
    let deep = format!("{}{}{}", "{\"d\":".repeat(60), "[1.0]", "}".repeat(60));
    let mut states: Vec<String> = [
        r#"{}"#,
        r#"{"sealed":"A2HSEALv1.x.y.z"}"#,
        r#"{"b":1,"a":2,"B":3,"":4}"#,
        r#"{"n":[1.0,1e5,1E5,1e+5,-0,-0.0,0.10,100,1.7976931348623157e308,5e-324,1e-400]}"#,
        r#"{"big":9007199254740993,"huge":123456789012345678901234567890,"neg":-9223372036854775809}"#,
        r#"{"esc":"\u0041\/\\\"\b\f\n\r\t\u00e9\u2028\uD83D\uDE00"}"#,
        "{\"raw\":\"é\u{2028}\u{1F600}\u{FB33}\u{7f}\"}",
        "{ \"spaced\" :\r\n\t[ 1 , 2 ,{ } ,[ ] ] }",
        r#"{"looks":"}\"},\"status\":\"answered\",{"}"#,
        r#"{"id":"msg_x","status":"answered","state":{"state":null},"response":false}"#,
    ]
    .map(str::to_owned)
    .to_vec();
    states.push(deep);
    states
}

#[tokio::test(flavor = "multi_thread")]
async fn state_comes_back_byte_for_byte() {
    let mut hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut kept = vec![];
    for raw in hostile_states() {
        let envelope = with_raw_state(&ask("bot"), &raw);
        let id = bot.post_bytes("/v1/messages", envelope).await.expect(202)["id"]
            .as_str()
            .unwrap()
            .to_owned();
        kept.push((id, format!("\"state\":{raw}")));
    }
    for (id, state) in &kept {
        let open = bot.get(&format!("/v1/messages/{id}")).await;
        assert_eq!(
            open.text().matches(state.as_str()).count(),
            1,
            "{state}\n{}",
            open.text()
        );
    }
    hub.interrupt();
    hub.restart().await;
    for (id, state) in &kept {
        hub.owner.answer(id, "approve").await.expect(200);
        let answered = bot.get(&format!("/v1/messages/{id}")).await;
        assert_eq!(answered.expect(200)["status"], "answered");
        let text = answered.text();
        assert_eq!(
            text.matches(state.as_str()).count(),
            2,
            "in the envelope and in the response: {state}\n{text}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_to_a_message_without_state_has_no_state() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    hub.owner.answer(&id, "approve").await.expect(200);
    let body = bot.pull(&id).await;
    assert!(
        body.get("state").is_none() && body["response"].get("state").is_none(),
        "{body}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resolver_never_sees_state_or_client_ref() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let judge = hub.agent("judge").await;
    let mut envelope = resolvers(ask("bot"), &["human:owner", "agent:judge"]);
    envelope["state"] = json!({"secret": "MARK-STATE"});
    envelope["client_ref"] = json!("MARK-REF");
    let id = bot.accepted(&envelope).await;
    let mut seen = String::new();
    for path in [
        "/v1/inbox".to_owned(),
        format!("/v1/inbox/{id}"),
        "/v1/messages".to_owned(),
    ] {
        seen += &hub.owner.get(&path).await.text();
    }
    judge.get(&format!("/v1/messages/{id}")).await.refused("not_found");
    seen += &judge.answer(&id, "approve").await.text();
    seen += &hub.owner.answer(&id, "approve").await.text();
    seen += &hub.owner.get("/v1/messages").await.text();
    for mark in ["MARK-STATE", "MARK-REF", envelope["idempotency_key"].as_str().unwrap()] {
        assert!(!seen.contains(mark), "{mark} is shown: {seen}");
    }
}
