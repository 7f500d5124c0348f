//! The two screenshots of the README, `list` and `decision`. After a change of the pages, copy them to docs/images.

use serde_json::{Value, json};

use super::chrome::{Browser, Viewport};
use crate::harness::{Hub, ask, expiring, input, notify, select, task};

const WINDOW: Viewport = Viewport {
    height: 640,
    ..Viewport::DESKTOP
};

fn of(mut envelope: Value, title: &str, project: &str, tags: &[&str]) -> Value {
    envelope["title"] = title.into();
    envelope["agent"]["project"] = project.into();
    envelope["tags"] = json!(tags);
    envelope
}

fn deployment() -> Value {
    let mut ask = expiring(
        of(
            ask("deployer"),
            "Deploy build 42 to production?",
            "storefront",
            &["deploy"],
        ),
        1_800_000,
    );
    ask["priority"] = "urgent".into();
    ask["body"] =
        "All 931 tests are **green**. The change adds a third replica; see [the run](https://ci.example/runs/42)."
            .into();
    ask["request"]["default_on_expire"] = "deny".into();
    ask["context"] = json!([
        {"kind": "text", "text": "--- a/deploy.toml\n+++ b/deploy.toml\n@@ -3,4 +3,4 @@\n [service]\n-replicas = 2\n+replicas = 3\n timeout_s = 30"},
        {"kind": "data", "data": {"build": 42, "tests": {"passed": 931, "failed": 0}}},
    ]);
    ask
}

#[tokio::test]
async fn screenshots_of_the_list_and_a_decision() {
    let hub = Hub::start().await;
    let deployer = hub.agent("deployer").await;
    let coder = hub.agent("coder").await;
    coder
        .accepted(&of(
            select("coder"),
            "Which colour for the new button?",
            "storefront",
            &["design"],
        ))
        .await;
    coder
        .accepted(&of(
            input("coder"),
            "What belongs into the release notes?",
            "docs",
            &["release"],
        ))
        .await;
    deployer
        .accepted(&of(
            task("deployer"),
            "Rotate the signing key of staging",
            "platform",
            &["keys"],
        ))
        .await;
    coder
        .accepted(&of(
            ask("coder"),
            "May I force-push to feature/search?",
            "storefront",
            &["git"],
        ))
        .await;
    coder
        .accepted(&of(notify("coder"), "The nightly build is green", "storefront", &[]))
        .await;
    let id = deployer.accepted(&deployment()).await;
    let browser = Browser::signed_in(WINDOW, &hub).await;
    browser.click("#onboarding > header button").await;
    browser.wait_until_gone("#onboarding").await;
    browser
        .wait_for(&format!("#rows > .group:first-child + #row-{id}"))
        .await;
    browser.screenshot("list").await;
    browser.click(&format!("#row-{id} a.title")).await;
    browser.item_ready(&id).await;
    browser.wait_for_text("#panel", "Approve").await;
    browser.screenshot("decision").await;
    browser.finish().await;
}
