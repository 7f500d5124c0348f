//! The list of open items.

use serde_json::{Value, json};

use super::{Page, WebClient};
use crate::harness::*;

/// The titles of the rows, top to bottom.
pub fn titles(page: &Page) -> Vec<String> {
    page.texts_at("#rows > .row .title")
}

pub fn titled(mut envelope: Value, title: &str) -> Value {
    envelope["title"] = json!(title);
    envelope
}

/// The CSRF token of this visitor's forms.
pub fn csrf(page: &Page) -> String {
    page.attribute("meta[name=csrf]", "content")
        .expect("a page with a session")
}

fn of_priority(priority: &str, title: &str) -> Value {
    let mut envelope = titled(ask("bot"), title);
    envelope["priority"] = json!(priority);
    envelope
}

#[tokio::test(flavor = "multi_thread")]
async fn urgent_items_come_first_then_the_oldest() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    for (priority, title) in [
        ("low", "l"),
        ("normal", "n1"),
        ("urgent", "u"),
        ("normal", "n2"),
        ("high", "h"),
    ] {
        bot.accepted(&of_priority(priority, title)).await;
    }
    bot.accepted(&titled(notify("bot"), "not a question")).await;
    let owner = WebClient::signed_in(&hub).await;
    let page = owner.get("/inbox").await.expect(200);
    assert_eq!(titles(&page), ["u", "h", "n1", "n2", "l"]);
    assert_eq!(page.text_at("#count"), "5");
    assert_eq!(page.text_at("title"), "(5) Inbox · Countersign");
    assert_eq!(page.text_at(".row .priority"), "urgent");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_counter_counts_what_waits_for_its_reader() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    bot.accepted(&resolvers(ask("bot"), &["agent:bot"])).await;
    let owner = WebClient::signed_in(&hub).await;
    assert_eq!(owner.get("/inbox").await.expect(200).text_at("#count"), "0");
    bot.accepted(&ask("bot")).await;
    assert_eq!(owner.get("/inbox").await.expect(200).text_at("#count"), "1");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_shows_its_agent_age_and_expiry() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut envelope = expiring(titled(ask("bot"), "Deploy?"), 3_600_000);
    envelope["agent"]["project"] = json!("shop");
    envelope["tags"] = json!(["deploy", "two words"]);
    envelope["request"]["default_on_expire"] = json!("deny");
    let id = bot.accepted(&envelope).await;
    let silent = bot.accepted(&expiring(task("bot"), 3_600_000)).await;
    let page = WebClient::signed_in(&hub).await.get("/inbox").await.expect(200);
    let row = format!("#row-{id}");
    let at = |name: &str| page.attribute(&row, name).unwrap_or_default();
    assert_eq!(
        [
            at("data-kind"),
            at("data-agent"),
            at("data-project"),
            at("data-tags"),
            at("data-mine"),
            at("data-people")
        ],
        ["confirm", "bot", "shop", "deploy two%20words", "yes", "4c102969"]
    );
    assert_eq!(
        page.text_at(&format!("{row} .who")),
        "shop · confirm · deploy · two words"
    );
    assert_eq!(page.text_at(&format!("{row} .agent")), "bot");
    assert_eq!(page.text_at(&format!("{row} .avatar")), "BO");
    assert_eq!(page.text_at(&format!("{row} .excerpt")), "All checks are green.");
    assert_eq!(
        page.attribute(&format!("{row} a.title"), "href"),
        Some(format!("/inbox/items/{id}"))
    );
    assert!(page.attribute(&format!("{row} .age.fresh"), "data-since").is_some());
    assert!(
        page.text_at(&format!("{row} .expiry"))
            .ends_with(", then answers “Deny”")
    );
    assert!(
        page.text_at(&format!("#row-{silent} .expiry"))
            .ends_with(", unanswered")
    );
    assert_eq!(page.attribute(&format!("{row} .pick"), "value"), Some(id));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_is_filtered_by_form_and_by_links() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let other = hub.agent("other+co").await;
    let mut tagged = titled(select("bot"), "tagged");
    tagged["tags"] = json!(["a&b=c"]);
    tagged["agent"]["project"] = json!("shop");
    bot.accepted(&tagged).await;
    bot.accepted(&titled(task("bot"), "work")).await;
    other.accepted(&titled(ask("other+co"), "theirs")).await;
    let owner = WebClient::signed_in(&hub).await;
    let all = owner.get("/inbox").await;
    for (link, found) in [
        ("a.agent[href*=other]", "theirs"),
        ("a.project", "tagged"),
        ("a.tag", "tagged"),
    ] {
        let page = owner
            .get(&all.attribute(&format!("#rows {link}"), "href").expect(link))
            .await
            .expect(200);
        assert_eq!(titles(&page), [found], "{link}");
    }
    let kinds = owner
        .submit(&all, "form#filters", &[("agent", "bot"), ("kind", "task")], None)
        .await
        .expect(200);
    assert_eq!(titles(&kinds), ["work"]);
    assert_eq!(
        (kinds.field("agent").as_deref(), kinds.field("kind").as_deref()),
        (Some("bot"), Some("task"))
    );
    let without = kinds
        .attribute("#active a.tag", "href")
        .expect("a way to take a filter off");
    assert_eq!(without, "/inbox?kind=task");
    let nothing = owner.get("/inbox?agent=nobody&cursor=&junk=%ff").await.expect(200);
    assert!(nothing.text_at(".empty").starts_with("Nothing open fits these filters"));
    owner.get("/inbox?cursor=nonsense").await.expect(400);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_list_is_paged() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    for nth in 0..33 {
        bot.accepted(&titled(ask("bot"), &format!("ask {nth}"))).await;
    }
    let owner = WebClient::signed_in(&hub).await;
    let first = owner.get("/inbox?agent=bot").await.expect(200);
    assert_eq!(titles(&first).len(), 30);
    assert_eq!(
        first.attribute("#rows", "data-most").as_deref(),
        Some("30"),
        "as many as scripts leave there"
    );
    let second = owner
        .get(&first.attribute("a#older", "href").expect("a next page"))
        .await
        .expect(200);
    assert_eq!(titles(&second), ["ask 30", "ask 31", "ask 32"]);
    assert_eq!(second.attribute("a#first", "href").as_deref(), Some("/inbox?agent=bot"));
    assert_eq!(second.count("a#older"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn items_of_other_resolvers_are_shown_and_marked() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let theirs = bot.accepted(&ask("bot")).await;
    let shared = bot
        .accepted(&resolvers(ask("bot"), &["human:owner", "human:alice", "human:eve"]))
        .await;
    let alice = WebClient::as_person(&hub, "alice", "resolver").await;
    let mine = alice.get("/inbox").await.expect(200);
    assert_eq!(
        (
            mine.count(&format!("#row-{theirs}")),
            mine.count(&format!("#row-{shared}"))
        ),
        (0, 1),
        "by default a list of what the person may answer"
    );
    let page = alice.get("/inbox?show=all").await.expect(200);
    assert_eq!(
        page.attribute(&format!("#row-{theirs}"), "data-mine").as_deref(),
        Some("no")
    );
    assert!(page.text_at(&format!("#row-{theirs}")).contains("not yours to answer"));
    assert_eq!(
        page.attribute(&format!("#row-{shared}"), "data-mine").as_deref(),
        Some("yes")
    );
    // A viewer who is listed as a resolver still may not answer.
    let eve = WebClient::as_person(&hub, "eve", "viewer")
        .await
        .get("/inbox")
        .await
        .expect(200);
    assert_eq!(
        eve.attribute(&format!("#row-{shared}"), "data-mine").as_deref(),
        Some("no")
    );
    assert_eq!(eve.count("#batch button[value=approve]"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_agent_text_is_escaped() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut envelope = titled(ask("bot"), "<script>alert(1)</script> pay \u{202e}001\u{202c}");
    envelope["tags"] = json!(["\"><img src=x>", "java\u{200b}script:"]);
    envelope["agent"]["project"] = json!("<b>\u{2066}");
    bot.accepted(&envelope).await;
    let page = WebClient::signed_in(&hub).await.get("/inbox").await.expect(200);
    assert_eq!(
        page.text_at(".row .title"),
        "<script>alert(1)</script> pay \\u{202e}001\\u{202c}"
    );
    assert_eq!(
        (
            page.count("#rows script"),
            page.count("#rows img"),
            page.count("#rows b")
        ),
        (0, 0, 0)
    );
    let seen = page.text();
    assert!(!seen.contains(['\u{202e}', '\u{200b}', '\u{2066}']), "{seen}");
}

#[tokio::test(flavor = "multi_thread")]
async fn names_with_hidden_characters_work_as_filters_and_are_not_offered() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut envelope = ask("bot");
    envelope["tags"] = json!(["plain", "pay\u{202e}dna"]);
    bot.accepted(&envelope).await;
    bot.accepted(&ask("bot")).await;
    let owner = WebClient::signed_in(&hub).await;
    let page = owner.get("/inbox").await.expect(200);
    assert_eq!(page.count("#tags option"), 1);
    assert_eq!(page.attribute("#tags option", "value").as_deref(), Some("plain"));
    let link = page
        .attribute("#rows a.tag[href*='%E2%80%AE']", "href")
        .expect("the tag's link");
    let narrowed = owner.get(&link).await.expect(200);
    assert_eq!(
        (titles(&narrowed).len(), narrowed.count("#filters label input")),
        (1, 2)
    );
    assert!(narrowed.text_at("#active").contains("tag: pay\\u{202e}dna"));
    let further = owner
        .submit(&narrowed, "form#filters", &[("kind", "task")], None)
        .await
        .expect(200);
    assert!(further.url.contains("pay%E2%80%AEdna"), "it stays on: {}", further.url);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_inbox_says_so_and_needs_a_session() {
    let hub = Hub::start().await;
    let owner = WebClient::signed_in(&hub).await;
    let page = owner.get("/inbox").await.expect(200);
    assert!(page.text_at(".empty").starts_with("Nothing waits for you."));
    assert_eq!((page.count("ol#rows[data-list=open]"), page.count(".row")), (1, 0));
    let stranger = WebClient::anonymous(&hub);
    for path in [
        "/inbox?tag=a",
        "/inbox/notices",
        "/inbox/aside",
        "/inbox/history",
        "/inbox/search?q=a",
        "/inbox/batch",
    ] {
        let page = stranger.get(path).await;
        assert!(page.url.starts_with("/signin?next=%2Finbox"), "{path}: {}", page.url);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_request_for_the_list_gets_only_the_inner_page() {
    let hub = Hub::start().await;
    hub.agent("bot").await.accepted(&ask("bot")).await;
    let owner = WebClient::signed_in(&hub).await;
    let request = owner
        .request(reqwest::Method::GET, "/inbox")
        .header("x-fragment", "main");
    let reply = Api::send(request).await;
    let text = reply.text();
    assert_eq!(reply.status, 200);
    assert!(text.trim_start().starts_with("<title>(1) Inbox"), "{text}");
    assert!(
        text.contains("<main id=\"main\"") && text.contains("class=\"row\"") && !text.contains("<body"),
        "{text}"
    );
}
