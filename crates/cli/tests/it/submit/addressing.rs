//! Who a message is for: existing people and agents, and no agent's session.

use serde_json::{Value, json};

use crate::harness::*;
use crate::web::WebClient;

fn with(mut envelope: Value, pointer: &str, value: Value) -> Value {
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
    envelope.pointer_mut(parent).expect("an object")[key] = value;
    envelope
}

#[tokio::test(flavor = "multi_thread")]
async fn an_envelope_for_an_agent_is_refused_and_shown_to_no_person() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    for to in ["agent:other", "agent:other#sess_1"] {
        for envelope in [ask("bot"), notify("bot"), task("bot")] {
            let addressed = with(ma2h(envelope, "0.5"), "/to", json!(to));
            let reply = bot.submit(&addressed).await;
            assert_eq!(reply.status, 403, "{}", reply.text());
            reply.refused("not_authorized");
        }
    }
    for malformed in [
        json!("human:ann"),
        json!("agent:"),
        json!("agent:a#b"),
        json!(7),
        json!(null),
    ] {
        let addressed = with(ma2h(ask("bot"), "0.6"), "/to", malformed);
        bot.submit(&addressed).await.refused_field("validation_error", "to");
    }
    let early = with(ma2h(ask("bot"), "0.4"), "/to", json!("agent:other"));
    bot.submit(&early).await.refused_field("invalid_field", "to");
    assert_eq!(hub.owner.get("/v1/messages").await.expect(200)["messages"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_are_refused() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let session = |version: &str, id: Value| with(ma2h(ask("bot"), version), "/agent/session", id);
    for envelope in [session("0.5", json!("sess_1")), session("0.3", json!("sess_1"))] {
        bot.submit(&envelope)
            .await
            .refused_field("invalid_field", "agent.session");
    }
    let malformed = session("0.5", json!("other"));
    bot.submit(&malformed)
        .await
        .refused_field("validation_error", "agent.session");
    let resolver = |version: &str, actor: &str| {
        let resolvers = json!(["human:owner", actor]);
        with(ma2h(ask("bot"), version), "/request/allowed_resolvers", resolvers)
    };
    bot.submit(&resolver("0.5", "agent:bot#sess_1"))
        .await
        .refused_field("invalid_field", "request.allowed_resolvers");
    bot.accepted(&resolver("0.3", "agent:bot#sess_1")).await;
    bot.submit(&resolver("0.5", "agent:bot#1"))
        .await
        .refused_field("validation_error", "request.allowed_resolvers");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ask_that_no_account_can_answer_is_refused_with_the_names_that_exist() {
    let hub = Hub::start().await;
    hub.person("vera", "viewer").await;
    let bot = hub.agent("bot").await;
    let unanswerable = [
        json!([]),
        json!(["human:ann"]),
        json!(["human:*"]),
        json!(["human:Owner"]),
        json!(["human:vera"]),
        json!(["agent:stranger"]),
        json!(["system:anything"]),
    ];
    for resolvers in unanswerable {
        for (envelope, section) in [(ask("bot"), "request"), (task("bot"), "action")] {
            let field = format!("{section}.allowed_resolvers");
            let pointer = format!("/{section}/allowed_resolvers");
            let reply = bot.submit(&with(envelope, &pointer, resolvers.clone())).await;
            let error = reply.json()["error"].clone();
            assert_eq!(
                (reply.status, error["field"].as_str()),
                (422, Some(field.as_str())),
                "{error}"
            );
            let message = error["message"].as_str().expect("a message");
            assert!(
                message.contains("human:owner") && !message.contains("human:vera"),
                "{message}"
            );
        }
    }
    let named = |resolvers: Value| with(ask("bot"), "/request/allowed_resolvers", resolvers);
    bot.accepted(&named(json!(["human:ann", "human:owner"]))).await;
    let later = named(json!(["human:ann"]));
    bot.submit(&later).await.refused("invalid_field");
    hub.person("ann", "resolver").await;
    bot.accepted(&later).await;
    bot.submit(&named(json!(["agent:second"])))
        .await
        .refused("invalid_field");
    hub.agent("second").await;
    bot.accepted(&named(json!(["agent:second"]))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ask_without_resolvers_is_accepted_and_the_reply_says_that_no_person_can_answer() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut unnamed = ask("bot");
    super::remove(&mut unnamed["request"], "allowed_resolvers");
    let reply = bot.submit(&unnamed).await;
    let notice = reply.header("countersign-notice").to_owned();
    assert!(
        reply.status == 202 && notice.contains("no person can answer"),
        "{notice}"
    );
    let keys: Vec<String> = reply.json().as_object().expect("an object").keys().cloned().collect();
    assert_eq!(keys, ["id", "status", "poll_url", "review_url"], "the body is closed");
    assert!(bot.submit(&ask("bot")).await.header("countersign-notice").is_empty());
    let misspelled = with(
        ask("bot"),
        "/request/allowed_resolvers",
        json!(["agent:bot", "human:typo"]),
    );
    let reply = bot.submit(&misspelled).await;
    assert!(!reply.header("countersign-notice").is_empty(), "{}", reply.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ask_that_names_some_unknown_people_says_who_in_the_reply_and_on_its_page() {
    let hub = Hub::start().await;
    hub.person("vera", "viewer").await;
    let bot = hub.agent("bot").await;
    hub.agent("second").await;
    let resolvers = json!([
        "human:owner",
        "agent:second",
        "human:typo",
        "human:jörg",
        "human:vera",
        "agent:none"
    ]);
    let reply = bot
        .submit(&with(ask("bot"), "/request/allowed_resolvers", resolvers))
        .await;
    let id = reply.expect(202)["id"].as_str().expect("an id").to_owned();
    assert_eq!(
        reply.header("countersign-notice"),
        "allowed_resolvers names accounts that cannot answer here: human:typo, human:j\\u{f6}rg, human:vera, agent:none; \
         names must match exactly; who may answer: human:owner"
    );
    let owner = WebClient::signed_in(&hub).await;
    let page = owner.get(&format!("/inbox/items/{id}")).await.expect(200);
    assert_eq!(
        page.text_at("#unknown-resolvers"),
        "Asked, but without an account that may answer: typo, jörg, vera and agent:none."
    );
    assert_eq!(page.count("form#answer"), 1, "the others can answer");
    hub.owner.answer(&id, "approve").await.expect(200);
    let page = owner.get(&format!("/inbox/items/{id}")).await.expect(200);
    assert_eq!(page.count("#unknown-resolvers"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_ask_whose_people_are_gone_is_marked_on_its_page_and_in_doctor() {
    let hub = Hub::start().await;
    hub.person("ann", "resolver").await;
    let bot = hub.agent("bot").await;
    let id = bot
        .accepted(&with(ask("bot"), "/request/allowed_resolvers", json!(["human:ann"])))
        .await;
    let warnings = async || hub.owner.get("/v1/admin/status").await.expect(200)["warnings"].to_string();
    assert!(!warnings().await.contains(&id));
    let removed = hub.owner.post("/v1/admin/people/remove", &json!({"name": "ann"})).await;
    removed.expect(200);
    eventually("the removal is noticed", async || {
        warnings().await.contains(&id).then_some(())
    })
    .await;
    let doctor = hub.cli(&["doctor"]);
    assert!(doctor.stdout.contains(&id), "{doctor:?}");
    let page = WebClient::signed_in(&hub)
        .await
        .get(&format!("/inbox/items/{id}"))
        .await;
    assert!(
        page.text_at("#watch .stranded")
            .starts_with("No account here can answer this")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_is_told_that_the_inbox_is_for_people() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let reply = bot.get("/v1/inbox").await;
    assert_eq!(reply.status, 403);
    let text = reply.text();
    assert!(text.contains("inbox of people") && text.contains("poll_url"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn allow_accept_of_any_type_is_ignored_from_0_6_on() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let permitted = |version: &str, value: Value| {
        let permissions = json!({"allow_accept": value});
        with(ma2h(ask("bot"), version), "/request/permissions", permissions)
    };
    for value in [json!("yes"), json!(1), json!(null), json!([true]), json!(true)] {
        bot.accepted(&permitted("0.6", value)).await;
    }
    bot.submit(&permitted("0.3", json!("yes")))
        .await
        .refused_field("validation_error", "allow_accept");
}
