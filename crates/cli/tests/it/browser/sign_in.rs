//! Signing in: by link, by password, by passkey.

use serde_json::json;

use super::chrome::{Browser, Viewport};
use crate::harness::Hub;
use crate::web::age_sessions;

#[tokio::test]
async fn the_printed_link_signs_in_once() {
    let hub = Hub::start().await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.screenshot("welcome").await;
    browser.finish().await;
    let another = Browser::start(Viewport::DESKTOP).await;
    let greeting = hub.process().stdout_with("/signin/").await;
    let link = greeting
        .split_whitespace()
        .find(|word| word.contains("/signin/"))
        .expect("a link");
    another.goto(link).await;
    another.wait_for_text("main", "used").await;
    another.open(&hub, "/inbox").await;
    another.wait_for("body[data-page=signin]").await;
    another.screenshot("sign-in").await;
    another.finish().await;
}

#[tokio::test]
async fn a_password_set_in_the_settings_signs_in() {
    let hub = Hub::start().await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.open(&hub, "/inbox/settings").await;
    browser
        .fill("#password-form [name=password]", "correct horse battery")
        .await;
    browser
        .fill("#password-form [name=again]", "correct horse battery")
        .await;
    browser.click("#password-form button").await;
    browser.wait_for_text("main", "password").await;
    browser.click("#me-menu > summary").await;
    browser.click("header form.signout button").await;
    browser.wait_for("body[data-page=signin]").await;
    browser.fill("[name=name]", "owner").await;
    browser.fill("[name=password]", "wrong horse battery").await;
    browser.click("#signin button.primary").await;
    browser.wait_for(".error").await;
    browser.fill("[name=name]", "owner").await;
    browser.fill("[name=password]", "correct horse battery").await;
    browser.click("#signin button.primary").await;
    browser.wait_for("body[data-person=owner]").await;
    browser.finish().await;
}

async fn add_authenticator(browser: &Browser) {
    let authenticator = json!({
        "protocol": "ctap2", "transport": "internal", "hasResidentKey": true, "hasUserVerification": true,
        "isUserVerified": true, "isUserConsenting": true,
    });
    browser.driver_post("webauthn/authenticator", &authenticator).await;
}

#[tokio::test]
async fn a_passkey_is_added_to_an_older_session_with_the_password() {
    let hub = Hub::start().await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    add_authenticator(&browser).await;
    browser.open(&hub, "/inbox/settings").await;
    for field in ["password", "again"] {
        let field = format!("#password-form [name={field}]");
        browser.fill(&field, "correct horse battery").await;
    }
    browser.click("#password-form button").await;
    browser.wait_for_text("main", "Your password is set").await;
    age_sessions(&hub, 11).await;
    browser.open(&hub, "/inbox/settings").await;
    browser.wait_for("#passkey-add [name=current]").await;
    browser.fill("#passkey-add [name=name]", "my laptop").await;
    browser.fill("#passkey-add [name=current]", "wrong horse battery").await;
    browser.click("#passkey-add button").await;
    browser
        .wait_for_text("#passkey-error", "not your current password")
        .await;
    browser.screenshot("settings-passkey-password").await;
    browser
        .fill("#passkey-add [name=current]", "correct horse battery")
        .await;
    browser.click("#passkey-add button").await;
    browser.wait_for_text("#passkeys", "my laptop").await;
    browser.finish().await;
}

#[tokio::test]
async fn a_passkey_signs_in_without_a_name() {
    let hub = Hub::start().await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    add_authenticator(&browser).await;
    browser.open(&hub, "/inbox/settings").await;
    browser.fill("#passkey-add [name=name]", "my laptop").await;
    browser.click("#passkey-add button").await;
    browser.wait_for_text("#passkeys", "my laptop").await;
    browser.screenshot("settings").await;
    browser.click("#me-menu > summary").await;
    browser.click("header form.signout button").await;
    browser.wait_for("body[data-page=signin]").await;
    browser.click("#passkey-signin").await;
    browser.wait_for("body[data-person=owner]").await;
    browser.finish().await;
}
