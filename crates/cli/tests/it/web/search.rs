//! Full-text search.

use serde_json::json;

use super::WebClient;
use super::list::{titled, titles};
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn search_finds_open_and_decided_items_and_notices_with_their_state() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let decided = bot.accepted(&titled(ask("bot"), "Refund order 4711")).await;
    hub.owner.answer(&decided, "approve").await.expect(200);
    let notice = bot.accepted(&titled(notify("bot"), "refund sent")).await;
    let owner = WebClient::signed_in(&hub).await;
    let mut body = titled(ask("bot"), "Something else");
    body["body"] = json!("The **refunds** of May.");
    let open = bot.accepted(&body).await;
    let start = owner.get("/inbox").await;
    let page = owner
        .submit(&start, "form[role=search]", &[("q", "REFUND")], None)
        .await
        .expect(200);
    assert_eq!(titles(&page), ["Something else", "refund sent", "Refund order 4711"]);
    assert_eq!(page.field("q").as_deref(), Some("REFUND"));
    assert_eq!(page.text_at(&format!("#row-{open} .status")), "open");
    assert_eq!(page.text_at(&format!("#row-{notice} .status")), "notice");
    assert!(
        page.text_at(&format!("#row-{decided} .note"))
            .starts_with("Approved by owner")
    );
    assert_eq!(
        titles(&owner.get("/inbox/search?q=order+refund").await),
        ["Refund order 4711"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn search_skips_sensitive_text_and_survives_any_query() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut secret = titled(ask("bot"), "Hushhush");
    secret["sensitive"] = json!(true);
    bot.accepted(&secret).await;
    let owner = WebClient::signed_in(&hub).await;
    let none = owner.get("/inbox/search?q=Hushhush").await.expect(200);
    assert!(none.text_at(".empty").starts_with("Nothing found."));
    assert!(
        owner
            .get("/inbox/search")
            .await
            .expect(200)
            .text_at(".empty")
            .starts_with("Type a word")
    );
    for query in [
        "%22",
        "*",
        "a*%22+OR+b",
        "NEAR(a+b)",
        "-",
        "%00",
        "title:x",
        "%F0%9F%98%80",
        "%3Cscript%3E",
        "(",
        "'",
    ] {
        let page = owner.get(&format!("/inbox/search?q={query}")).await.expect(200);
        assert_eq!(page.count("#main script"), 0);
    }
    owner
        .get(&format!("/inbox/search?q={}", "long+".repeat(2000)))
        .await
        .expect(200);
    owner.get("/inbox/search?q=a&before=x").await.expect(400);
}

#[tokio::test(flavor = "multi_thread")]
async fn days_of_a_search_are_those_of_the_readers_zone() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    bot.accepted(&titled(ask("bot"), "Just now")).await;
    let owner = WebClient::signed_in(&hub).await;
    let found = async |date: &str| {
        let page = owner.get(&format!("/inbox/search?q=after:{date}")).await.expect(200);
        (titles(&page).len(), page.text_at(".hints").contains("(days in UTC)"))
    };
    let today = jiff::Timestamp::now();
    let tomorrow = |zone: &str| {
        let here = today.in_tz(zone).expect("a zone");
        here.date().tomorrow().expect("a date").to_string()
    };
    assert_eq!(found(&tomorrow("UTC")).await, (0, true));
    // It is a day later there than here, so tomorrow has begun.
    owner.set_cookie("countersign_zone", "Pacific/Kiritimati");
    assert_eq!(found(&tomorrow("Pacific/Midway")).await, (1, false));
    owner.set_cookie("countersign_zone", "Pacific/Midway");
    assert_eq!(found(&tomorrow("Pacific/Midway")).await, (0, false));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_that_cannot_be_read_says_so_in_the_language_of_the_reader() {
    let hub = Hub::start().await;
    let owner = WebClient::signed_in(&hub).await;
    let said = async |language: &str, query: &str| {
        owner.set_cookie("countersign_look", &format!("system.compact.{language}"));
        let page = owner.get(&format!("/inbox/search?q={query}")).await.expect(200);
        page.text_at(".banner.warn")
    };
    let english = said("en", "form:bot").await;
    assert!(
        english.starts_with("“form:” is not a filter. Use one of from:, is:,"),
        "{english}"
    );
    let german = said("de", "form:bot").await;
    assert!(
        german.starts_with("„form:“ ist kein Filter. Nehmen Sie einen von from:, is:,"),
        "{german}"
    );
    assert_eq!(
        said("zh", "after:").await,
        "“after:”需要一个值，例如 after:2026-06-30。"
    );
    assert_eq!(
        said("de", "is:open+is:open").await,
        "„is:“ steht zweimal da; geben Sie es einmal an."
    );
    let history = owner.get("/inbox/history?q=kind:x").await.expect(200);
    assert!(history.text_at(".banner.warn").starts_with("„kind:x“ ist unbekannt."));
}

#[tokio::test(flavor = "multi_thread")]
async fn results_are_selected_for_a_batch_and_closed_ones_are_skipped() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let decided = bot.accepted(&titled(ask("bot"), "Refund one")).await;
    hub.owner.answer(&decided, "approve").await.expect(200);
    let open = bot.accepted(&titled(ask("bot"), "Refund two")).await;
    let owner = WebClient::signed_in(&hub).await;
    let page = owner.get("/inbox/search?q=refund").await.expect(200);
    assert_eq!(page.count("#rows .pick[form=batch]"), 2);
    let review = owner
        .submit(
            &page,
            "form#batch",
            &[("id", &decided), ("id", &open)],
            Some(("verdict", "deny")),
        )
        .await
        .expect(200);
    assert_eq!(review.text_at("#do"), "Deny 1");
    assert!(review.text_at("#left").contains("already approved, by owner"));
    assert_eq!(owner.get("/inbox/search").await.count("#batch"), 0);
}
