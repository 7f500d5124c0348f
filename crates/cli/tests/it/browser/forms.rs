//! Forms: long ones, dates and times, and the preview of the answer.

use serde_json::{Value, json};

use super::accessibility::{accessibility_findings, axe, findings_in_all_themes};
use super::chrome::{Browser, Viewport};
use crate::harness::{Hub, ask, input};

fn form(properties: Value, required: Value) -> Value {
    let mut ask = input("bot");
    ask["title"] = "Details for the new customer account".into();
    ask["body"] = "I have everything except these fields.".into();
    ask["request"]["schema"] = json!({"type": "object", "properties": properties, "required": required});
    ask
}

fn eleven_fields() -> Value {
    let properties = json!({
        "company": {"type": "string", "title": "Company", "description": "As it appears on the invoice", "minLength": 2, "maxLength": 80},
        "plan": {"enum": ["starter", "team", "enterprise"], "title": "Plan"},
        "seats": {"type": "integer", "title": "Seats", "minimum": 1, "maximum": 500, "default": 10},
        "discount": {"type": "number", "title": "Discount (%)", "minimum": 0, "maximum": 40},
        "start": {"type": "string", "format": "date", "title": "Start date"},
        "call": {"type": "string", "format": "date-time", "title": "Kick-off call"},
        "daily": {"type": "string", "format": "time", "title": "Daily report at"},
        "email": {"type": "string", "format": "email", "title": "Billing e-mail"},
        "site": {"type": "string", "format": "uri", "title": "Website"},
        "trial": {"type": "boolean", "title": "Trial first", "default": true},
        "notes": {"type": "string", "title": "Notes", "maxLength": 2000},
    });
    form(properties, json!(["company", "plan", "seats", "start"]))
}

/// Whether the whole button lies in the window.
const SEND_IS_SEEN: &str = "const { top, bottom } = document.querySelector('#send').getBoundingClientRect();
    const above = document.elementFromPoint(innerWidth / 2, (top + bottom) / 2);
    return top >= 0 && bottom <= innerHeight && above !== null";

const SIZES: [(u32, u32); 3] = [(1440, 900), (820, 1000), (390, 844)];

#[tokio::test]
async fn send_stays_in_view_of_a_long_form() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&eleven_fields()).await;
    let axe = axe();
    let mut findings = Vec::new();
    for (width, height) in SIZES {
        let look = Viewport {
            width,
            height,
            ..Viewport::DESKTOP
        };
        let mut browser = Browser::signed_in_as(look, &hub, "owner").await;
        browser.open_item(&hub, &id).await;
        assert_eq!(browser.script(SEND_IS_SEEN).await, true, "{width}");
        let name = format!("form-{width}");
        browser.screenshot(&name).await;
        browser
            .script("scrollTo(0, 600); document.querySelector('#panel').scrollTo(0, 600)")
            .await;
        assert_eq!(browser.script(SEND_IS_SEEN).await, true, "{width}, scrolled");
        findings.extend(findings_in_all_themes(&mut browser, &axe, &name).await);
        browser.finish().await;
    }
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

fn moment() -> Value {
    let property = json!({"type": "string", "format": "date-time", "default": "2026-11-16T14:30:00Z"});
    form(
        json!({"call": property.clone(), "report": {"type": "string", "format": "time", "default": "08:00:00Z"}, "kept": property}),
        json!(["call"]),
    )
}

#[tokio::test]
async fn a_date_and_time_is_entered_in_the_readers_zone() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&moment()).await;
    let browser = Browser::start(Viewport::DESKTOP).await;
    browser
        .devtools("Emulation.setTimezoneOverride", json!({"timezoneId": "Asia/Kolkata"}))
        .await;
    browser.sign_in(&hub).await;
    browser.open_item(&hub, &id).await;
    assert_eq!(browser.value("[name='field.call']").await, "2026-11-16T20:00");
    assert_eq!(browser.value("[name='field.report']").await, "13:30");
    browser.wait_for_text(".zone", "(UTC+05:30)").await;
    browser
        .script(
            "const call = document.querySelector(\"[name='field.call']\"); call.value = '2026-11-17T09:15';
            call.dispatchEvent(new Event('input', { bubbles: true })); document.querySelector('#preview-box').open = true;",
        )
        .await;
    browser.wait_for_text("#preview", "2026-11-17T09:15:00+05:30").await;
    assert_eq!(browser.count(".field[data-edited]").await, 1);
    browser.screenshot("form-zone").await;
    browser.click("#send").await;
    assert_eq!(
        bot.outcome(&id).await["response"]["response"]["value"],
        json!({"call": "2026-11-17T09:15:00+05:30", "report": "08:00:00Z", "kept": "2026-11-16T14:30:00Z"})
    );
    browser.finish().await;
}

#[tokio::test]
async fn without_scripts_a_date_and_time_is_utc_and_the_preview_is_a_page() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&moment()).await;
    let look = Viewport {
        scripts: false,
        ..Viewport::DESKTOP
    };
    let browser = Browser::signed_in(look, &hub).await;
    browser.open(&hub, &format!("/inbox/items/{id}")).await;
    browser.wait_for_text(".zone", "In UTC.").await;
    assert_eq!(browser.value("[name='field.call']").await, "2026-11-16T14:30");
    browser.click("#preview-box summary").await;
    browser.click("#preview-box button").await;
    browser.wait_for_text("#preview", "2026-11-16T14:30:00Z").await;
    assert_eq!(bot.pull(&id).await["status"], "open", "a preview decides nothing");
    browser.click("#send").await;
    assert_eq!(
        bot.outcome(&id).await["response"]["response"]["value"]["report"],
        "08:00:00Z"
    );
    browser.finish().await;
}

#[tokio::test]
async fn outcomes_have_a_word_beside_their_colour() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let axe = axe();
    let mut pages = Vec::new();
    for (value, word) in [("approve", "Approved"), ("deny", "Denied")] {
        let id = bot.accepted(&ask("bot")).await;
        hub.owner.answer(&id, value).await.expect(200);
        pages.push((format!("/inbox/items/{id}"), word));
    }
    pages.push(("/inbox/history".to_owned(), "Denied"));
    let mut findings = Vec::new();
    for dark in [false, true] {
        let look = Viewport {
            dark,
            ..Viewport::DESKTOP
        };
        let mut browser = Browser::signed_in_as(look, &hub, "owner").await;
        let mut colours = Vec::new();
        for (page, word) in &pages {
            browser.open(&hub, page).await;
            browser.wait_for_text("main .ending", word).await;
            let colour = "return getComputedStyle(document.querySelector('main .ending')).color";
            colours.push(browser.script(colour).await);
            let name = format!("outcome-{}-{word}", if dark { "dark" } else { "light" });
            findings.extend(accessibility_findings(&mut browser, &axe, &name).await);
        }
        assert_ne!(colours[0], colours[1]);
        assert_eq!(colours[1], colours[2], "the history has the same colour");
        browser.finish().await;
    }
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}
