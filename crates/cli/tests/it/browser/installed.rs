//! The inbox as an installed app.

use serde_json::json;

use super::chrome::{Browser, Look};
use crate::harness::Hub;

#[tokio::test]
async fn it_can_be_installed_and_says_so_when_the_hub_is_away() {
    let mut hub = Hub::start().await;
    let browser = Browser::signed_in(Look::PHONE, &hub).await;
    browser.open(&hub, "/inbox").await;
    browser
        .script_async("navigator.serviceWorker.ready.then(() => arguments[0](true))")
        .await;
    let manifest = browser.devtools("Page.getAppManifest", json!({})).await;
    assert_eq!(manifest["errors"], json!([]), "{manifest}");
    let problems = browser.devtools("Page.getInstallabilityErrors", json!({})).await;
    assert_eq!(problems["installabilityErrors"], json!([]));
    browser.reload().await;
    browser.see("body[data-person=owner]").await;
    hub.interrupt();
    browser.script("location.reload()").await;
    browser.see_text("body", "offline").await;
    browser.shot("offline").await;
    hub.restart().await;
    browser.open(&hub, "/inbox").await;
    browser.see("body[data-person=owner]").await;
    browser.finish().await;
}
