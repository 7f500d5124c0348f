//! Cues of terminal agents: free text, multiple choice, waiting agents and type-ahead.

use serde_json::{Value, json};

use super::Pane;
use super::pane::PaneOptions;
use crate::hap::TerminalAgent;
use crate::harness::*;

/// Submits a cue that must be new, and returns its id.
pub async fn asked(shell: &TerminalAgent, prompt: &str, payload: Value) -> String {
    let mut body = shell.cue_body(prompt);
    body["payload"] = payload;
    let ack = shell.post(&body).await.expect(201);
    ack["id"].as_str().expect("an id").to_owned()
}

pub fn many() -> Value {
    json!({"type": "choice", "options": ["Blue", "Green", "Red"], "allow_multiple": true})
}

/// Leaves the text field, and waits until that shows: a key right after Esc would be read as an Alt combination.
async fn stop_typing(pane: &Pane) {
    pane.shows("Esc stop typing").await;
    pane.press(&["Escape"]);
    pane.hides("Esc stop typing").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_multiple_choice_is_answered_with_free_text() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let id = asked(&shell, "Which colours?", many()).await;
    let pane = Pane::start(&hub);
    pane.open("Which colours?").await;
    pane.shows_all(&["1. [ ] Blue", "4. in other words:   [o]"]).await;
    pane.press(&["2", "o"]);
    pane.shows("Enter send  Ctrl-J new line").await;
    pane.write("none of these, o");
    pane.press(&["C-j"]);
    pane.write("ask ann");
    pane.press(&["Enter"]);
    pane.shows("you picked a choice and wrote").await;
    stop_typing(&pane).await;
    pane.press(&["2", "o", "Enter"]);
    let cue = shell.outcome(&id).await;
    assert_eq!(cue["reply"]["text"], "none of these, o\nask ann");
    pane.shows("answered none of these, o\\nask ann by").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn several_choices_of_a_form_are_ticked() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let zones = json!({"label": "Zone", "options": ["eu", "us", "asia"], "allow_multiple": true});
    let form = json!({"type": "form", "fields": [zones, {"label": "Why"}]});
    let id = asked(&shell, "Where to?", form).await;
    let pane = Pane::start(&hub);
    pane.open("Where to?").await;
    pane.shows_all(&["Zone  (any of these", "[ ] eu", "[ ] asia", "in other words"])
        .await;
    pane.press(&["Enter", "1", "Down", "Down", "Space"]);
    pane.shows_all(&["[x] eu", "[ ] us", "▌ [x] asia"]).await;
    pane.press(&["Tab"]);
    pane.write("load");
    pane.press(&["Tab", "Enter"]);
    let cue = shell.outcome(&id).await;
    assert_eq!(cue["reply"]["text"], "Zone: eu, asia\nWhy: load");
    pane.shows_all(&["Zone: eu, asia", "Why: load"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_is_answered_with_free_text() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let id = asked(
        &shell,
        "Where to?",
        json!({"type": "form", "fields": [{"label": "Why"}]}),
    )
    .await;
    let pane = Pane::start(&hub);
    pane.open("Where to?").await;
    pane.press(&["Enter"]);
    pane.write("load");
    stop_typing(&pane).await;
    pane.press(&["o"]);
    pane.write("nowhere yet");
    pane.press(&["Enter"]);
    pane.shows_all(&["you filled in the form and wrote", "load", "nowhere yet"])
        .await;
    assert_eq!(shell.get_cue(&id).await["status"], "open", "the answer is ambiguous");
    stop_typing(&pane).await;
    pane.press(&["Up", "Up", "Enter", "C-u"]);
    pane.hides("load").await;
    stop_typing(&pane).await;
    pane.press(&["o", "Enter"]);
    assert_eq!(shell.outcome(&id).await["reply"]["text"], "nowhere yet");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_and_the_item_show_whether_the_agent_waits() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let id = asked(&shell, "Ship it?", json!({"type": "confirm"})).await;
    let process = shell.waiting(&hub, &id).await;
    let pane = Pane::start(&hub);
    pane.shows_all(&["Ship it?", "agent waiting"]).await;
    process.abort();
    pane.shows("agent gone").await;
    let process = shell.waiting(&hub, &id).await;
    pane.shows("agent waiting").await;
    pane.press(&["Enter"]);
    pane.shows_all(&[
        "in /home/ann/shop (zsh, claude_code)",
        "the agent has been waiting in its terminal",
    ])
    .await;
    process.abort();
    pane.shows("the agent has been gone from its terminal").await;
    asked(&shell, "Or not?", json!(null)).await;
    pane.shows("superseded by msg_").await;
    pane.press(&["Escape"]);
    pane.shows("Or not?").await;
    pane.press(&["Enter"]);
    pane.shows(&format!("supersedes {id}")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn type_ahead_answers_the_next_question() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let first = asked(&shell, "Ship it?", json!({"type": "confirm"})).await;
    let pane = Pane::start(&hub);
    pane.open("Ship it?").await;
    pane.press(&["w"]);
    pane.shows("Queue a reply").await;
    pane.write("then");
    pane.press(&["Escape"]);
    pane.hides("Queue a reply").await;
    pane.press(&["w"]);
    pane.shows_all(&["Queue a reply", "then"]).await;
    pane.write(" run the tests");
    pane.press(&["Enter"]);
    pane.shows("gets it when it asks next").await;
    assert_eq!(
        hub.owner.get(&format!("/v1/inbox/{first}")).await.expect(200)["status"],
        "open"
    );
    let next = asked(&shell, "What now?", json!(null)).await;
    assert_eq!(shell.outcome(&next).await["reply"]["text"], "then run the tests");
}

#[tokio::test(flavor = "multi_thread")]
async fn prompts_take_free_text_and_several_numbers() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let colours = asked(&shell, "Which colours?", many()).await;
    let zones = json!({"label": "Zone", "options": ["eu", "us", "asia"], "allow_multiple": true});
    let process = shell.waiting(&hub, &colours).await;
    let form = asked(&shell, "Where to?", json!({"type": "form", "fields": [zones]})).await;
    let pane = PaneOptions::owner(&hub).term("dumb").size(110, 60).start();
    pane.shows_all(&["Which colours?", "Where to?", "Which one?"]).await;
    pane.write("w2\n");
    pane.shows(&format!("For the next question of {}", shell.agent_id))
        .await;
    pane.write("go on\n");
    pane.shows("gets it when it asks next.").await;
    let waiting = hub
        .owner
        .get(&format!("/v1/terminals/{}/ahead", shell.agent_id))
        .await
        .expect(200);
    assert_eq!(waiting["ahead"][0]["text"], "go on");
    eventually("the list again", async || {
        (pane.text().matches("Which one?").count() == 2).then_some(())
    })
    .await;
    pane.write("1\n");
    pane.shows("numbers with spaces, o for other words, r skips it").await;
    pane.write("o\n");
    pane.shows("Your answer (one line").await;
    pane.write("any\n");
    pane.shows("Comment").await;
    pane.write("\n");
    assert_eq!(shell.outcome(&colours).await["reply"]["text"], "any");
    process.abort();
    eventually("the list again", async || {
        (pane.text().matches("Which one?").count() == 3).then_some(())
    })
    .await;
    pane.write("1\n");
    pane.shows("Enter fills in the form, o for other words").await;
    pane.write("\n");
    pane.shows("Zone (the numbers of any, with spaces)").await;
    pane.write("3 1\n");
    eventually("the second comment", async || {
        (pane.text().matches("Comment").count() == 2).then_some(())
    })
    .await;
    pane.write("\n");
    pane.shows("Nothing waits for you.").await;
    assert_eq!(shell.outcome(&form).await["reply"]["text"], "Zone: asia, eu");
}
