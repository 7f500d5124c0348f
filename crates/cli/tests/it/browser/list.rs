//! Search, and decisions on several items at once.

use super::chrome::{Browser, Viewport};
use crate::harness::{Hub, ask, select};

const ENTER: &str = "\u{e007}";
const TAB: &str = "\u{e004}";

#[tokio::test]
async fn several_are_approved_after_one_confirmation_and_failures_stay() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let ids = [
        bot.accepted(&ask("bot")).await,
        bot.accepted(&ask("bot")).await,
        bot.accepted(&ask("bot")).await,
    ];
    let other = bot.accepted(&select("bot")).await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    for id in [&ids[0], &ids[1], &other] {
        browser.click(&format!("#row-{id} input.pick")).await;
    }
    browser.wait_for_text("#picked", "3").await;
    browser.screenshot("batch").await;
    browser.press("b").await;
    browser.wait_for("#batch button[value=approve]:focus").await;
    browser.press(ENTER).await;
    browser.wait_for_text("#going", "Deploy build 42?").await;
    browser.wait_for("#left").await;
    // Another person decides one of them while the confirmation is open.
    hub.owner.answer(&ids[1], "deny").await.expect(200);
    browser.click("#confirm:not([data-guarded]) #do").await;
    browser.wait_for(&format!("#done a[href$='{}']", ids[0])).await;
    browser.wait_for(&format!("#failed a[href$='{}']", ids[1])).await;
    browser.screenshot("batch-done").await;
    assert_eq!(bot.outcome(&ids[0]).await["response"]["response"]["value"], "approve");
    assert_eq!(bot.outcome(&ids[1]).await["response"]["response"]["value"], "deny");
    assert_eq!(bot.pull(&ids[2]).await["status"], "open");
    assert_eq!(bot.pull(&other).await["status"], "open");
    browser.finish().await;
}

#[tokio::test]
async fn several_are_rejected_with_one_reason_by_keyboard_alone() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let ids = [
        bot.accepted(&ask("bot")).await,
        bot.accepted(&ask("bot")).await,
        bot.accepted(&ask("bot")).await,
    ];
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.wait_for(&format!("#row-{}", ids[2])).await;
    browser.press("jxjx").await;
    browser.wait_for_text("#picked", "2 selected").await;
    browser.press("r").await;
    browser
        .wait_for("#confirm:has([name=verdict][value=deny]):not([data-guarded]) #reason:focus")
        .await;
    browser.press("not on a Friday").await;
    browser.press(TAB).await;
    browser.press(ENTER).await;
    for id in &ids[..2] {
        let answer = bot.outcome(id).await;
        assert_eq!(answer["response"]["response"]["value"], "deny", "{answer}");
        assert_eq!(answer["response"]["response"]["comment"], "not on a Friday");
    }
    assert_eq!(bot.pull(&ids[2]).await["status"], "open");
    browser.finish().await;
}

#[tokio::test]
async fn rejecting_anything_but_a_confirm_declines_it() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let first = bot.accepted(&select("bot")).await;
    let second = bot.accepted(&ask("bot")).await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.wait_for(&format!("#row-{second}")).await;
    browser.press("jxjxr").await;
    browser
        .wait_for("#confirm:has([name=verdict][value=decline]) #reason:focus")
        .await;
    browser.open(&hub, "/inbox").await;
    // Without a selection the key applies to the row under the cursor.
    browser.press("j").await;
    browser.wait_for(&format!("#row-{first}[aria-current]")).await;
    browser.press("r").await;
    browser
        .wait_for(&format!("#item[data-id='{first}'] #reject[open] #reason:focus"))
        .await;
    browser.finish().await;
}

#[tokio::test]
async fn search_finds_words_of_open_and_decided_items() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut open = ask("bot");
    open["title"] = "Rotate the Zürich certificates".into();
    let open = bot.accepted(&open).await;
    let mut decided = ask("bot");
    decided["body"] = "The certificates of the old load balancer".into();
    let decided = bot.accepted(&decided).await;
    hub.owner.answer(&decided, "approve").await.expect(200);
    let mut secret = ask("bot");
    secret["title"] = "certificates, sensitive".into();
    secret["sensitive"] = true.into();
    let secret = bot.accepted(&secret).await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.press("/").await;
    browser.wait_for("#q:focus").await;
    browser.press("certif").await;
    browser.press(ENTER).await;
    browser.wait_for(&format!("#row-{open}")).await;
    browser.wait_for(&format!("#row-{decided}")).await;
    assert_eq!(
        browser.count(&format!("#row-{secret}")).await,
        0,
        "sensitive text is not searched"
    );
    browser.screenshot("search").await;
    browser.open(&hub, "/inbox/search?q=zurich").await;
    browser.wait_for_text(&format!("#row-{open} .status"), "open").await;
    assert_eq!(browser.count("#rows > li").await, 1);
    hub.owner.answer(&open, "deny").await.expect(200);
    browser.wait_for_text(&format!("#row-{open} .note"), "Denied").await;
    assert_eq!(
        browser.count(&format!("#row-{open} :is(.status, .age)")).await,
        0,
        "it waits no more"
    );
    browser.finish().await;
}

#[tokio::test]
async fn a_snoozed_item_comes_back_and_stays_open() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.open_item(&hub, &id).await;
    browser.press("s").await;
    browser.click("#aside-box[open] button[value='1h']").await;
    browser.wait_for("body[data-page=list] .empty").await;
    assert_eq!(bot.pull(&id).await["status"], "open");
    browser.click("#nav-aside").await;
    browser.click(&format!("#row-{id} form button")).await;
    browser.click("#nav-inbox").await;
    browser.wait_for(&format!("#row-{id}")).await;
    browser.finish().await;
}
