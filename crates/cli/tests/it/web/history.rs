//! The history of decisions.

use super::WebClient;
use super::list::{titled, titles};
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn the_history_shows_actor_outcome_time_and_duration() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let first = bot.accepted(&titled(ask("bot"), "first")).await;
    let second = bot.accepted(&titled(task("bot"), "second")).await;
    let cancelled = bot.accepted(&titled(ask("bot"), "third")).await;
    bot.accepted(&titled(ask("bot"), "still open")).await;
    hub.owner
        .resolve(&second, serde_json::json!({"resolution": "completed"}))
        .await
        .expect(200);
    hub.owner.answer(&first, "approve").await.expect(200);
    bot.cancel(&cancelled).await.expect(200);
    let owner = WebClient::signed_in(&hub).await;
    let page = owner.get("/inbox/history").await.expect(200);
    assert_eq!(titles(&page), ["third", "first", "second"], "the latest decision first");
    let cells = |id: &str| ["ending", "actor", "took"].map(|cell| page.text_at(&format!("#row-{id} .{cell}")));
    let [ending, actor, took] = cells(&first);
    assert_eq!([ending.as_str(), &actor], ["Approved", "owner"]);
    assert!(took == "after 0 s" || took == "after 1 s", "{took}");
    assert!(page.attribute(&format!("#row-{first} time.when"), "data-ms").is_some());
    assert_eq!(page.count(&format!("#row-{first} .ending.good")), 1);
    assert_eq!(cells(&second)[..2], ["Done", "owner"]);
    assert_eq!(cells(&cancelled)[..2], ["Withdrawn", "agent:bot"]);
    assert_eq!(page.count(&format!("#row-{cancelled} .ending.quiet")), 1);
    assert_eq!(
        page.count(&format!("#row-{cancelled} .track")),
        0,
        "the agent knows what it did itself"
    );
    let done = owner
        .submit(&page, "form#filters", &[("status", "answered"), ("agent", "bot")], None)
        .await
        .expect(200);
    assert_eq!(titles(&done), ["first"]);
    owner.get("/inbox/history?status=open").await.expect(400);
    owner.get("/inbox/history?before=1").await.expect(400);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_history_shows_whether_the_answer_reached_the_agent() {
    let hub = Setup::pushing().start().await;
    let receiver = Receiver::start().await;
    let bot = hub.agent("bot").await;
    hub.approve(&bot, &receiver.host()).await;
    let pushed = bot.accepted(&push_to(ask("bot"), &receiver.url("/push"))).await;
    let pulled_id = bot.accepted(&ask("bot")).await;
    for id in [&pushed, &pulled_id] {
        hub.owner.answer(id, "approve").await.expect(200);
    }
    let owner = WebClient::signed_in(&hub).await;
    let delivery = async |id: &str| owner.get("/inbox/history").await.text_at(&format!("#row-{id} .track"));
    hub.delivery(&pushed, "delivered").await;
    assert_eq!(delivery(&pushed).await, "delivered");
    assert_eq!(delivery(&pulled_id).await, "waiting for the agent");
    bot.pull(&pulled_id).await;
    eventually("it is fetched", async || {
        (delivery(&pulled_id).await == "fetched by the agent").then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_history_hides_sensitive_answers() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut envelope = select("bot");
    envelope["sensitive"] = serde_json::json!(true);
    let id = bot.accepted(&envelope).await;
    hub.owner.answer(&id, "blue").await.expect(200);
    let page = WebClient::signed_in(&hub).await.get("/inbox/history").await.expect(200);
    assert_eq!(page.text_at(".note .ending"), "Answered");
    assert!(!page.text().to_lowercase().contains("blue"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_history_is_paged() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let owner = WebClient::signed_in(&hub).await;
    assert!(
        owner
            .get("/inbox/history")
            .await
            .text_at(".empty")
            .starts_with("Nothing decided yet.")
    );
    for nth in 0..51 {
        let id = bot.accepted(&titled(ask("bot"), &format!("ask {nth}"))).await;
        hub.owner.answer(&id, "deny").await.expect(200);
    }
    let first = owner.get("/inbox/history?status=answered").await.expect(200);
    assert_eq!(titles(&first).first().map(String::as_str), Some("ask 50"));
    let second = owner
        .get(&first.attribute("a#older", "href").expect("a next page"))
        .await
        .expect(200);
    assert_eq!(titles(&second), ["ask 0"]);
}
