//! The pictures of the README. CONTRIBUTING.md has the command that writes them to docs/images.

mod animation;
mod apng;
mod questions;

use serde_json::json;

use super::chrome::{Browser, Viewport, artifacts};
use crate::harness::Hub;
use crate::web::WebClient;
use questions::{RELEASE, ask_all};

const WINDOW: Viewport = Viewport {
    width: 1440,
    height: 620,
    ..Viewport::DESKTOP
};
/// The labels of the navigation, one per line, beside the pictures that show them.
const LABELS: &str = "labels.txt";

async fn navigation(hub: &Hub) -> String {
    let page = WebClient::by_new_link(hub, "owner")
        .await
        .get("/inbox")
        .await
        .expect(200);
    let mut labels = page.texts_at("header.top nav > a > span:not(.count)");
    labels.extend(page.texts_at("#nav-settings"));
    labels.join("\n") + "\n"
}

/// Hides the card for new owners. The pointer leaves the place of its button.
async fn hide_first_steps(browser: &Browser) {
    browser.click("#onboarding > header button").await;
    browser.wait_until_gone("#onboarding").await;
    let corner = json!({"type": "mouseMoved", "x": 0, "y": 0});
    browser.devtools("Input.dispatchMouseEvent", corner).await;
}

/// Points at a row, and waits until its buttons show.
async fn point_at_row(browser: &Browser, id: &str) {
    let centre = format!(
        "const {{ x, y, width, height }} = document.querySelector('#row-{id}').getBoundingClientRect();
         return {{ type: 'mouseMoved', x: x + width / 2, y: y + height / 2 }}"
    );
    let moved = browser.script(&centre).await;
    browser.devtools("Input.dispatchMouseEvent", moved).await;
    let shown = format!(
        "const done = arguments[arguments.length - 1];
         const buttons = document.querySelector('#row-{id} .quick');
         const timer = setInterval(() => {{
           const isShown = getComputedStyle(buttons).opacity === '1' && document.getAnimations().length === 0;
           if (isShown) {{ clearInterval(timer); done(); }}
         }}, 20);"
    );
    browser.script_async(&shown).await;
}

#[tokio::test]
async fn pictures_of_the_list_and_a_decision() {
    let hub = Hub::start().await;
    let ids = ask_all(&hub).await;
    let release = &ids[RELEASE];
    let browser = Browser::signed_in(WINDOW, &hub).await;
    hide_first_steps(&browser).await;
    browser.wait_for(&format!("#row-{release}")).await;
    point_at_row(&browser, release).await;
    browser.screenshot("list").await;
    browser.click(&format!("#row-{release} a.title")).await;
    browser.item_ready(release).await;
    browser.wait_for_text("#panel", "Approve").await;
    browser.screenshot("decision").await;
    browser.finish().await;
    std::fs::write(artifacts().join(LABELS), navigation(&hub).await).expect("the labels are kept");
}

#[tokio::test]
async fn the_pictures_of_the_readme_show_the_navigation_of_today() {
    let hub = Hub::start().await;
    let images = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/images/");
    let pictured = std::fs::read_to_string(format!("{images}{LABELS}")).expect("the labels");
    assert_eq!(
        pictured,
        navigation(&hub).await,
        "take the pictures again: CONTRIBUTING.md has the command"
    );
}
