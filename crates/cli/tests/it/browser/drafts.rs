//! Drafts: input that was typed and not sent.

use serde_json::{Value, json};

use super::chrome::{Browser, Viewport};
use crate::harness::{Hub, ask, input};

async fn stored(browser: &Browser) -> Value {
    browser.script("return Object.keys(sessionStorage)").await
}

async fn comment(browser: &Browser, text: &str) {
    browser.press("c").await;
    browser.wait_for("#comment:focus").await;
    browser.press(text).await;
}

#[tokio::test]
async fn a_draft_survives_a_reload_and_navigation() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&input("bot")).await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.open_item(&hub, &id).await;
    browser.fill("[name='field.reason']", "the build is green").await;
    browser.click("[name='field.region'][value='1']").await;
    comment(&browser, "ask me again on Monday").await;
    browser.reload().await;
    browser.item_ready(&id).await;
    assert_eq!(browser.value("[name='field.reason']").await, "the build is green");
    browser.wait_for("[name='field.region'][value='1']:checked").await;
    assert_eq!(
        browser.value("#comment-box[open] #comment").await,
        "ask me again on Monday"
    );

    // The settings page is a full load, and so is the way back.
    browser.click("#nav-settings").await;
    browser.wait_for("body[data-page=settings]").await;
    browser.script("history.back()").await;
    browser.item_ready(&id).await;
    assert_eq!(browser.value("[name='field.reason']").await, "the build is green");

    browser.click("#send").await;
    let answer = bot.outcome(&id).await;
    assert_eq!(
        answer["response"]["response"]["value"],
        json!({"reason": "the build is green", "region": "us"})
    );
    assert_eq!(answer["response"]["response"]["comment"], "ask me again on Monday");
    browser.wait_for("body[data-page=list]").await;
    assert_eq!(stored(&browser).await, json!([]), "it was sent");
    browser.finish().await;
}

#[tokio::test]
async fn drafts_are_dropped_after_a_decision_and_after_sign_out() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let first = bot.accepted(&ask("bot")).await;
    let second = bot.accepted(&ask("bot")).await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    for id in [&first, &second] {
        browser.open_item(&hub, id).await;
        comment(&browser, "half a thought").await;
    }
    assert_eq!(stored(&browser).await.as_array().map(Vec::len), Some(2));
    hub.owner.answer(&second, "deny").await.expect(200);
    browser.wait_for_text("#typed", "half a thought").await;
    assert_eq!(stored(&browser).await, json!([format!("countersign.draft.{first}")]));
    browser.click("#me-menu > summary").await;
    browser.click("header form.signout button").await;
    browser.wait_for("body[data-page=signin]").await;
    assert_eq!(stored(&browser).await, json!([]));
    browser.finish().await;
}

#[tokio::test]
async fn no_draft_of_a_sensitive_question_is_stored() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut question = ask("bot");
    question["sensitive"] = true.into();
    let id = bot.accepted(&question).await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.open_item(&hub, &id).await;
    comment(&browser, "the password is hunter2").await;
    assert_eq!(stored(&browser).await, json!([]));
    browser.reload().await;
    browser.item_ready(&id).await;
    assert_eq!(browser.value("#comment").await, "");
    browser.finish().await;
}

#[tokio::test]
async fn no_draft_of_a_sensitive_field_is_stored() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut form = input("bot");
    form["request"]["schema"] = json!({"type": "object", "properties": {
        "pin": {"type": "string", "x-a2h-sensitive": true},
        "ward": {"type": "string", "enum": ["open", "closed"], "x-a2h-sensitive": true},
        "note": {"type": "string"},
    }});
    let id = bot.accepted(&form).await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.open_item(&hub, &id).await;
    browser.fill("[name='field.pin']", "4711").await;
    browser.click("[name='field.ward'][value='1']").await;
    assert_eq!(stored(&browser).await, json!([]));
    browser.fill("[name='field.note']", "see the chart").await;
    let kept = browser.script("return Object.values(sessionStorage).join()").await;
    let kept = kept.as_str().expect("what is stored");
    assert!(
        kept.contains("see the chart") && !kept.contains("4711") && !kept.contains("ward"),
        "{kept}"
    );
    browser.reload().await;
    browser.item_ready(&id).await;
    assert_eq!(browser.value("[name='field.note']").await, "see the chart");
    assert_eq!(browser.value("[name='field.pin']").await, "");
    assert_eq!(browser.count("[name='field.ward'][value='1']:checked").await, 0);
    browser.finish().await;
}
