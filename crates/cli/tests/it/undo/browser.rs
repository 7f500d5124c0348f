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

#[tokio::test]
async fn z_takes_a_batch_back_also_after_a_reload() {
    let hub = with_undo(LONG).start().await;
    let bot = hub.agent("bot").await;
    let ids = [bot.accepted(&ask("bot")).await, bot.accepted(&ask("bot")).await];
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    let review = format!("/inbox/batch?verdict=deny&id={}&id={}", ids[0], ids[1]);
    browser.open(&hub, &review).await;
    browser.wait_for("#confirm:not([data-guarded])").await;
    browser.click("#do").await;
    browser.wait_for_text("#news", "Denied: 2 of 2").await;
    browser.wait_for("#news button.undo").await;
    browser.open(&hub, "/inbox/history").await;
    browser.wait_for("body[data-page=history]").await;
    browser.press("z").await;
    browser.wait_for_text("#news", "Taken back: 2 of 2").await;
    for id in &ids {
        let item = hub.owner.get(&format!("/v1/inbox/{id}")).await.expect(200);
        assert!(item["held"].is_null() && item["status"] == "open", "{item}");
    }
    browser.finish().await;
}

#[tokio::test]
async fn a_snooze_and_an_archived_notice_are_taken_back_by_toast_and_key() {
    let hub = with_undo(0).start().await;
    let bot = hub.agent("bot").await;
    let question = bot.accepted(&ask("bot")).await;
    let notice = bot.accepted(&notify("bot")).await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    let row = format!("#row-{question}");
    browser.wait_for(&row).await;
    browser.press("js").await;
    browser.wait_for("dialog#snooze[open]").await;
    browser.press("2").await;
    browser.wait_until_gone(&row).await;
    browser.wait_for_text("#news", "Snoozed until").await;
    browser.click("#news button.undo").await;
    browser.wait_for(&row).await;
    browser.open_item(&hub, &question).await;
    browser.press("s").await;
    browser.click("#aside button[value='1h']").await;
    browser.wait_for("body[data-page=list]").await;
    browser.wait_for_text("#news", "Snoozed until").await;
    browser.press("z").await;
    browser.wait_for(&row).await;
    browser.open(&hub, "/inbox/notices").await;
    let row = format!("#row-{notice}");
    browser.wait_for(&row).await;
    browser.press("je").await;
    browser.wait_until_gone(&row).await;
    browser.wait_for_text("#news", "Archived").await;
    browser.press("z").await;
    browser.wait_for(&row).await;
    browser.finish().await;
}

#[tokio::test]
async fn a_toast_names_the_decision_and_the_title_without_an_undo_time() {
    let hub = with_undo(0).start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.open_item(&hub, &id).await;
    browser.press("a").await;
    browser.wait_for_text("#news", "Approved “Deploy build 42?”").await;
    browser.finish().await;
}
