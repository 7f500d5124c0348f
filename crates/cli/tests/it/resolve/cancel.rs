use serde_json::json;

use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_ask_stays_cancelled_and_can_be_cancelled_again() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    let expected = json!({"id": id, "status": "cancelled"});
    assert_eq!(bot.cancel(&id).await.expect(200), expected);
    let first = bot.pull(&id).await;
    assert_eq!(bot.cancel(&id).await.expect(200), expected);
    assert_eq!(bot.pull(&id).await, first);
    let response = &first["response"];
    assert_eq!(response["resolution"], "cancelled");
    assert_eq!(response["response"]["actor"], "agent:bot");
    assert!(response["response"].get("value").is_none(), "{response}");
    hub.owner
        .answer(&id, "approve")
        .await
        .refused_as_terminal(&id, "cancelled");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancel_after_another_outcome_returns_that_outcome() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let answered = bot.accepted(&ask("bot")).await;
    hub.owner.answer(&answered, "approve").await.expect(200);
    bot.cancel(&answered).await.refused_as_terminal(&answered, "answered");
    let declined = bot.accepted(&ask("bot")).await;
    hub.owner
        .resolve(&declined, json!({"resolution": "declined"}))
        .await
        .expect(200);
    bot.cancel(&declined).await.refused_as_terminal(&declined, "declined");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_asks_can_be_cancelled() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    for envelope in [task("bot"), notify("bot")] {
        let id = bot.accepted(&envelope).await;
        bot.cancel(&id).await.refused("validation_error");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_submitter_can_cancel() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let other = hub.agent("other").await;
    let id = bot
        .accepted(&resolvers(ask("bot"), &["agent:other", "human:owner"]))
        .await;
    other.cancel(&id).await.refused("not_found");
    let by_a_person = hub.owner.cancel(&id).await;
    assert!([403, 404].contains(&by_a_person.status), "{}", by_a_person.text());
    bot.cancel("msg_00000000000000000000000000").await.refused("not_found");
    assert_eq!(bot.pull(&id).await["status"], "open");
}

#[tokio::test(flavor = "multi_thread")]
async fn another_run_of_the_same_agent_can_cancel_and_pull() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut envelope = ask("bot");
    envelope["agent"]["run_id"] = json!("an earlier run");
    let id = bot.accepted(&envelope).await;
    bot.pull(&id).await;
    bot.cancel(&id).await.expect(200);
    assert_eq!(bot.pull(&id).await["response"]["agent"]["run_id"], "an earlier run");
}
