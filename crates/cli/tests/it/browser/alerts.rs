//! Alerts: system notifications and a sound, both opt-in.

use serde_json::{Value, json};

use super::chrome::{Browser, Viewport};
use crate::harness::{Hub, ask, eventually};
use crate::web::WebClient;

/// A headless browser shows no notification and plays no tone, so the calls of the page are recorded in local storage,
/// where another tab can read them.
const RECORD_ALERTS: &str = "{
      const noted = (name) => JSON.parse(localStorage.getItem(name) ?? '[]');
      const note = (name, what) => localStorage.setItem(name, JSON.stringify([...noted(name), what]));
      const show = (title, options) => note('notified', {title, ...options, isHidden: document.hidden});
      ServiceWorkerRegistration.prototype.showNotification = async (title, options) => show(title, options);
      window.Notification = class extends Notification {
        constructor(title, options) { show(title, options); }
      };
      const { start } = AudioScheduledSourceNode.prototype;
      AudioScheduledSourceNode.prototype.start = function (...when) {
        note('tones', this.frequency.value);
        start.apply(this, when);
      };
    }";

/// A signed-in browser on the list page, with these alert settings switched on.
async fn listening(hub: &Hub, switches: &[&str]) -> Browser {
    let browser = Browser::start_full(Viewport::DESKTOP).await;
    browser.sign_in(hub).await;
    let allowed = json!({"origin": Browser::url(hub, ""), "permissions": ["notifications"]});
    browser.devtools("Browser.grantPermissions", allowed).await;
    browser.run_before_pages(RECORD_ALERTS).await;
    browser.open(hub, "/inbox/settings").await;
    for switch in switches {
        browser.click(&format!("#{switch}")).await;
        browser.wait_for(&format!("#{switch}:checked")).await;
    }
    browser.open(hub, "/inbox").await;
    browser.wait_for(".empty").await;
    // A page may play sounds only after a user gesture.
    browser.press("j").await;
    // Switching the sound on plays it once.
    browser.script("localStorage.removeItem('tones')").await;
    browser
}

/// Switches to another tab, whose page has no scripts.
async fn switch_to_another_tab(browser: &Browser, hub: &Hub) {
    let made = browser.driver_post("window/new", &json!({"type": "tab"})).await;
    browser.driver_post("window", &json!({"handle": made["handle"]})).await;
    browser.open(hub, "/inbox/offline").await;
}

async fn noted(browser: &Browser, what: &str) -> Vec<Value> {
    let noted = browser
        .script(&format!("return JSON.parse(localStorage.getItem('{what}') ?? '[]')"))
        .await;
    noted.as_array().cloned().unwrap_or_default()
}

async fn until_noted(browser: &Browser, what: &str, count: usize) -> Vec<Value> {
    eventually(&format!("{count} {what}"), async || {
        let noted = noted(browser, what).await;
        (noted.len() >= count).then_some(noted)
    })
    .await
}

#[tokio::test]
async fn a_hidden_page_notifies_once_and_without_a_sound() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let browser = listening(&hub, &["system"]).await;
    switch_to_another_tab(&browser, &hub).await;
    let id = bot.accepted(&ask("bot")).await;
    let notified = until_noted(&browser, "notified", 1).await;
    assert_eq!(
        (&notified[0]["title"], &notified[0]["isHidden"]),
        (&json!("bot: Deploy build 42?"), &json!(true))
    );
    assert_eq!(notified[0]["data"]["path"], format!("/inbox/items/{id}"));
    assert!(
        !notified[0].to_string().contains("checks are green"),
        "the text of the agent stays in the page: {notified:?}"
    );

    let mut secret = ask("bot");
    secret["sensitive"] = true.into();
    secret["title"] = "Dismiss Mr Miller?".into();
    bot.accepted(&secret).await;
    let notified = until_noted(&browser, "notified", 2).await;
    assert_eq!(notified.len(), 2, "{notified:?}");
    assert_eq!(notified[1]["title"], "A sensitive question");
    assert!(
        !notified[1].to_string().contains("Miller") && !notified[1].to_string().contains("green"),
        "{notified:?}"
    );
    assert_eq!(noted(&browser, "tones").await.len(), 0, "the sound is switched off");
    browser.finish().await;
}

#[tokio::test]
async fn the_sound_setting_plays_a_sound_and_shows_no_notification() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let browser = listening(&hub, &["sound"]).await;
    switch_to_another_tab(&browser, &hub).await;
    bot.accepted(&ask("bot")).await;
    until_noted(&browser, "tones", 2).await;
    assert_eq!(
        noted(&browser, "notified").await.len(),
        0,
        "notifications are switched off"
    );
    browser.finish().await;
}

#[tokio::test]
async fn a_visible_page_plays_the_sound_and_shows_no_notification() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let browser = listening(&hub, &["sound", "system"]).await;
    let seen = bot.accepted(&ask("bot")).await;
    until_noted(&browser, "tones", 2).await;
    browser.wait_for(&format!("#row-{seen}")).await;
    switch_to_another_tab(&browser, &hub).await;
    let unseen = bot.accepted(&ask("bot")).await;
    let notified = until_noted(&browser, "notified", 1).await;
    assert_eq!(notified[0]["data"]["path"], format!("/inbox/items/{unseen}"));
    assert_eq!(notified.len(), 1, "{notified:?}");
    browser.finish().await;
}

#[tokio::test]
async fn the_first_step_about_notifications_is_done_once_they_are_on() {
    let hub = Hub::start().await;
    let person = WebClient::by_new_link(&hub, "owner").await;
    const STEP: &str = "#onboarding li[data-step=notifications]";
    assert_eq!(person.get("/inbox").await.count(STEP), 1);
    let browser = listening(&hub, &["system"]).await;
    eventually("the step is done", async || {
        (person.get("/inbox").await.count(STEP) == 0).then_some(())
    })
    .await;
    browser.finish().await;
}
