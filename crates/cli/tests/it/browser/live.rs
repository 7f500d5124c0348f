//! What happens on a page while somebody looks at it.

use serde_json::json;

use super::chrome::{Browser, Look};
use crate::harness::{Hub, ask, expiring, select};

#[tokio::test]
async fn a_new_ask_appears_by_itself() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let browser = Browser::signed_in(Look::DESKTOP, &hub).await;
    browser.see(".empty").await;
    let id = bot.accepted(&ask("bot")).await;
    browser.see_text(&format!("#row-{id} a.title"), "Deploy build 42?").await;
    browser.see_text("#count", "1").await;
    assert!(browser.title().await.starts_with("(1) "), "{}", browser.title().await);
    let mut urgent = ask("bot");
    urgent["priority"] = "urgent".into();
    let second = bot.accepted(&urgent).await;
    browser.see(&format!("#rows > li:first-child#row-{second}")).await;
    browser.finish().await;
}

#[tokio::test]
async fn of_two_who_answer_the_second_sees_who_was_first_and_keeps_what_was_typed() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    hub.person("alice", "resolver").await;
    let mut question = ask("bot");
    question["request"]["allowed_resolvers"] = json!(["human:owner", "human:alice"]);
    let id = bot.accepted(&question).await;
    let first = Browser::signed_in(Look::DESKTOP, &hub).await;
    let second = Browser::signed_in_as(Look::DESKTOP, &hub, "alice").await;
    for browser in [&first, &second] {
        browser.open(&hub, &format!("/inbox/items/{id}")).await;
        browser.guard_lifted().await;
    }
    second.press("c").await;
    second.see("#comment:focus").await;
    second.press("I would wait until Monday").await;
    first.click("button.choice[data-role=approve]").await;
    second.see_text("#outcome", "human:owner").await;
    second.see_text("#typed", "I would wait until Monday").await;
    assert_eq!(second.count("button.choice").await, 0);
    second.shot("lost-race").await;
    assert_eq!(bot.outcome(&id).await["response"]["response"]["actor"], "human:owner");
    first.finish().await;
    second.finish().await;
}

#[tokio::test]
async fn an_answer_on_its_way_that_comes_second_is_told_who_won() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    let browser = Browser::signed_in(Look::DESKTOP, &hub).await;
    // The page does not hear of what others do.
    browser.devtools("Network.enable", json!({})).await;
    browser.devtools("Network.setBlockedURLs", json!({"urls": ["*/inbox/events*"]})).await;
    browser.open(&hub, &format!("/inbox/items/{id}")).await;
    browser.guard_lifted().await;
    browser.press("c").await;
    browser.see("#comment:focus").await;
    browser.press("on my way").await;
    hub.owner.answer(&id, "deny").await.expect(200);
    browser.click("button.choice[data-role=approve]").await;
    browser.see_text("#outcome", "Deny").await;
    browser.see_text("#typed", "on my way").await;
    assert_eq!(bot.outcome(&id).await["response"]["response"]["value"], "deny");
    browser.finish().await;
}

#[tokio::test]
async fn choices_do_nothing_for_the_first_half_second() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    let browser = Browser::signed_in(Look::DESKTOP, &hub).await;
    browser.see(&format!("#row-{id}")).await;
    // In one go, so that no time passes between the item's appearance and the click.
    let clicked = browser
        .script_async(&format!(
            "const done = arguments[arguments.length - 1];
             const watch = new MutationObserver(() => {{
               const button = document.querySelector('button.choice[data-role=approve]');
               if (!button) return;
               watch.disconnect();
               button.click();
               const key = {{key: 'a', bubbles: true, cancelable: true}};
               document.body.dispatchEvent(new KeyboardEvent('keydown', key));
               done(document.querySelector('#panel').hasAttribute('data-guarded'));
             }});
             watch.observe(document.body, {{childList: true, subtree: true}});
             document.querySelector('#row-{id} a.title').click();"
        ))
        .await;
    assert_eq!(clicked, true, "the panel was guarded when it appeared");
    browser.guard_lifted().await;
    assert_eq!(bot.pull(&id).await["status"], "open", "neither the click nor the key counted");
    browser.press("a").await;
    assert_eq!(bot.outcome(&id).await["status"], "answered");
    browser.finish().await;
}

#[tokio::test]
async fn an_ask_that_expires_under_the_reader_says_what_became_of_it() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let browser = Browser::signed_in(Look::DESKTOP, &hub).await;
    let mut question = expiring(select("bot"), 5_000);
    question["request"]["default_on_expire"] = "green".into();
    let id = bot.accepted(&question).await;
    browser.open(&hub, &format!("/inbox/items/{id}")).await;
    browser.see_text("#item", "will answer “Green” by itself").await;
    browser.see_text("#outcome", "default").await;
    assert_eq!(browser.count("#send").await, 0);
    browser.finish().await;
}

#[tokio::test]
async fn the_track_follows_the_answer_to_the_agent() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    let browser = Browser::signed_in(Look::DESKTOP, &hub).await;
    hub.owner.answer(&id, "approve").await.expect(200);
    browser.open(&hub, &format!("/inbox/items/{id}")).await;
    browser.see("#track li.now").await;
    bot.pull(&id).await;
    browser.see_none("#track li.now").await;
    browser.see_text("#track", "Fetched by the agent").await;
    browser.finish().await;
}
