//! Every kind of question, answered by mouse and by keyboard.

use serde_json::json;

use super::chrome::{Browser, Viewport};
use super::seed;
use super::terminals::press_control_enter;
use crate::harness::{Hub, ask, input, notify, select, task};

const ENTER: &str = "\u{e007}";
const ESCAPE: &str = "\u{e00c}";
const TAB: &str = "\u{e004}";

#[tokio::test]
async fn a_confirm_is_approved_by_mouse_and_by_key() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let first = bot.accepted(&ask("bot")).await;
    let second = bot.accepted(&ask("bot")).await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;

    browser.click(&format!("#row-{first} a.title")).await;
    browser.item_ready(&first).await;
    browser.click("button.choice[data-role=approve]").await;
    let answer = bot.outcome(&first).await;
    assert_eq!(answer["response"]["response"]["value"], "approve");
    assert_eq!(answer["response"]["response"]["actor"], "human:owner");

    // The next item appears without a reload.
    browser.item_ready(&second).await;
    browser.press("a").await;
    assert_eq!(bot.outcome(&second).await["response"]["response"]["value"], "approve");
    browser.wait_for("body[data-page=list] .empty").await;
    browser.finish().await;
}

#[tokio::test]
async fn a_rejection_carries_its_reason() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.open_item(&hub, &id).await;
    browser.press("r").await;
    browser.wait_for("#reject[open] #reason:focus").await;
    browser.press("not on a Friday").await;
    browser.press(TAB).await;
    browser.press(ENTER).await;
    let answer = bot.outcome(&id).await;
    assert_eq!(answer["response"]["response"]["value"], "deny", "{answer}");
    assert_eq!(answer["response"]["response"]["comment"], "not on a Friday");
    browser.finish().await;
}

#[tokio::test]
async fn a_draft_comment_survives_a_visit_to_another_item() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let first = bot.accepted(&ask("bot")).await;
    let second = bot.accepted(&ask("bot")).await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.open_item(&hub, &first).await;
    browser.press("c").await;
    browser.wait_for("#comment:focus").await;
    browser.press("not before noon").await;
    browser.press(ESCAPE).await;
    browser.press("j").await;
    browser.wait_for(&format!("#item[data-id='{second}']")).await;
    assert_eq!(browser.value("#comment").await, "", "it belongs to the other one");
    browser.press("k").await;
    browser
        .wait_for(&format!("#item[data-id='{first}'] #comment-box[open]"))
        .await;
    assert_eq!(browser.value("#comment").await, "not before noon");
    browser.guard_off().await;
    browser.press("a").await;
    assert_eq!(
        bot.outcome(&first).await["response"]["response"]["comment"],
        "not before noon"
    );
    browser.finish().await;
}

#[tokio::test]
async fn a_select_is_picked_by_mouse_and_by_number() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let first = bot.accepted(&select("bot")).await;
    let second = bot.accepted(&select("bot")).await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.open_item(&hub, &first).await;
    browser.click("input[name=value][value=green]").await;
    browser.click("#send").await;
    assert_eq!(bot.outcome(&first).await["response"]["response"]["value"], "green");

    browser.item_ready(&second).await;
    browser.press("1").await;
    browser.press(ENTER).await;
    assert_eq!(bot.outcome(&second).await["response"]["response"]["value"], "blue");
    browser.finish().await;
}

#[tokio::test]
async fn a_form_shows_its_errors_in_place_and_keeps_the_input() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&input("bot")).await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.open_item(&hub, &id).await;
    // The hub refuses two letters, and without `noValidate` the browser would not send them.
    browser
        .script("document.querySelector('#answer').noValidate = true")
        .await;
    browser.fill("[name='field.reason']", "no").await;
    browser.fill("[name='field.retries']", "3").await;
    browser.click("#send").await;
    browser.wait_for("#error-reason").await;
    assert_eq!(browser.value("[name='field.reason']").await, "no");
    assert_eq!(browser.value("[name='field.retries']").await, "3");
    browser.screenshot("form-error").await;
    browser.guard_off().await;
    browser.fill("[name='field.reason']", "the build is green").await;
    browser.click("#send").await;
    let answer = bot.outcome(&id).await;
    assert_eq!(answer["response"]["response"]["value"]["reason"], "the build is green");
    assert_eq!(answer["response"]["response"]["value"]["retries"], 3);
    browser.finish().await;
}

#[tokio::test]
async fn a_form_is_filled_by_keyboard_alone() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut form = input("bot");
    form["request"]["schema"] = json!({
        "type": "object",
        "properties": {"reason": {"type": "string"}},
        "required": ["reason"],
    });
    let id = bot.accepted(&form).await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.wait_for(&format!("#row-{id}")).await;
    browser.press("j").await;
    browser.press(ENTER).await;
    browser.item_ready(&id).await;
    browser.press("1").await;
    browser.wait_for("[name='field.reason']:focus").await;
    browser.press("because").await;
    press_control_enter(&browser).await;
    assert_eq!(
        bot.outcome(&id).await["response"]["response"]["value"],
        json!({"reason": "because"})
    );
    browser.finish().await;
}

#[tokio::test]
async fn a_completed_task_returns_its_ticks() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let first = bot.accepted(&task("bot")).await;
    let second = bot.accepted(&task("bot")).await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.open_item(&hub, &first).await;
    browser.click("input[name=done][value='1']").await;
    browser.screenshot("task").await;
    browser.click("#complete").await;
    browser.wait_for_text("#open-steps", "1 step is open").await;
    browser.guard_off().await;
    browser.click("#complete").await;
    let done = bot.outcome(&first).await;
    let ticks = json!([{"text": "rotate", "done": false}, {"text": "announce", "done": true}]);
    assert_eq!(
        (&done["status"], &done["response"]["response"]["checklist"]),
        (&json!("completed"), &ticks)
    );

    browser.item_ready(&second).await;
    browser.press("12").await;
    browser.press("a").await;
    let done = bot.outcome(&second).await;
    let ticks = json!([{"text": "rotate", "done": true}, {"text": "announce", "done": true}]);
    assert_eq!(
        (&done["status"], &done["response"]["response"]["checklist"]),
        (&json!("completed"), &ticks)
    );
    browser.finish().await;
}

#[tokio::test]
async fn free_text_and_several_choices_are_answered() {
    let mut hub = Hub::start().await;
    hub.agent("bot").await;
    let questions = vec![("What next?", seed::text()), ("Which regions?", seed::many())];
    let ids = seed::ask(&mut hub, "bot", questions).await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.open_item(&hub, &ids[0]).await;
    browser
        .fill("textarea[name=value]", "Write the tests.\nThen ship.")
        .await;
    browser.click("#send").await;
    browser.item_ready(&ids[1]).await;
    browser.press("13").await;
    browser.screenshot("many").await;
    browser.press(ENTER).await;
    browser.wait_for("body[data-page=list] .empty").await;
    let first = hub.owner.get(&format!("/v1/inbox/{}", ids[0])).await.expect(200);
    assert_eq!(first["resolution"]["value"], "Write the tests.\nThen ship.");
    let second = hub.owner.get(&format!("/v1/inbox/{}", ids[1])).await.expect(200);
    assert_eq!(second["resolution"]["value"], json!(["eu", "asia"]));
    browser.finish().await;
}

#[tokio::test]
async fn a_notice_is_archived_with_one_key_and_listed_separately() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&notify("bot")).await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.wait_for("#rows, .empty").await;
    assert_eq!(browser.count(&format!("#row-{id}")).await, 0, "not among the decisions");
    browser.click("#nav-notices").await;
    browser.wait_for(&format!("#row-{id}")).await;
    browser.press("j").await;
    browser.press("e").await;
    browser.wait_until_gone(&format!("#row-{id}")).await;
    browser.reload().await;
    browser.wait_for("body[data-page=notices] .empty").await;
    browser.finish().await;
}

#[tokio::test]
async fn free_text_works_by_keyboard_and_several_choices_by_mouse() {
    let mut hub = Hub::start().await;
    hub.agent("bot").await;
    let questions = vec![("What next?", seed::text()), ("Which regions?", seed::many())];
    let ids = seed::ask(&mut hub, "bot", questions).await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.open_item(&hub, &ids[0]).await;
    browser.press("1").await;
    browser.wait_for("textarea[name=value]:focus").await;
    browser.press("Go on").await;
    browser.press(TAB).await;
    browser.wait_for("#send:focus").await;
    browser.press(ENTER).await;
    browser.item_ready(&ids[1]).await;
    browser.click("input[name=value][value=us]").await;
    browser.click("#send").await;
    browser.wait_for("body[data-page=list] .empty").await;
    let answer = async |id: &str| hub.owner.get(&format!("/v1/inbox/{id}")).await.expect(200)["resolution"].clone();
    assert_eq!(answer(&ids[0]).await["value"], "Go on");
    assert_eq!(answer(&ids[1]).await["value"], json!(["us"]));
    browser.finish().await;
}

#[tokio::test]
async fn rejecting_and_archiving_need_no_keys() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let question = bot.accepted(&ask("bot")).await;
    let notice = bot.accepted(&notify("bot")).await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.open_item(&hub, &question).await;
    browser.click("#reject summary").await;
    browser.fill("#reason", "too risky today").await;
    browser.click("#decline").await;
    let answer = bot.outcome(&question).await;
    assert_eq!(answer["response"]["response"]["comment"], "too risky today", "{answer}");
    browser.open(&hub, "/inbox/notices").await;
    browser
        .click(&format!("#row-{notice} form[action$='/archive'] button"))
        .await;
    browser.wait_until_gone(&format!("#row-{notice}")).await;
    browser.finish().await;
}
