//! Being called: system notifications and a sound, both only when asked for.

use serde_json::{Value, json};

use super::chrome::{Browser, Look};
use crate::harness::{Hub, ask, eventually};

/// There is nothing here to show a notification or to hear a tone with, so what the page asks the browser for is noted, where
/// another tab can read it.
const NOTED: &str = "{
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

/// Somebody who has switched these on and looks at the list.
async fn listening(hub: &Hub, switches: &[&str]) -> Browser {
    let browser = Browser::signed_in(Look::DESKTOP, hub).await;
    let allowed = json!({"origin": Browser::url(hub, ""), "permissions": ["notifications"]});
    browser.devtools("Browser.grantPermissions", allowed).await;
    browser.before_pages(NOTED).await;
    browser.open(hub, "/inbox/settings").await;
    for switch in switches {
        browser.click(&format!("#{switch}")).await;
        browser.see(&format!("#{switch}:checked")).await;
    }
    browser.open(hub, "/inbox").await;
    browser.see(".empty").await;
    // A page may sound only after somebody has touched it.
    browser.press("j").await;
    // Turned on, the sound was heard once.
    browser.script("localStorage.removeItem('tones')").await;
    browser
}

/// To another tab, whose page has no scripts of its own.
async fn look_away(browser: &Browser, hub: &Hub) {
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
async fn whoever_looks_away_is_notified_once_and_without_a_sound() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let browser = listening(&hub, &["system"]).await;
    look_away(&browser, &hub).await;
    let id = bot.accepted(&ask("bot")).await;
    let told = until_noted(&browser, "notified", 1).await;
    assert_eq!(
        (&told[0]["title"], &told[0]["isHidden"]),
        (&json!("bot: Deploy build 42?"), &json!(true))
    );
    assert_eq!(told[0]["data"]["path"], format!("/inbox/items/{id}"));
    assert!(
        !told[0].to_string().contains("checks are green"),
        "the text of the agent stays in the page: {told:?}"
    );

    let mut secret = ask("bot");
    secret["sensitive"] = true.into();
    secret["title"] = "Dismiss Mr Miller?".into();
    bot.accepted(&secret).await;
    let told = until_noted(&browser, "notified", 2).await;
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!(told[1]["title"], "A sensitive question");
    assert!(
        !told[1].to_string().contains("Miller") && !told[1].to_string().contains("green"),
        "{told:?}"
    );
    assert_eq!(noted(&browser, "tones").await.len(), 0, "nobody asked for a sound");
    browser.finish().await;
}

#[tokio::test]
async fn a_sound_is_heard_by_whoever_switched_it_on_and_nothing_is_shown() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let browser = listening(&hub, &["sound"]).await;
    look_away(&browser, &hub).await;
    bot.accepted(&ask("bot")).await;
    until_noted(&browser, "tones", 2).await;
    assert_eq!(
        noted(&browser, "notified").await.len(),
        0,
        "nobody asked for notifications"
    );
    browser.finish().await;
}

#[tokio::test]
async fn whoever_looks_at_the_page_hears_of_it_and_is_not_notified() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let browser = listening(&hub, &["sound", "system"]).await;
    let seen = bot.accepted(&ask("bot")).await;
    until_noted(&browser, "tones", 2).await;
    browser.see(&format!("#row-{seen}")).await;
    look_away(&browser, &hub).await;
    let unseen = bot.accepted(&ask("bot")).await;
    let told = until_noted(&browser, "notified", 1).await;
    assert_eq!(told[0]["data"]["path"], format!("/inbox/items/{unseen}"));
    assert_eq!(told.len(), 1, "{told:?}");
    browser.finish().await;
}
