//! Undo with scripts: the toast, its button and the key z.

use super::{LONG, with_undo};
use crate::browser::chrome::{Browser, Viewport};
use crate::harness::*;

#[tokio::test]
async fn z_takes_the_last_decision_back() {
    let hub = with_undo(LONG).start().await;
    let bot = hub.agent("bot").await;
    let first = bot.accepted(&ask("bot")).await;
    let second = bot.accepted(&ask("bot")).await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.open_item(&hub, &first).await;
    browser.press("a").await;
    browser.item_ready(&second).await;
    let toast = browser.wait_for_text("#news", "Undo").await;
    assert!(toast.contains("Deploy build 42?") && toast.contains("View"), "{toast}");
    browser.press("z").await;
    browser.item_ready(&first).await;
    browser.wait_for_text("#news", "Taken back").await;
    assert_eq!(bot.pull(&first).await["status"], "open");
    browser.finish().await;
}

#[tokio::test]
async fn a_decision_of_another_person_appears_and_goes_without_a_reload() {
    let hub = with_undo(LONG).start().await;
    let ann = hub.person("ann", "resolver").await;
    let bot = hub.agent("bot").await;
    let id = bot
        .accepted(&resolvers(ask("bot"), &["human:owner", "human:ann"]))
        .await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.open(&hub, "/inbox").await;
    browser.wait_for(&format!("#row-{id}")).await;
    super::hold(&ann, &id, "approve").await;
    browser
        .wait_for_text(&format!("#row-{id} .badge.held"), "ann is answering")
        .await;
    super::undo(&ann, &id).await.expect(200);
    browser.wait_until_gone(".badge.held").await;
    browser.open_item(&hub, &id).await;
    super::hold(&ann, &id, "approve").await;
    browser.wait_for_text("#held", "ann is answering this").await;
    super::undo(&ann, &id).await.expect(200);
    browser.wait_for("#answer").await;
    browser.finish().await;
}

#[tokio::test]
async fn the_undo_button_of_the_toast_takes_the_decision_back() {
    let hub = with_undo(LONG).start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.open_item(&hub, &id).await;
    browser.press("a").await;
    browser.wait_for("body[data-page=list]").await;
    browser
        .wait_for_text(&format!("#row-{id} .badge.held"), "owner is answering")
        .await;
    browser.click("#news button.undo").await;
    browser.item_ready(&id).await;
    assert_eq!(bot.pull(&id).await["status"], "open");
    browser.finish().await;
}
