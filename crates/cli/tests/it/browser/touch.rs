//! Touch screens: the answers in a row, large targets, and no hints for keys.

use serde_json::{Value, json};

use super::chrome::{Browser, Viewport};
use crate::harness::*;

const PHONE: Viewport = Viewport {
    width: 390,
    ..Viewport::PHONE
};
const TABLET: Viewport = Viewport {
    width: 820,
    height: 1180,
    ..Viewport::DESKTOP
};
const LARGE: Viewport = Viewport {
    width: 1440,
    ..Viewport::DESKTOP
};

/// The answers in rows that are smaller than a finger, lie over another part of their row, or do not fit.
const POOR_ANSWERS: &str = "return [...document.querySelectorAll('#rows > .row > .quick > button')].filter((button) => {
      const at = button.getBoundingClientRect();
      const parts = [...button.closest('.row').children].filter((part) => part !== button.parentElement && part.checkVisibility({ opacityProperty: true }));
      const overlaps = parts.some((part) => { const other = part.getBoundingClientRect(); return other.bottom > at.top + 1 && other.top < at.bottom - 1 && other.right > at.left && other.left < at.right && !part.matches('.pick-box'); });
      return at.height < 44 || at.width < 44 || at.right > innerWidth || overlaps;
    }).map((button) => button.outerHTML)";

#[tokio::test]
async fn a_confirm_is_answered_in_its_row_by_a_finger() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    for (look, name) in [(PHONE, "390"), (TABLET, "820"), (LARGE, "1440")] {
        let first = bot.accepted(&expiring(ask("bot"), 3_000_000)).await;
        let second = bot.accepted(&ask("bot")).await;
        bot.accepted(&select("bot")).await;
        let browser = Browser::signed_in_as(look, &hub, "owner").await;
        browser.with_touch().await;
        browser.open(&hub, "/inbox").await;
        browser.wait_for(&format!("#row-{second} .quick")).await;
        assert_eq!(browser.script(POOR_ANSWERS).await, json!([]), "{name}");
        browser.screenshot(&format!("touch-{name}")).await;
        // Presses within half a second after the page appeared do nothing.
        let deny = format!("#row-{first} .quick [data-role=deny]");
        eventually("a tap answers", async || {
            browser.tap(&deny).await;
            (bot.pull(&first).await["status"] != "open").then_some(())
        })
        .await;
        assert_eq!(bot.outcome(&first).await["response"]["response"]["value"], "deny");
        hub.owner.answer(&second, "approve").await.expect(200);
        browser.finish().await;
    }
}

#[tokio::test]
async fn a_confirm_beside_an_open_item_is_answered_in_its_row() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let first = bot.accepted(&select("bot")).await;
    let second = bot.accepted(&ask("bot")).await;
    let browser = Browser::signed_in(LARGE, &hub).await;
    browser.click(&format!("#row-{first} a.title")).await;
    browser.wait_for(&format!("#detail #item[data-id='{first}']")).await;
    let approve = format!("#row-{second} .quick [data-role=approve]");
    // The buttons appear under the pointer, and count half a second after it came.
    browser.hover(&approve).await;
    browser.screenshot("quick-beside").await;
    eventually("a press answers", async || {
        browser.hover(&approve).await;
        browser
            .script(&format!("document.querySelector({approve:?})?.click()"))
            .await;
        (bot.pull(&second).await["status"] != "open").then_some(())
    })
    .await;
    assert_eq!(bot.outcome(&second).await["response"]["response"]["value"], "approve");
    assert_eq!(browser.count("#detail #item").await, 1);
    browser.finish().await;
}

#[tokio::test]
async fn no_hint_for_a_key_is_left_in_a_sentence_on_a_touch_screen() {
    let hub = Hub::start().await;
    let browser = Browser::signed_in(PHONE, &hub).await;
    for page in ["/inbox/aside", "/inbox/settings"] {
        browser.open(&hub, page).await;
        browser.wait_for("main .key-hint").await;
        let hints = "return [...document.querySelectorAll('main :is(kbd, .key-hint)')].filter((hint) => hint.checkVisibility()).length
            + [...document.querySelectorAll('main p kbd')].filter((key) => !key.closest('.key-hint, button, summary, label > kbd')).length";
        assert_eq!(browser.script(hints).await, 0, "{page}");
    }
    assert_eq!(
        browser
            .script("return document.querySelector('#open-help').checkVisibility()")
            .await,
        Value::Bool(false)
    );
    browser.finish().await;
}
