//! The key that opens an item in the browser.

use std::os::unix::fs::PermissionsExt;

use super::Pane;
use super::pane::PaneOptions;
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn the_item_opens_in_the_program_that_browser_names() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    let opened = hub.scratch().path("opened");
    let script = format!("#!/bin/sh\nprintf %s \"$1\" > '{}'\n", opened.display());
    let browser = hub.scratch().write("browser", &script);
    std::fs::set_permissions(&browser, std::fs::Permissions::from_mode(0o755)).expect("our own file");
    let pane: Pane = PaneOptions::owner(&hub)
        .env("BROWSER", &browser.display().to_string())
        .start();
    pane.open("Deploy build 42?").await;
    pane.press(&["O"]);
    pane.shows("opened in the browser: ").await;
    let page = std::fs::read_to_string(opened).expect("the browser was started");
    let port = hub.url.rsplit_once(':').map(|(_, port)| port.trim_end_matches('/'));
    assert_eq!(
        page,
        format!("http://localhost:{}/inbox/items/{id}", port.expect("a port"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_browser_the_address_is_shown() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    bot.accepted(&ask("bot")).await;
    let pane = PaneOptions::owner(&hub).env("BROWSER", "/nowhere").start();
    pane.open("Deploy build 42?").await;
    pane.press(&["O"]);
    pane.shows("no browser here; the page is http://localhost:").await;
}
