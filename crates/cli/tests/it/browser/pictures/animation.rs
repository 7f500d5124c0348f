//! `countersign demo` in moving pictures: questions arrive, one is approved, the next one is there.

use super::apng::{Frame, animated};
use super::{hide_first_steps, point_at_row};
use crate::browser::chrome::{Browser, Viewport, artifacts};
use crate::harness::{Hub, Setup, Terminal, eventually};

const WINDOW: Viewport = Viewport {
    width: 1200,
    height: 600,
    ..Viewport::DESKTOP
};
/// README pages should load fast.
const MAX_BYTES: usize = 600_000;

/// The id of the open item with this title.
async fn waiting(hub: &Hub, title: &str) -> String {
    eventually(title, async || {
        let page = hub.owner.get("/v1/inbox").await.expect(200);
        let mut items = page["items"].as_array()?.iter();
        let item = items.find(|item| item["title"] == title)?;
        item["id"].as_str().map(str::to_owned)
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn animation_of_the_demo() {
    let hub = Setup::default().config("undo_seconds = 20\n").start().await;
    let browser = Browser::signed_in(WINDOW, &hub).await;
    hide_first_steps(&browser).await;
    let mut frames = Vec::new();
    let mut frame = async |millis| {
        let png = browser.picture().await;
        frames.push(Frame { png, millis });
    };
    frame(1500).await;
    let _demo = Terminal::local(&hub).start(&["demo"]);
    let deploy = waiting(&hub, "Deploy shop 2.4.1 to production?").await;
    for title in ["db-2 is 91 % full", "Refund order S-1041?", "Renew the certificate"] {
        browser.wait_for_text("#rows", title).await;
    }
    browser.wait_for_text("#count", "5").await;
    frame(2000).await;
    point_at_row(&browser, &deploy).await;
    frame(1200).await;
    browser.click(&format!("#row-{deploy} a.title")).await;
    browser.item_ready(&deploy).await;
    frame(2800).await;
    browser.press("a").await;
    browser.wait_for("#news button.undo").await;
    browser.wait_until_gone(&format!("#item[data-id='{deploy}']")).await;
    browser.guard_off().await;
    frame(2800).await;
    browser.finish().await;
    let animation = animated(&frames);
    assert!(animation.len() < MAX_BYTES, "{} bytes", animation.len());
    std::fs::write(artifacts().join("demo.png"), animation).expect("the animation is kept");
}
