//! The pages in German and Chinese, in a browser with its scripts.

use serde_json::json;

use super::chrome::{Browser, Viewport};
use crate::harness::*;

#[tokio::test]
async fn the_switch_changes_the_language_of_page_and_scripts_at_once() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let brief = || {
        let mut brief = expiring(ask("bot"), 3_600_000);
        brief["context"] = json!([{"kind": "text", "text": "```sh\nls\n```"}]);
        brief
    };
    let ids = [bot.accepted(&brief()).await, bot.accepted(&brief()).await];
    bot.accepted(&notify("bot")).await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.open(&hub, "/inbox").await;
    let languages = [("de", "Posteingang", "Genehmigt"), ("zh", "收件箱", "已批准")];
    for ((language, heading, approved), id) in languages.into_iter().zip(ids) {
        browser.click("#me-menu > summary").await;
        browser.click(&format!("form.look button[value={language}]")).await;
        browser.wait_for_text("h1", heading).await;
        assert_eq!(browser.script("return document.documentElement.lang").await, language);
        browser.screenshot(&format!("list-{language}")).await;
        browser.open_item(&hub, &id).await;
        browser.screenshot(&format!("item-{language}")).await;
        browser.press("a").await;
        browser.wait_for_text("#news", approved).await;
        for page in ["notices", "history", "agents", "pulse", "settings"] {
            browser.open(&hub, &format!("/inbox/{page}")).await;
            browser.screenshot(&format!("{page}-{language}")).await;
        }
        browser.open(&hub, "/inbox").await;
    }
    browser.finish().await;
}
