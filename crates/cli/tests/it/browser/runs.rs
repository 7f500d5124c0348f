//! Runs in a real browser: live updates, answers, stops, accessibility and small screens.

use serde_json::{Value, json};

use super::accessibility::{axe, findings_in_all_themes};
use super::chrome::{Browser, Viewport};
use crate::harness::*;
use crate::runs::inbox::id_of;
use crate::runs::stage::*;
use crate::web::runs::{address, hostile};
use crate::web::runs_asks::held;

const WITHOUT_SCRIPTS: Viewport = Viewport {
    scripts: false,
    ..Viewport::DESKTOP
};

#[tokio::test]
async fn a_run_appears_in_the_list_and_updates_live() {
    let hub = Hub::start().await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.click("#nav-runs").await;
    browser.wait_for_text(".empty", "No strategy has been run yet").await;
    let mut client = Client::connect(&hub).await;
    let first = client.start_strategy(&hub, &review(), "fish").await;
    client.next_question().await;
    browser
        .wait_for_text(&format!("#row-{first} .state"), "waiting for an answer")
        .await;
    let second = client.start_strategy(&hub, &review(), "bird").await;
    client.next_question().await;
    browser.wait_for(&format!("#rows > li:first-child#row-{second}")).await;
    // One row has the focus while another row changes.
    browser
        .script(&format!("document.querySelector('#row-{first} a.title').focus()"))
        .await;
    client.answer(&second, "editor", "fine").await;
    client.result().await;
    browser
        .wait_for_text(&format!("#row-{second} .state"), "completed")
        .await;
    browser.wait_for(&format!("#row-{first} a.title:focus")).await;
    browser.press("k").await;
    browser.press("j").await;
    browser.press("\u{e007}").await;
    browser.wait_for("#run").await;
    browser.finish().await;
}

#[tokio::test]
async fn an_answer_in_the_inbox_updates_the_page_of_its_run() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &review(), "fish").await;
    client.next_question().await;
    let watcher = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    watcher.open(&hub, &address(&run)).await;
    watcher.wait_for_text("#panel .prompt", "Draft: fish").await;
    watcher.wait_for_text("#to-come", "print").await;
    watcher.click("#steps .given summary").await;
    watcher.fill("#value", "I was about to say").await;
    let item = id_of(&hub, &run).await;
    let other = Browser::signed_in_as(Viewport::DESKTOP, &hub, "owner").await;
    other.open_item(&hub, &item).await;
    other.click(".meta-line a.run").await;
    other.wait_for("#run #panel:not([data-guarded])").await;
    other.click("#panel a[href^='/inbox/items/']").await;
    other.item_ready(&item).await;
    other.fill("#value", "from the inbox").await;
    other.click("#send").await;
    other.wait_for_text("#news", "from the inbox").await;
    watcher.wait_for_text("#run-head", "completed").await;
    watcher.wait_for_text("#steps > li:last-child", "Completed").await;
    watcher.wait_for_text("#typed", "I was about to say").await;
    assert_eq!(watcher.count("#steps > .step.done").await, 3);
    watcher.wait_for("#steps .given[open]").await;
    watcher.wait_until_gone("#answer").await;
    watcher.wait_until_gone("#stop").await;
    watcher.wait_for("#to-come[hidden]").await;
    other.finish().await;
    watcher.finish().await;
}

#[tokio::test]
async fn a_run_is_answered_on_its_page_one_question_after_the_other() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let agents = json!({"first": person(), "second": person_with(json!({"presetMessage": "And then?"}))});
    let run = client
        .start_strategy(&hub, &sequence(agents, &["first", "second"]), "")
        .await;
    client.next_question().await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.open(&hub, &address(&run)).await;
    browser.guard_off().await;
    browser.fill("#value", "one").await;
    // A double click: the second click must not answer the next question.
    browser
        .script_async(
            "const done = arguments[arguments.length - 1];
             new MutationObserver((_, watch) => {
               if (!document.querySelector('#panel h2')?.textContent.startsWith('second')) return;
               watch.disconnect();
               document.querySelector('#send').click();
               done(true);
             }).observe(document.body, {childList: true, subtree: true, characterData: true});
             document.querySelector('#send').click();",
        )
        .await;
    browser.wait_for_text("#panel .prompt", "And then?").await;
    browser.guard_off().await;
    client.next_question().await;
    assert_eq!(browser.value("#value").await, "");
    browser.fill("#value", "two").await;
    browser.click("#send").await;
    assert_eq!(client.result().await, "two");
    browser.wait_for_text("#panel", "Finished.").await;
    browser.wait_for_text("#run-head", "completed").await;
    assert_eq!(browser.script("return location.pathname").await, address(&run));
    browser.finish().await;
}

#[tokio::test]
async fn model_output_streams_to_the_page() {
    let model = Model::start().await;
    let hub = Setup::default().config(&model.config("")).start().await;
    let gate = Gate::shut();
    model.script([held(&["Once **up", "on**\n\n<b>a</b> \u{202e}"], &gate, &["time"])]);
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &alone(llm()), "a tale").await;
    let mut browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.open(&hub, &address(&run)).await;
    browser.wait_for_text("#steps > .at-work .stream strong", "upon").await;
    browser
        .wait_for_text("#steps > .at-work .stream", "<b>a</b> \\u{202e}")
        .await;
    browser.screenshot("run-streaming").await;
    // Text that was streamed before the page was loaded is shown after a reload, too.
    browser.reload().await;
    browser
        .wait_for_text("#steps > .at-work .stream", "<b>a</b> \\u{202e}")
        .await;
    assert_eq!(browser.count(".stream strong").await, 1, "each block is there once");
    gate.open();
    browser.wait_for_text("#steps > .step.done .md", "time").await;
    browser
        .wait_for_text("#steps > .step.done h2", "7 tokens in, 5 out")
        .await;
    browser.wait_until_gone(".stream").await;
    assert_eq!(browser.console_messages().await, Vec::<String>::new());
    browser.finish().await;
}

#[tokio::test]
async fn the_stop_button_stops_the_run() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &review(), "fish").await;
    client.next_question().await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.open(&hub, &address(&run)).await;
    browser.guard_off().await;
    browser.click("#stop-box > summary").await;
    browser.click("#stop button").await;
    browser.wait_for_text("#run-head", "stopped").await;
    browser.wait_for_text("#news", "Stopped.").await;
    assert_eq!(client.failure().await.0, "CANCELLED");
    client.continue_run(&run, "again").await;
    browser.wait_for_text("#run-head", "segment 2").await;
    browser.wait_for_text("#steps", "Continued").await;
    browser.finish().await;
}

#[tokio::test]
async fn the_page_of_a_long_run_stays_bounded() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let agents = json!({"user": person(), "print": echo()});
    let steps = json!({"name": "Main", "type": "sequential", "steps": [{"agent": "user"},
        {"name": "Rounds", "type": "cycle", "cycles": 200, "steps": [{"agent": "print"}]}, {"agent": "user"}]});
    let run = client.start_strategy(&hub, &strategy(agents, steps), "").await;
    client.next_question().await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.open(&hub, &address(&run)).await;
    browser.guard_off().await;
    client.answer(&run, "user", "round").await;
    client.next_question().await;
    browser.wait_for_text("#panel .prompt", "round").await;
    browser.wait_for("#steps > .at-work").await;
    assert!(browser.count("#steps > li").await < 320);
    browser.finish().await;
}

#[tokio::test]
async fn without_scripts_a_run_is_read_answered_and_stopped() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &review(), "fish").await;
    client.next_question().await;
    let browser = Browser::signed_in(WITHOUT_SCRIPTS, &hub).await;
    browser.click("#nav-runs").await;
    browser.click(&format!("#row-{run} a.title")).await;
    browser.fill("#value", "fine").await;
    browser.click("#send").await;
    assert_eq!(client.result().await, "fine");
    client.continue_run(&run, "").await;
    client.next_question().await;
    browser.open(&hub, &address(&run)).await;
    browser.click("#stop-box > summary").await;
    browser.click("#stop button").await;
    browser.wait_for_text("#run-head", "stopped").await;
    browser.finish().await;
}

#[tokio::test]
async fn hostile_strategies_are_shown_as_plain_text() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let mut browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.click("#nav-runs").await;
    browser.wait_for(".empty").await;
    let run = client
        .start_strategy(&hub, &hostile(), "<iframe src=//evil.example>")
        .await;
    client.next_question().await;
    browser.wait_for_text("#rows", "\\u{2066}pay").await;
    for page in ["/runs".to_owned(), address(&run), "/inbox".to_owned()] {
        browser.open(&hub, &page).await;
        browser.wait_for_text("main", "\\u{2066}pay").await;
        assert_eq!(
            browser.script("return window.owned ?? null").await,
            Value::Null,
            "{page}"
        );
        let foreign = "return performance.getEntriesByType('resource').map(e => e.name).filter(n => !n.startsWith(location.origin))";
        assert_eq!(
            browser.script(foreign).await,
            json!([]),
            "{page} fetched from elsewhere"
        );
        let inside = "main img, main script, main iframe, main svg, main a[href^='javascript']";
        assert_eq!(browser.count(inside).await, 0, "{page}");
    }
    browser.open(&hub, &address(&run)).await;
    client.stop(&run).await;
    browser.wait_for_text("#run-head", "stopped").await;
    browser.screenshot("run-hostile").await;
    assert_eq!(browser.console_messages().await, Vec::<String>::new());
    browser.finish().await;
}

/// The pages of one run in every state.
async fn pages(hub: &Hub, client: &mut Client) -> Vec<String> {
    let draft =
        "# Release 1.4\n\nAll checks are **green**.\n\n| step | time |\n|---|---|\n| build | 3 min |\n\n{{input}}";
    let agents = json!({"draft": template(draft), "editor": person(), "print": echo()});
    let review = sequence(agents, &["draft", "editor", "print"]);
    let done = client.start_strategy(hub, &review, "It adds the search.").await;
    client.next_question().await;
    client
        .answer(&done, "editor", "Fine, but mention the `--json` flag.")
        .await;
    client.result().await;
    let failed = client
        .start_strategy(hub, &alone(command("rm", &["-r", "target"])), "")
        .await;
    client.until("request_permission").await;
    hub.owner.answer(&id_of(hub, &failed).await, "deny").await.expect(200);
    client.failure().await;
    let asking = client
        .start_strategy(hub, &alone(command("cargo", &["publish", "--dry-run"])), "")
        .await;
    client.until("request_permission").await;
    let waiting = client.start_strategy(hub, &review, "It adds the search.").await;
    client.next_question().await;
    let mut pages = vec![
        "/runs".to_owned(),
        "/runs?status=cancelled".to_owned(),
        "/runs/nobody".to_owned(),
    ];
    pages.extend([&done, &failed, &asking, &waiting].map(|run| address(run)));
    pages.extend([id_of(hub, &asking).await, id_of(hub, &waiting).await].map(|id| format!("/inbox/items/{id}")));
    pages.push("/inbox".to_owned());
    pages
}

#[tokio::test]
async fn every_page_of_runs_is_accessible_and_fits_a_phone() {
    let axe = axe();
    let hub = Setup::default().config("[runs]\ncommands = \"ask\"\n").start().await;
    let mut client = Client::connect(&hub).await;
    let pages = pages(&hub, &mut client).await;
    let mut findings: Vec<String> = Vec::new();
    for (look, name) in [(Viewport::DESKTOP, "wide"), (Viewport::PHONE, "phone")] {
        let mut browser = Browser::signed_in_as(look, &hub, "owner").await;
        for (nth, page) in pages.iter().enumerate() {
            browser.open(&hub, page).await;
            browser.wait_for("#main").await;
            if browser.count("#panel form").await > 0 {
                browser.guard_off().await;
            }
            browser.console_messages().await;
            let wide = browser.script("return document.documentElement.scrollWidth").await;
            assert_eq!(wide, look.width, "{page}");
            browser.screenshot(&format!("run-{name}-{nth:02}")).await;
            findings.extend(findings_in_all_themes(&mut browser, &axe, &format!("{name} {page}")).await);
        }
        browser.finish().await;
    }
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}
