//! The page of figures in a real browser.

use serde_json::json;

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

#[tokio::test]
async fn the_browser_tells_its_zone_also_when_pulse_is_the_first_page() {
    let hub = Hub::start().await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser
        .devtools("Emulation.setTimezoneOverride", json!({"timezoneId": "Asia/Kolkata"}))
        .await;
    browser.open(&hub, "/inbox/pulse?days=1").await;
    let script = "return document.querySelector('#latest')?.textContent";
    eventually("hours of the browser's zone", async || {
        let latest = browser.script(script).await;
        latest.as_str().filter(|text| !text.contains("UTC")).map(str::to_owned)
    })
    .await;
    browser.reload().await;
    assert!(!browser.wait_for_text("#latest", ":00").await.contains("UTC"));
    browser.finish().await;
}
