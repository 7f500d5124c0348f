//! Questions from terminals in a real browser: keyboard answers, files, and the live waiting state of agents.

use serde_json::{Value, json};

use super::accessibility::{axe, findings_in_all_themes};
use super::chrome::{Browser, Viewport};
use crate::hap::{TerminalAgent, id, until_gone};
use crate::harness::{Hub, Setup};

const ENTER: &str = "\u{e007}";
const ESCAPE: &str = "\u{e00c}";
const CONTROL: &str = "\u{e009}";

fn form() -> Value {
    json!({"type": "form", "fields": [
        {"label": "Zone", "options": ["eu", "us", "asia"], "allow_multiple": true}, {"label": "Why"},
    ]})
}

async fn cue(shell: &TerminalAgent, prompt: &str, payload: Value) -> String {
    let mut body = shell.cue_body(prompt);
    body["payload"] = payload;
    id(&shell.post(&body).await.expect(201))
}

/// Presses Enter with Control held down.
pub async fn press_control_enter(browser: &Browser) {
    let key = |kind: &str, value: &str| json!({"type": kind, "value": value});
    let actions = [
        key("keyDown", CONTROL),
        key("keyDown", ENTER),
        key("keyUp", ENTER),
        key("keyUp", CONTROL),
    ];
    browser
        .driver_post(
            "actions",
            &json!({"actions": [{"type": "key", "id": "keyboard", "actions": actions}]}),
        )
        .await;
}

#[tokio::test]
async fn a_form_is_answered_with_free_text_by_keyboard_alone() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let id = cue(&shell, "Where shall it run?", form()).await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.wait_for(&format!("#row-{id}")).await;
    browser.press("j").await;
    browser.press(ENTER).await;
    browser.item_ready(&id).await;
    // A ticked box and free text together contradict each other.
    browser.press("1").await;
    browser.wait_for("input[name='field.Zone'][value='0']:focus").await;
    browser.press(" ").await;
    browser.press("o").await;
    browser.wait_for("#own-words:focus").await;
    browser.press("nowhere yet").await;
    press_control_enter(&browser).await;
    browser.wait_for_text("#error-typed", "choose one of the two").await;
    browser.screenshot("cue-both").await;
    assert_eq!(browser.value("#own-words").await, "nowhere yet");
    browser.guard_off().await;
    browser.press(ESCAPE).await;
    browser.press("1").await;
    browser
        .wait_for("input[name='field.Zone'][value='0']:checked:focus")
        .await;
    browser.press(" ").await;
    browser.press("o").await;
    press_control_enter(&browser).await;
    assert_eq!(shell.outcome(&id).await["reply"]["text"], "nowhere yet");
    browser.finish().await;
}

#[tokio::test]
async fn boxes_are_ticked_and_drafts_stay_over_a_reload() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let id = cue(&shell, "Where shall it run?", form()).await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.open_item(&hub, &id).await;
    browser.click("input[name='field.Zone'][value='2']").await;
    browser.fill("#own-words", "or wait").await;
    browser.reload().await;
    browser.item_ready(&id).await;
    browser.wait_for("input[name='field.Zone'][value='2']:checked").await;
    assert_eq!(browser.value("#own-words").await, "or wait");
    browser
        .wait_for("#own-words")
        .await
        .clear()
        .await
        .expect("it is emptied");
    browser.click("input[name='field.Zone'][value='0']").await;
    browser.click("#send").await;
    assert_eq!(shell.outcome(&id).await["reply"]["text"], "Zone: eu, asia");
    browser.finish().await;
}

#[tokio::test]
async fn files_go_along_and_survive_a_refusal() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let id = cue(&shell, "Where shall it run?", form()).await;
    let path = hub.scratch().write("nötes 1.txt", "hello\n");
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.open_item(&hub, &id).await;
    browser
        .wait_for("#files")
        .await
        .send_keys(&path.display().to_string())
        .await
        .expect("a file is chosen");
    browser.fill("#own-words", "see there").await;
    browser.fill("[name='field.Why']", "load").await;
    browser.screenshot("cue-form").await;
    browser.click("#send").await;
    browser.wait_for_text("#error-typed", "choose one of the two").await;
    let held = browser
        .script("return document.querySelector('#files').files[0]?.name ?? null")
        .await;
    assert_eq!(held, "nötes 1.txt");
    browser.guard_off().await;
    browser
        .wait_for("[name='field.Why']")
        .await
        .clear()
        .await
        .expect("it is emptied");
    browser.click("#send").await;
    let cue = shell.outcome(&id).await;
    assert_eq!(
        (&cue["reply"]["text"], &cue["reply"]["files"][0]["name"]),
        (&json!("see there"), &json!("nötes 1.txt"))
    );
    browser.open(&hub, &format!("/inbox/items/{id}")).await;
    browser.wait_for_text(".kept", "nötes 1.txt").await;
    browser.screenshot("cue-decided").await;
    browser.finish().await;
}

#[tokio::test]
async fn the_waiting_state_updates_live_without_disturbing_typing() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let id = shell.ask_for_id("# Ship it?\nAll **green**.").await;
    let process = shell.waiting(&hub, &id).await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.wait_for_text(&format!("#row-{id} .here"), "waiting now").await;
    browser.click(&format!("#row-{id} a.title")).await;
    browser.item_ready(&id).await;
    browser.wait_for_text(".presence", "waiting now").await;
    browser.click("#value").await;
    browser.press("yes, ").await;
    process.abort();
    browser.wait_for_text(".presence", "gone since").await;
    browser
        .wait_for_text("#agent-note", "Its next cueme call collects your answer")
        .await;
    browser.press("at noon").await;
    browser.wait_for("#value:focus").await;
    assert_eq!(browser.value("#value").await, "yes, at noon");
    browser.screenshot("cue-gone").await;
    let process = shell.waiting(&hub, &id).await;
    browser.wait_for_text(".presence", "waiting now").await;
    browser.wait_until_gone("#agent-note > *").await;
    browser.click("#nav-inbox").await;
    browser.wait_for_text(&format!("#row-{id} .here"), "waiting now").await;
    process.abort();
    browser.wait_for_text(&format!("#row-{id} .here"), "gone").await;
    browser.finish().await;
}

#[tokio::test]
async fn used_type_ahead_disappears_live() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    let first = shell.ask_for_id("One?").await;
    let process = shell.waiting(&hub, &first).await;
    browser.press("g").await;
    browser.press("a").await;
    browser.wait_for_text(".agent-row .here", "waiting now").await;
    browser.screenshot("agents").await;
    browser.press("j").await;
    browser.press(ENTER).await;
    browser.wait_for_text("#agent-head .here", "waiting now").await;
    browser.click("#queue-more > summary").await;
    browser.fill("#queue-more .ahead-text", "then go on").await;
    browser.click(".ahead-form button").await;
    browser.wait_for_text(".aheads", "then go on").await;
    browser.screenshot("conversation").await;
    browser.press("o").await;
    browser.wait_for("#reply-text:focus").await;
    browser.press("and af").await;
    hub.owner.answer(&first, "yes").await.expect(200);
    process.await.expect("a reply").expect(200);
    shell.collect(&first).await;
    browser.wait_for_text("#agent-head .here", "idle").await;
    browser.wait_for_text(&format!("#entry-{first} .answer"), "yes").await;
    browser.wait_for(".ahead-text:focus").await;
    let second = shell.ask_for_id("Two?").await;
    assert_eq!(shell.outcome(&second).await["reply"]["text"], "then go on");
    browser.wait_until_gone(".aheads").await;
    browser.press("ter").await;
    assert_eq!(browser.value(".ahead-text").await, "and after");
    // The same on the page of a decided item, where live updates replace the panel.
    browser.open(&hub, &format!("/inbox/items/{second}")).await;
    browser.wait_for("#panel:not([data-guarded]) .ahead-text").await;
    browser.click(".ahead-text").await;
    browser.press("st").await;
    shell.collect(&second).await;
    browser.wait_for_text("#track", "Fetched by the agent").await;
    browser.press("op").await;
    assert_eq!(browser.value(".ahead-text").await, "stop");
    browser.finish().await;
}

/// The pages of one cue of each kind, one of them decided, one with its agent gone.
async fn pages(hub: &Hub, shell: &TerminalAgent) -> Vec<String> {
    let gone = shell.ask_for_id("Gone?").await;
    let other = TerminalAgent::join(hub).await;
    shell.waiting(hub, &gone).await.abort();
    until_gone(hub, &gone).await;
    let confirm = json!({"type": "confirm", "text": "Sure?", "confirm_label": "Ship", "cancel_label": "Hold"});
    let many = json!({"type": "choice", "options": ["Blue", "Green"], "allow_multiple": true});
    let mut ids = vec![
        gone,
        cue(&other, "Deploy?", confirm).await,
        cue(&other, "Which?", many).await,
    ];
    ids.push(cue(&other, "Where?", form()).await);
    let decided = other.ask_for_id("Done?").await;
    hub.owner.answer(&decided, "yes").await.expect(200);
    ids.push(decided);
    let ahead = json!({"text": "and then stop"});
    hub.owner
        .post(&format!("/v1/terminals/{}/ahead", shell.agent_id), &ahead)
        .await
        .expect(201);
    let items = ids.iter().map(|id| format!("/inbox/items/{id}"));
    let conversations = [shell, &other].map(|agent| format!("/inbox/agents/{}", agent.agent_id));
    ["/inbox".to_owned(), "/inbox/agents".to_owned()]
        .into_iter()
        .chain(conversations)
        .chain(items)
        .collect()
}

#[tokio::test]
async fn a_conversation_is_answered_and_undone_in_place() {
    let hub = Setup::default().config("undo_seconds = 5\n").start().await;
    let shell = TerminalAgent::join(&hub).await;
    let confirm = json!({"type": "confirm", "confirm_label": "Ship", "cancel_label": "Hold"});
    let first = cue(&shell, "Deploy?", confirm).await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.open(&hub, &format!("/inbox/agents/{}", shell.agent_id)).await;
    browser.wait_for("#thread:not([data-guarded])").await;
    browser.click(&format!("#entry-{first} [data-role=deny]")).await;
    browser.wait_for_text(&format!("#entry-{first} .held"), "Denied").await;
    browser.press("z").await;
    browser.wait_for(&format!("#entry-{first} .question[data-open]")).await;
    assert_eq!(shell.get_cue(&first).await["status"], "open");
    browser.fill("#reply-text", "on Monday").await;
    browser.click("#reply button").await;
    assert_eq!(shell.outcome(&first).await["reply"]["text"], "on Monday");
    browser
        .wait_for_text(&format!("#entry-{first} .answer"), "on Monday")
        .await;
    // A question that comes meanwhile appears at the end, and takes over the box with its typed text.
    browser.click(".ahead-text").await;
    browser.press("blue").await;
    let second = shell.ask_for_id("Which colour?").await;
    browser.wait_for_text("#reply label", "Which colour?").await;
    browser.wait_for("#reply-text:focus").await;
    assert_eq!(browser.value("#reply-text").await, "blue");
    browser.wait_for(&format!("#thread > #entry-{second}:last-child")).await;
    browser.finish().await;
}

#[tokio::test]
async fn every_page_of_a_terminal_is_accessible_and_fits_a_phone() {
    let axe = axe();
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let pages = pages(&hub, &shell).await;
    let mut findings: Vec<String> = Vec::new();
    for (look, name) in [(Viewport::DESKTOP, "wide"), (Viewport::PHONE, "phone")] {
        let mut browser = Browser::signed_in_as(look, &hub, "owner").await;
        for (nth, page) in pages.iter().enumerate() {
            browser.open(&hub, page).await;
            browser.wait_for("#main").await;
            if browser.count("#panel").await > 0 {
                browser.guard_off().await;
            }
            let wide = browser.script("return document.documentElement.scrollWidth").await;
            assert_eq!(wide, look.width, "{page}");
            browser.screenshot(&format!("cue-{name}-{nth:02}")).await;
            findings.extend(findings_in_all_themes(&mut browser, &axe, &format!("{name} {page}")).await);
        }
        browser.finish().await;
    }
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

#[tokio::test]
async fn a_form_that_takes_files_shows_what_will_be_sent_without_them() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let id = cue(&shell, "Where shall it run?", form()).await;
    for scripts in [true, false] {
        let look = Viewport {
            scripts,
            ..Viewport::DESKTOP
        };
        let browser = Browser::signed_in_as(look, &hub, "owner").await;
        browser.open(&hub, &format!("/inbox/items/{id}")).await;
        browser.wait_for("#answer input[type=file]").await;
        browser.click("input[name='field.Zone'][value='0']").await;
        browser.fill("[name='field.Why']", "load").await;
        browser.click("#preview-box summary").await;
        if !scripts {
            browser.click("#preview-box button").await;
        }
        browser.wait_for_text("#preview", "load").await;
        browser.finish().await;
    }
}
