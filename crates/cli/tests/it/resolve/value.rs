use serde_json::{Value, json};

use crate::harness::*;

fn answered(value: Value) -> Value {
    json!({"resolution": "answered", "value": value})
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_must_fit_its_question() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let misfits: [(Value, Vec<Value>); 4] = [
        (
            ask("bot"),
            vec![
                json!("yes"),
                json!("Approve"),
                json!("approve "),
                json!(true),
                json!({}),
                json!(null),
            ],
        ),
        (
            select("bot"),
            vec![json!("Blue"), json!("approve"), json!(""), json!(["blue"]), json!(1)],
        ),
        (
            input("bot"),
            vec![
                json!("text"),
                json!({}),
                json!({"reason": "x"}),
                json!({"reason": "long enough", "retries": 1.5}),
                json!({"reason": "long enough", "retries": -1}),
                json!({"reason": "long enough", "urgent": "yes"}),
                json!({"reason": "long enough", "region": "mars"}),
                json!({"reason": "long enough", "more": 1}),
                json!(["long enough"]),
            ],
        ),
        (a2h(select("bot"), "0.5"), vec![json!("purple")]),
    ];
    for (envelope, values) in misfits {
        let id = bot.accepted(&envelope).await;
        for value in values {
            let reply = hub.owner.resolve(&id, answered(value.clone())).await;
            assert!(
                [400, 422].contains(&reply.status),
                "{value}: {} {}",
                reply.status,
                reply.text()
            );
            let field = reply.json()["error"]["field"].as_str().unwrap_or_default().to_owned();
            assert!(field.contains("value"), "{value}: {}", reply.text());
            if value.is_string() || value.is_object() {
                reply.refused("invalid_field");
            }
        }
        assert_eq!(bot.pull(&id).await["status"], "open");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_answer_of_a_form_is_stored_unchanged() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&input("bot")).await;
    let value = json!({"reason": "because \u{1F600}", "retries": 3, "urgent": false, "region": "eu"});
    hub.owner.resolve(&id, answered(value.clone())).await.expect(200);
    assert_eq!(bot.pull(&id).await["response"]["response"]["value"], value);
}

#[tokio::test(flavor = "multi_thread")]
async fn custom_options_of_a_confirm_replace_approve_and_deny() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut envelope = ask("bot");
    envelope["request"]["options"] = json!([{"value": "go", "label": "Go"}, {"value": "stop", "label": "Stop"}]);
    let id = bot.accepted(&envelope).await;
    hub.owner
        .answer(&id, "approve")
        .await
        .refused_field("invalid_field", "value");
    hub.owner.answer(&id, "stop").await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resolution_must_fit_the_message_type() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let ask_id = bot.accepted(&ask("bot")).await;
    for resolution in ["completed", "dismissed"] {
        let reply = hub.owner.resolve(&ask_id, json!({"resolution": resolution})).await;
        reply.refused_field("invalid_field", "resolution");
    }
    let task_id = bot.accepted(&task("bot")).await;
    for body in [answered(json!("approve")), json!({"resolution": "declined"})] {
        hub.owner
            .resolve(&task_id, body)
            .await
            .refused_field("invalid_field", "resolution");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_malformed_resolve_is_refused() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    for body in [
        json!({}),
        json!([]),
        json!({"resolution": 1}),
        json!({"resolution": "approved", "value": "approve"}),
    ] {
        hub.owner.resolve(&id, body).await.refused("validation_error");
    }
    for resolution in ["expired", "cancelled"] {
        hub.owner
            .resolve(&id, json!({"resolution": resolution}))
            .await
            .refused("validation_error");
    }
    let path = format!("/v1/messages/{id}/resolve");
    hub.owner.post_bytes(&path, "{").await.refused("validation_error");
    hub.owner
        .post_bytes(&path, r#"{"resolution":"declined","resolution":"answered"}"#)
        .await
        .refused("validation_error");
    for (body, field) in [
        (json!({"resolution": "answered"}), "value"),
        (json!({"resolution": "declined", "value": "deny"}), "value"),
        (
            json!({"resolution": "answered", "value": "approve", "comment": 7}),
            "comment",
        ),
        (
            json!({"resolution": "answered", "value": "approve", "checklist": [{"text": "x", "done": true}]}),
            "checklist",
        ),
    ] {
        let reply = hub.owner.resolve(&id, body.clone()).await;
        assert!([400, 422].contains(&reply.status), "{body}: {}", reply.text());
        assert!(
            reply.json()["error"]["field"]
                .as_str()
                .is_some_and(|named| named.contains(field)),
            "{}",
            reply.text()
        );
    }
    assert_eq!(bot.pull(&id).await["status"], "open");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_withdrawn_affordance_is_refused_for_all_callers() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let judge = hub.agent("judge").await;
    let with = |permissions: Value| {
        let mut envelope = resolvers(ask("bot"), &["human:owner", "agent:judge"]);
        envelope["request"]["permissions"] = permissions;
        envelope
    };
    let no_answer = bot.accepted(&with(json!({"allow_respond": false}))).await;
    let no_decline = bot.accepted(&with(json!({"allow_ignore": false}))).await;
    for caller in [&hub.owner, &*judge] {
        caller.answer(&no_answer, "approve").await.refused("invalid_field");
        caller
            .resolve(&no_decline, json!({"resolution": "declined"}))
            .await
            .refused("invalid_field");
    }
    hub.owner
        .resolve(&no_answer, json!({"resolution": "declined"}))
        .await
        .expect(200);
    judge.answer(&no_decline, "approve").await.expect(200);
    let harmless = bot
        .accepted(&with(json!({"allow_accept": false, "allow_edit": false})))
        .await;
    hub.owner.answer(&harmless, "approve").await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn free_text_is_an_answer_only_where_an_ask_of_0_6_allows_it() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let editable = |version: &str, allow: bool| {
        let mut envelope = ma2h(select("bot"), version);
        envelope["request"]["permissions"] = json!({"allow_edit": allow});
        envelope
    };
    for (envelope, text, edited) in [
        (editable("0.6", true), "purple with dots", true),
        (editable("0.6", true), "Blue", true),
        (editable("0.6", true), "blue", false),
        (editable("0.7", true), "purple", true),
        (a2h(ma2h_to_a2h(editable("0.6", true)), "0.6"), "purple", true),
    ] {
        let id = bot.accepted(&envelope).await;
        hub.owner.answer(&id, text).await.expect(200);
        let response = bot.pull(&id).await["response"]["response"].clone();
        assert_eq!(
            [&response["value"], &response["edited"]],
            [&json!(text), &json!(edited)]
        );
    }
    for envelope in [
        editable("0.6", false),
        editable("0.5", true),
        ma2h(select("bot"), "0.6"),
    ] {
        let id = bot.accepted(&envelope).await;
        hub.owner
            .answer(&id, "purple")
            .await
            .refused_field("invalid_field", "value");
    }
}

fn ma2h_to_a2h(mut envelope: Value) -> Value {
    envelope.as_object_mut().unwrap().remove("ma2h_version");
    envelope
}
