//! The inbox as an installed app.

use serde_json::json;

use super::chrome::{Browser, Viewport};
use crate::harness::Hub;

#[tokio::test]
async fn the_app_is_installable_and_has_an_offline_page() {
    let mut hub = Hub::start().await;
    let browser = Browser::start_full(Viewport::PHONE).await;
    browser.sign_in(&hub).await;
    browser.open(&hub, "/inbox").await;
    browser
        .script_async("navigator.serviceWorker.ready.then(() => arguments[0](true))")
        .await;
    let manifest = browser.devtools("Page.getAppManifest", json!({})).await;
    assert_eq!(manifest["errors"], json!([]), "{manifest}");
    let problems = browser.devtools("Page.getInstallabilityErrors", json!({})).await;
    assert_eq!(problems["installabilityErrors"], json!([]));
    browser.reload().await;
    browser.wait_for("body[data-person=owner]").await;
    hub.interrupt();
    browser.script("location.reload()").await;
    browser.wait_for_text("body", "Can't reach the hub").await;
    browser.screenshot("offline").await;
    hub.restart().await;
    browser.open(&hub, "/inbox").await;
    browser.wait_for("body[data-person=owner]").await;
    browser.finish().await;
}
