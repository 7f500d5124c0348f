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
    for nth in 0..31 {
        let id = bot.accepted(&titled(ask("bot"), &format!("ask {nth}"))).await;
        hub.owner.answer(&id, "deny").await.expect(200);
    }
    let first = owner.get("/inbox/history?status=answered").await.expect(200);
    assert_eq!(titles(&first).first().map(String::as_str), Some("ask 30"));
    let second = owner
        .get(&first.attribute("a#older", "href").expect("a next page"))
        .await
        .expect(200);
    assert_eq!(titles(&second), ["ask 0"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_history_is_searched_with_filters_counted_and_marked() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    for (title, value) in [("Refund 1", "approve"), ("Refund 2", "deny"), ("Deploy", "deny")] {
        let id = bot.accepted(&titled(ask("bot"), title)).await;
        hub.owner.answer(&id, value).await.expect(200);
    }
    let owner = WebClient::signed_in(&hub).await;
    let start = owner.get("/inbox/history").await.expect(200);
    assert_eq!(start.text_at("#total"), "3 results");
    let denied = owner
        .submit(
            &start,
            "form#history-search",
            &[("q", "refund is:denied by:owner")],
            None,
        )
        .await
        .expect(200);
    assert_eq!(titles(&denied), ["Refund 2"]);
    assert_eq!(denied.text_at("#total"), "1 result");
    assert_eq!(denied.text_at(".row mark"), "Refund");
    let unknown = owner.get("/inbox/history?q=form:bot").await.expect(200);
    assert!(unknown.text_at("[role=alert]").contains("form:"), "{}", unknown.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_history_is_saved_as_csv_and_json_lines() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let risky = bot.accepted(&titled(ask("bot"), "=HYPERLINK(\"x\"), now")).await;
    let denial = serde_json::json!({"resolution": "answered", "value": "deny", "comment": "line 1\nline 2"});
    hub.owner.resolve(&risky, denial).await.expect(200);
    let mut secret = select("bot");
    secret["sensitive"] = serde_json::json!(true);
    let secret = bot.accepted(&secret).await;
    hub.owner.answer(&secret, "blue").await.expect(200);
    bot.accepted(&ask("bot")).await;

    let owner = WebClient::signed_in(&hub).await;
    let links = owner.get("/inbox/history").await.expect(200);
    assert_eq!(links.count("a[download]"), 2);
    let csv = owner.get("/inbox/history/export?format=csv").await.expect(200);
    assert_eq!(csv.header("content-type"), "text/csv; charset=utf-8");
    let mut lines = csv.html.lines();
    assert_eq!(
        lines.next(),
        Some(
            "id,kind,agent,agent_name,project,tags,title,received_at,decided_at,seconds,outcome,ending,answer,actor,comment"
        )
    );
    assert!(csv.html.contains("\"'=HYPERLINK(\"\"x\"\"), now\""), "{}", csv.html);
    assert!(csv.html.contains("\"line 1\nline 2\""), "{}", csv.html);

    let saved = owner.get("/inbox/history/export?format=jsonl").await.expect(200);
    let items: Vec<serde_json::Value> = saved
        .html
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let ids: Vec<_> = items.iter().map(|item| item["id"].as_str().expect("an id")).collect();
    assert_eq!(
        ids,
        [&secret, &risky],
        "the latest decision first; what is open is not there"
    );
    assert_eq!(
        (&items[0]["answer"], &items[0]["ending"]),
        (&"".into(), &"Answered".into())
    );
    assert_eq!(
        ["outcome", "ending", "actor", "title"].map(|field| items[1][field].as_str().expect("a text")),
        ["answered", "Denied", "human:owner", "=HYPERLINK(\"x\"), now"]
    );
    let one = owner
        .get("/inbox/history/export?format=jsonl&q=is:denied")
        .await
        .expect(200);
    assert_eq!(one.html.lines().count(), 1);
    owner.get("/inbox/history/export?format=xml").await.expect(400);
    owner.get("/inbox/history/export?format=csv&q=form:x").await.expect(400);
    let outside = WebClient::anonymous(&hub).get("/inbox/history/export?format=csv").await;
    assert!(outside.url.starts_with("/signin"), "{}", outside.url);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_history_search_that_cannot_be_read_shows_no_rows() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    hub.owner.answer(&id, "approve").await.expect(200);
    let owner = WebClient::signed_in(&hub).await;
    let page = owner.get("/inbox/history?q=form:x").await.expect(200);
    assert_eq!(
        (
            page.count(".banner.warn"),
            page.count("#rows > .row"),
            page.count("#total")
        ),
        (1, 0, 0)
    );
    assert_eq!(owner.get("/inbox/history").await.count("#rows > .row"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn outcomes_have_the_words_of_the_pages() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&task("bot")).await;
    let impossible = serde_json::json!({"resolution": "dismissed"});
    hub.owner.resolve(&id, impossible).await.expect(200);
    let owner = WebClient::signed_in(&hub).await;
    let page = owner.get("/inbox/history?status=dismissed").await.expect(200);
    let words = page.texts_at("select[name=status] option");
    assert_eq!(
        words,
        ["any", "Answered", "Skipped", "Withdrawn", "Done", "Not done", "Expired"].map(str::to_owned)
    );
    assert_eq!(page.text_at("#active .tag"), "outcome: Not done ✕");
    assert_eq!(
        owner
            .get("/inbox/history?q=is:not-done")
            .await
            .count(&format!("#row-{id}")),
        1
    );
}
