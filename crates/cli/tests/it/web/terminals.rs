//! Cues of terminal agents in a browser without scripts: the agent, its waiting state and answers.

use serde_json::{Value, json};

use super::WebClient;
use super::item::open;
use crate::hap::{TerminalAgent, id, until_gone};
use crate::harness::*;

async fn cue(shell: &TerminalAgent, prompt: &str, payload: Value) -> String {
    let mut body = shell.cue_body(prompt);
    body["payload"] = payload;
    id(&shell.post(&body).await.expect(201))
}

fn form() -> Value {
    json!({"type": "form", "fields": [
        {"label": "Zone", "options": ["eu", "us", "asia"], "allow_multiple": true}, {"label": "Why"},
    ]})
}

fn choice(many: bool) -> Value {
    json!({"type": "choice", "options": ["Blue", "Green"], "allow_multiple": many})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cue_shows_its_agent_directory_and_waiting_state() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let owner = WebClient::signed_in(&hub).await;
    let first = shell.ask_for_id("# Ship it?").await;
    let process = shell.waiting(&hub, &first).await;
    let page = open(&owner, &first).await;
    assert_eq!(page.text_at(".meta-line .agent"), "Claude Code · shop");
    assert_eq!(page.text_at("#about .id"), shell.agent_id);
    let place = page.text_at("#cue .place");
    assert!(
        ["claude_code", "/home/ann/shop", "zsh"]
            .iter()
            .all(|word| place.contains(word)),
        "{place}"
    );
    assert_eq!(page.text_at(".presence"), "waiting now");
    assert_eq!(page.text_at("#agent-note"), "");
    let row = format!("#row-{first} .who");
    let listed = owner.get("/inbox").await.text_at(&row);
    assert!(listed.contains("shop") && listed.contains("waiting now"), "{listed}");

    let second = shell.ask_for_id("Two?").await;
    let queued = open(&owner, &second).await.text_at("#queued");
    assert_eq!(queued, "1 earlier question of this agent is still open");

    process.abort();
    until_gone(&hub, &first).await;
    let page = open(&owner, &first).await;
    assert!(
        page.text_at(".presence").starts_with("gone since"),
        "{}",
        page.text_at(".presence")
    );
    assert_eq!(
        page.text_at("#agent-note"),
        "The agent is offline. Its next cueme call collects your answer."
    );
    assert!(owner.get("/inbox").await.text_at(&row).contains("gone"));
}

#[tokio::test(flavor = "multi_thread")]
async fn superseded_and_superseding_cues_link_to_each_other() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let owner = WebClient::signed_in(&hub).await;
    let first = shell.ask_for_id("One?").await;
    shell.waiting(&hub, &first).await.abort();
    until_gone(&hub, &first).await;
    let second = shell.ask_for_id("Two?").await;
    let old = open(&owner, &first).await;
    let new = open(&owner, &second).await;
    assert_eq!(
        old.attribute("#superseded a", "href"),
        Some(format!("/inbox/items/{second}"))
    );
    assert_eq!(
        new.attribute("#replaces a", "href"),
        Some(format!("/inbox/items/{first}"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_shows_as_paused() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let owner = WebClient::signed_in(&hub).await;
    let pause = id(&shell
        .post(&json!({"agent_id": shell.agent_id, "kind": "pause"}))
        .await
        .expect(201));
    let _process = shell.waiting(&hub, &pause).await;
    assert_eq!(open(&owner, &pause).await.text_at(".presence"), "paused, waiting");
    assert!(
        owner
            .get("/inbox")
            .await
            .text_at(&format!("#row-{pause}"))
            .contains("paused, waiting")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn free_text_answers_every_question_and_excludes_a_choice() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let owner = WebClient::signed_in(&hub).await;
    let confirm = json!({"type": "confirm", "confirm_label": "Ship", "cancel_label": "Hold"});
    for (nth, payload, offered) in [
        (0, confirm, None),
        (1, choice(false), Some(("value", "Green"))),
        (2, choice(true), Some(("value", "Green"))),
        (3, form(), Some(("field.Why", "load"))),
    ] {
        let id = cue(&shell, &format!("{nth}?"), payload).await;
        let page = open(&owner, &id).await;
        assert_eq!(page.count("textarea#own-words"), 1, "{nth}");
        if let Some(offered) = offered {
            let both = [("typed", "on\nMonday"), offered];
            let refused = owner
                .submit(&page, "form#answer", &both, Some(("verdict", "answered")))
                .await
                .expect(422);
            let error = refused.text_at("#error-typed");
            assert!(error.contains("choose one of the two"), "{nth}: {error}");
            assert_eq!(refused.field("typed").as_deref().map(str::trim), Some("on\nMonday"));
        }
        let expected = [("typed", "on\r\nMonday")];
        owner
            .submit(&page, "form#answer", &expected, Some(("verdict", "answered")))
            .await
            .expect(200);
        assert_eq!(shell.outcome(&id).await["reply"]["text"], "on\nMonday", "{nth}");
    }
    let pressed = cue(&shell, "pressed?", json!({"type": "confirm", "confirm_label": "Ship"})).await;
    let page = open(&owner, &pressed).await;
    let expected = [("typed", "on Monday")];
    let refused = owner
        .submit(&page, "form#answer", &expected, Some(("value", "approve")))
        .await
        .expect(422);
    assert!(refused.text_at("#error-typed").contains("choose one of the two"));
    assert_eq!(shell.get_cue(&pressed).await["status"], "open");
}

#[tokio::test(flavor = "multi_thread")]
async fn picking_no_choice_requires_free_text() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let owner = WebClient::signed_in(&hub).await;
    let id = cue(&shell, "Which?", choice(false)).await;
    let page = open(&owner, &id).await;
    assert!(page.text_at("fieldset.choices").ends_with("Something else…"));
    let nothing = [("value", ""), ("typed", " ")];
    let refused = owner
        .submit(&page, "form#answer", &nothing, Some(("verdict", "answered")))
        .await
        .expect(422);
    assert!(
        refused.text_at("#error-value").contains("write an answer of your own"),
        "{}",
        refused.text()
    );
    let expected = [("value", ""), ("typed", "Red")];
    owner
        .submit(&page, "form#answer", &expected, Some(("verdict", "answered")))
        .await
        .expect(200);
    assert_eq!(shell.outcome(&id).await["reply"]["text"], "Red");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_multiple_choice_field_takes_any_number_of_ticks() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let owner = WebClient::signed_in(&hub).await;
    let id = cue(&shell, "Where?", form()).await;
    let page = open(&owner, &id).await;
    assert_eq!(page.count("fieldset input[type=checkbox][name='field.Zone']"), 3);
    let ticked = [("field.Zone", "0"), ("field.Zone", "2"), ("field.Why", "load")];
    let done = owner
        .submit(&page, "form#answer", &ticked, Some(("verdict", "answered")))
        .await
        .expect(200);
    assert!(
        done.text_at("#answered").contains("Zone eu, asia"),
        "{}",
        done.text_at("#answered")
    );
    assert_eq!(shell.outcome(&id).await["reply"]["text"], "Zone: eu, asia\nWhy: load");
    let late = owner
        .submit(&page, "form#answer", &ticked, Some(("verdict", "answered")))
        .await
        .expect(409);
    assert!(
        late.text_at("#typed").contains("Zone: eu, asia"),
        "{}",
        late.text_at("#typed")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_prompt_has_its_own_url_that_needs_a_session() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let owner = WebClient::signed_in(&hub).await;
    let prompt = format!("Long\n{}", "<b>word</b> ".repeat(40_000));
    let long = shell.ask_for_id(&prompt).await;
    let short = shell.ask_for_id("Short?").await;
    assert_eq!(open(&owner, &short).await.count("#whole-text"), 0);
    let link = open(&owner, &long)
        .await
        .attribute("#whole-text", "href")
        .expect("a link");
    let whole = owner.get(&link).await.expect(200);
    assert!(whole.html == prompt && whole.header("content-disposition").starts_with("attachment"));
    assert_eq!(whole.header("content-type"), "text/plain; charset=utf-8");
    assert_eq!(whole.header("x-content-type-options"), "nosniff");
    assert!(WebClient::anonymous(&hub).get(&link).await.url.starts_with("/signin"));
}
