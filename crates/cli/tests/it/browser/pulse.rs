//! The page of figures in a real browser.

use super::chrome::{Browser, Viewport};
use crate::harness::*;

#[tokio::test]
async fn the_figures_follow_live_events() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.press("g").await;
    browser.press("p").await;
    browser.wait_for_text("#waiting", "0").await;
    let id = bot.accepted(&ask("bot")).await;
    browser.wait_for_text("#waiting", "1").await;
    hub.owner.answer(&id, "deny").await.expect(200);
    browser.wait_for_text("#denied", "100 %").await;
    browser.wait_for_text("#waiting", "0").await;
    browser.wait_for(".chart rect.bad").await;
    browser.finish().await;
}
