use serde_json::{Value, json};

use crate::harness::*;

fn with_default(mut envelope: Value, value: Value) -> Value {
    envelope["request"]["default_on_expire"] = value;
    envelope
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_ask_takes_its_default_and_says_so() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let form = json!({"reason": "nobody came", "retries": 2});
    for (envelope, value) in [
        (with_default(ask("bot"), json!("deny")), json!("deny")),
        (with_default(select("bot"), json!("green")), json!("green")),
        (with_default(input("bot"), form.clone()), form),
    ] {
        let id = bot.accepted_briefly(&envelope).await;
        let body = bot.outcome(&id).await;
        assert_eq!(body["status"], "expired");
        let response = &body["response"];
        assert_eq!(
            [&response["resolution"], &response["defaulted"]],
            [&json!("expired"), &json!(true)]
        );
        assert_eq!(response["response"]["actor"], "system:default_on_expire");
        assert_eq!(response["response"]["value"], value);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn expiry_without_a_default_has_no_value() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    for envelope in [ask("bot"), with_default(select("bot"), json!(null)), task("bot")] {
        let id = bot.accepted_briefly(&envelope).await;
        let body = bot.outcome(&id).await;
        assert_eq!(body["status"], "expired");
        let response = &body["response"];
        assert_eq!(
            [&response["resolution"], &response["defaulted"]],
            [&json!("expired"), &json!(false)]
        );
        assert_eq!(response["response"]["actor"], "system:expired");
        assert!(response["response"]["resolved_at"].is_string(), "{response}");
        assert!(response["response"].get("value").is_none(), "{response}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_answer_loses_to_the_default() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted_briefly(&with_default(ask("bot"), json!("deny"))).await;
    let before = bot.outcome(&id).await;
    hub.owner
        .answer(&id, "approve")
        .await
        .refused_as_terminal(&id, "expired");
    bot.cancel(&id).await.refused_as_terminal(&id, "expired");
    assert_eq!(bot.pull(&id).await, before);
    assert_eq!(hub.owner.get("/v1/inbox").await.expect(200)["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_before_the_expiry_stays() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let expires = 5000;
    let answered = bot
        .accepted(&expiring(with_default(ask("bot"), json!("deny")), expires))
        .await;
    let witness = bot.accepted(&expiring(ask("bot"), expires + 200)).await;
    hub.owner.answer(&answered, "approve").await.expect(200);
    assert_eq!(bot.outcome(&witness).await["status"], "expired", "time has passed");
    let response = bot.pull(&answered).await["response"].clone();
    assert_eq!(
        [&response["resolution"], &response["defaulted"]],
        [&json!("answered"), &json!(false)]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn asks_that_expire_while_the_hub_is_down_are_expired_after_the_start() {
    let mut hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted_briefly(&with_default(ask("bot"), json!("deny"))).await;
    let expires_at: jiff::Timestamp = bot.pull(&id).await["expires_at"].as_str().unwrap().parse().unwrap();
    hub.kill();
    eventually("its time has passed", async || {
        (jiff::Timestamp::now() > expires_at).then_some(())
    })
    .await;
    hub.restart().await;
    hub.owner
        .answer(&id, "approve")
        .await
        .refused_as_terminal(&id, "expired");
    assert_eq!(bot.pull(&id).await["response"]["defaulted"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn after_expires_at_every_answer_and_cancel_loses() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let expires_at = from_now(8000);
    let mut ids = vec![];
    for _ in 0..40 {
        let mut envelope = ask("bot");
        envelope["expires_at"] = json!(expires_at);
        ids.push(bot.accepted(&envelope).await);
    }
    // Once the first ask is expired, the common instant has passed for all of them, swept or not.
    assert_eq!(bot.outcome(&ids[0]).await["status"], "expired");
    for (nth, id) in ids.iter().enumerate() {
        let reply = if nth % 2 == 0 {
            hub.owner.answer(id, "approve").await
        } else {
            bot.cancel(id).await
        };
        reply.refused_as_terminal(id, "expired");
    }
}
