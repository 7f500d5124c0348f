//! The order and the groups of the inbox, saved views, answers in a row, theme and density.

use serde_json::{Value, json};

use super::list::{csrf, titled, titles};
use super::{Page, WebClient};
use crate::harness::*;

fn groups(page: &Page) -> Vec<String> {
    page.texts_at("#rows > .group")
}

fn with(mut envelope: Value, field: &str, value: Value) -> Value {
    envelope[field] = value;
    envelope
}

const MINUTE: i64 = 60_000;

#[tokio::test(flavor = "multi_thread")]
async fn the_inbox_is_grouped_and_can_be_sorted() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let abe = hub.agent("abe").await;
    bot.accepted(&titled(ask("bot"), "plain")).await;
    bot.accepted(&with(titled(ask("bot"), "pressing"), "priority", json!("high")))
        .await;
    bot.accepted(&expiring(titled(ask("bot"), "later"), 90 * MINUTE)).await;
    bot.accepted(&expiring(titled(ask("bot"), "half an hour"), 30 * MINUTE))
        .await;
    abe.accepted(&expiring(titled(ask("abe"), "ten minutes"), 10 * MINUTE))
        .await;
    let owner = WebClient::signed_in(&hub).await;
    let page = owner.get("/inbox").await.expect(200);
    let smart = ["ten minutes", "half an hour", "pressing", "plain", "later"];
    assert_eq!(titles(&page), smart);
    assert_eq!(groups(&page), ["Ends soon", "Urgent and high", "Everything else"]);
    let api: Vec<String> = hub.owner.get("/v1/inbox").await.expect(200)["items"]
        .as_array()
        .expect("items")
        .iter()
        .map(|item| item["title"].as_str().expect("a title").to_owned())
        .collect();
    assert_eq!(api, smart, "the same order for programs");

    let newest = owner.get("/inbox?sort=newest").await.expect(200);
    assert_eq!(
        titles(&newest),
        ["ten minutes", "half an hour", "later", "pressing", "plain"]
    );
    assert!(groups(&newest).is_empty());
    assert_eq!(newest.text_at("#sort-box summary"), "Sort: Newest first");
    let agents = owner.get("/inbox?sort=agent").await.expect(200);
    assert_eq!(groups(&agents), ["abe", "bot"]);
    assert_eq!(titles(&agents)[..2], ["ten minutes", "plain"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_view_is_saved_by_name_and_removed() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    bot.accepted(&with(titled(ask("bot"), "money"), "tags", json!(["money"])))
        .await;
    bot.accepted(&titled(ask("bot"), "other")).await;
    let owner = WebClient::signed_in(&hub).await;
    let filtered = owner.get("/inbox?tag=money&sort=newest").await.expect(200);
    let saved = owner
        .submit(&filtered, "#save-view", &[("name", "Money")], None)
        .await
        .expect(200);
    assert_eq!(saved.text_at("#view-box .view a[aria-current]"), "Money");
    let plain = owner.get("/inbox").await.expect(200);
    let link = plain.attribute("#view-box .view a", "href").expect("the view");
    assert_eq!(titles(&owner.get(&link).await.expect(200)), ["money"]);
    let other = WebClient::as_person(&hub, "alice", "resolver").await;
    assert_eq!(
        other.get("/inbox").await.count("#view-box .view"),
        0,
        "views are personal"
    );
    let without = owner
        .submit(&plain, "#view-box .view form", &[], None)
        .await
        .expect(200);
    assert_eq!(without.count("#view-box .view"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_confirm_is_answered_from_its_row_by_post_only() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    let choice = bot.accepted(&select("bot")).await;
    let owner = WebClient::signed_in(&hub).await;
    let page = owner.get("/inbox").await.expect(200);
    assert_eq!(
        page.count(&format!("#row-{choice} .quick")),
        0,
        "only a confirm has two answers"
    );
    assert_eq!(page.texts_at(&format!("#row-{id} .quick button")), ["Approve", "Deny"]);
    owner.get(&format!("/inbox/items/{id}/decide?value=approve")).await;
    assert_eq!(bot.pull(&id).await["status"], "open", "a GET decides nothing");
    let form = format!("#row-{id} .quick");
    owner
        .submit(&page, &form, &[("value", "approve")], None)
        .await
        .expect(200);
    assert_eq!(bot.outcome(&id).await["response"]["response"]["value"], "approve");
    let viewer = WebClient::as_person(&hub, "eve", "viewer").await;
    bot.accepted(&ask("bot")).await;
    assert_eq!(viewer.get("/inbox").await.count(".quick"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn titles_show_code_and_excerpts_hide_sensitive_text() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&titled(ask("bot"), "Run `rm -rf <x>`?")).await;
    let secret = bot.accepted(&with(ask("bot"), "sensitive", json!(true))).await;
    let page = WebClient::signed_in(&hub).await.get("/inbox").await.expect(200);
    assert_eq!(page.text_at(&format!("#row-{id} .title code")), "rm -rf <x>");
    assert_eq!(page.count(&format!("#row-{secret} .excerpt")), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn theme_and_density_are_in_the_first_byte_of_every_page() {
    let hub = Hub::start().await;
    let owner = WebClient::signed_in(&hub).await;
    let page = owner.get("/inbox").await.expect(200);
    assert_eq!(page.attribute("html", "data-theme"), None, "the system's theme");
    let token = csrf(&page);
    let fields = [
        ("csrf", token.as_str()),
        ("theme", "dark"),
        ("density", "comfortable"),
        ("back", "/inbox/history"),
    ];
    let changed = owner.post("/inbox/look", &fields).await.expect(200);
    assert_eq!(changed.url, "/inbox/history");
    for path in ["/inbox", "/inbox/settings", "/runs"] {
        let page = owner.get(path).await.expect(200);
        let html = |name| page.attribute("html", name);
        assert_eq!(
            (html("data-theme").as_deref(), html("data-density").as_deref()),
            (Some("dark"), Some("comfortable")),
            "{path}"
        );
        assert_eq!(
            page.attribute("meta[name=color-scheme]", "content").as_deref(),
            Some("dark")
        );
    }
    owner
        .post("/inbox/look", &[("csrf", &token), ("theme", "pink")])
        .await
        .expect(422);
}
