//! Several tabs of one browser, and slow requests.

use serde_json::json;

use super::chrome::{Browser, Viewport};
use crate::harness::{Hub, PushReply, Receiver, Setup, ask, eventually, push_to};

async fn new_tab(browser: &Browser) -> String {
    let made = browser.driver_post("window/new", &json!({"type": "tab"})).await;
    let tab = made["handle"].as_str().expect("a tab").to_owned();
    switch_to(browser, &tab).await;
    tab
}

async fn switch_to(browser: &Browser, tab: &str) {
    browser.driver_post("window", &json!({"handle": tab})).await;
}

/// Holds every POST before it is sent or after its response (`when`), until `window.letGo` is called.
async fn hold_posts(browser: &Browser, when: &str) {
    let script = "const send = window.fetch;
        const held = () => new Promise((resolve) => (window.letGo = resolve));
        window.fetch = async (url, options) => {
          const isPost = options?.method === 'POST';
          if (isPost && WHEN === 'before') await held();
          const response = await send(url, options);
          if (isPost && WHEN === 'after') await held();
          return response;
        };";
    browser.script(&script.replace("WHEN", &format!("'{when}'"))).await;
}

async fn until_held(browser: &Browser) {
    eventually("something is held", async || {
        (browser.script("return typeof window.letGo").await == "function").then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_slow_answer_does_not_land_on_another_item() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let first = bot.accepted(&ask("bot")).await;
    let second = bot.accepted(&ask("bot")).await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.open_item(&hub, &first).await;
    hold_posts(&browser, "after").await;
    browser.click("button.choice[data-role=approve]").await;
    until_held(&browser).await;
    browser.press("j").await;
    browser.item_ready(&second).await;
    browser.script("window.letGo()").await;
    browser.wait_for_text("#news", "Approve").await;
    browser
        .wait_for(&format!(
            "#item[data-id='{second}'][data-status=open] button.choice[data-role=approve]"
        ))
        .await;
    browser.wait_for(&format!("#news a[href$='{first}']")).await;
    assert_eq!(bot.outcome(&first).await["status"], "answered");
    assert_eq!(bot.pull(&second).await["status"], "open");
    browser.press("a").await;
    assert_eq!(bot.outcome(&second).await["status"], "answered");
    browser.finish().await;
}

#[tokio::test]
async fn a_slow_answer_that_came_too_late_leaves_the_next_item_alone() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let first = bot.accepted(&ask("bot")).await;
    let second = bot.accepted(&ask("bot")).await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.open_item(&hub, &first).await;
    hold_posts(&browser, "before").await;
    browser.click("button.choice[data-role=approve]").await;
    until_held(&browser).await;
    browser.press("j").await;
    browser.wait_for(&format!("#item[data-id='{second}']")).await;
    hub.owner.answer(&first, "deny").await.expect(200);
    browser.script("window.letGo()").await;
    browser.wait_for_text("#news", "Not taken").await;
    browser
        .wait_for(&format!(
            "#item[data-id='{second}'][data-status=open] button.choice[data-role=approve]"
        ))
        .await;
    assert_eq!(browser.count("#outcome").await, 0);
    assert_eq!(bot.outcome(&first).await["response"]["response"]["value"], "deny");
    browser.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_during_a_slow_submit_are_shown_afterwards() {
    let config = "[push]\nfirst_retry_ms = 20\nattempt_timeout_ms = 500\n";
    let hub = Setup::default()
        .args(&["--allow-loopback-callbacks"])
        .config(config)
        .start()
        .await;
    let receiver = Receiver::start().await;
    receiver.script("/again", &[PushReply::Status(404), PushReply::Hang]);
    let bot = hub.agent("bot").await;
    hub.approve(&bot, &receiver.host()).await;
    let id = bot.accepted(&push_to(ask("bot"), &receiver.url("/again"))).await;
    hub.owner.answer(&id, "approve").await.expect(200);
    hub.delivery(&id, "failed").await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.open(&hub, &format!("/inbox/items/{id}")).await;
    browser.wait_for("#retry").await;
    browser.guard_off().await;
    hold_posts(&browser, "after").await;
    browser.click("#retry button").await;
    until_held(&browser).await;
    hub.delivery(&id, "delivered").await;
    browser.script("window.letGo()").await;
    browser.wait_for_text("#track", "Delivered").await;
    browser.wait_until_gone("#track li.now, #retry").await;
    browser.finish().await;
}

#[tokio::test]
async fn a_sign_in_in_another_tab_stops_answers_under_the_old_name() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    hub.person("alice", "resolver").await;
    let mut question = ask("bot");
    question["request"]["allowed_resolvers"] = json!(["human:owner", "human:alice"]);
    let id = bot.accepted(&question).await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    let old = new_tab(&browser).await;
    browser.open_item(&hub, &id).await;
    browser.press("c").await;
    browser.wait_for("#comment:focus").await;
    browser.press("as the owner").await;

    new_tab(&browser).await;
    let made = hub
        .owner
        .post("/v1/admin/people/link", &json!({"name": "alice"}))
        .await
        .expect(200);
    browser.sign_in_by(made["url"].as_str().expect("a link")).await;
    browser.wait_for("body[data-person=alice]").await;

    switch_to(&browser, &old).await;
    browser.guard_off().await;
    browser.click("button.choice[data-role=approve]").await;
    browser.wait_for_text("#answer .unsent", "signed in again").await;
    browser.click("button.choice[data-role=approve]").await;
    browser.wait_for_text("#answer .unsent", "alice is signed in now").await;
    assert_eq!(browser.value("#comment").await, "as the owner");
    assert_eq!(bot.pull(&id).await["status"], "open");
    browser.click("#nav-inbox").await;
    browser
        .wait_for("body[data-page=list][data-person=alice] main[data-person=alice]")
        .await;
    browser.wait_for_text("header .me", "alice").await;
    browser.finish().await;
}

#[tokio::test]
async fn eight_tabs_load_and_stay_live() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    let mut tabs = Vec::new();
    for _ in 0..8 {
        tabs.push(new_tab(&browser).await);
        browser.open(&hub, "/inbox").await;
        browser.wait_for(".empty").await;
    }
    let id = bot.accepted(&ask("bot")).await;
    for tab in &tabs {
        switch_to(&browser, tab).await;
        browser.wait_for(&format!("#row-{id}")).await;
        browser.wait_for_text("#count", "1").await;
    }
    const HELD: &str = "const done = arguments[arguments.length - 1];
        navigator.locks.query().then(({ held }) => done(held.length));";
    assert_eq!(browser.script_async(HELD).await, 1, "one of them listens for all");
    hub.owner.answer(&id, "approve").await.expect(200);
    for tab in tabs.iter().rev() {
        switch_to(&browser, tab).await;
        browser.wait_until_gone(&format!("#row-{id}")).await;
        browser.wait_for("#count[data-none]").await;
    }
    browser.finish().await;
}

#[tokio::test]
async fn a_snoozed_item_decided_elsewhere_is_not_counted_twice() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let snoozed = bot.accepted(&ask("bot")).await;
    bot.accepted(&ask("bot")).await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.wait_for_text("#count", "2").await;
    browser.open_item(&hub, &snoozed).await;
    browser.press("s").await;
    browser.click("#aside-box[open] button[value='1h']").await;
    browser.wait_for("body[data-page=list]").await;
    browser.wait_for_text("#count", "1").await;
    hub.owner.answer(&snoozed, "approve").await.expect(200);
    let new = bot.accepted(&ask("bot")).await;
    browser.wait_for(&format!("#row-{new}")).await;
    browser.wait_for_text("#count", "2").await;
    assert!(browser.title().await.starts_with("(2) "), "{}", browser.title().await);
    browser.finish().await;
}
