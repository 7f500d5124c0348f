//! Agents in terminals: presence and type-ahead.

use countersign_client::hub::ClientError;
use crossterm::event::KeyCode;
use reqwest::StatusCode;
use serde_json::{Value, json};

use super::scene::Scene;
use crate::feed::InboxChange;
use crate::inbox_entry::tests::entry;
use crate::state::{Effect, InboxReply, Overlay};

fn cue(state: &str) -> Value {
    json!({"source": {"door": "hap", "cue": "cue"}, "open_ended": true, "presence": {"state": state, "since": null}})
}

fn facing_cue() -> Scene {
    let mut scene = Scene::holding(vec![entry("a", &cue("waiting"))]);
    scene.open();
    scene
}

fn ahead(text: &str) -> Effect {
    Effect::Ahead {
        agent_id: "bot".to_owned(),
        text: text.to_owned(),
    }
}

#[test]
fn the_list_follows_the_presence_of_agents() {
    let mut scene = Scene::holding(vec![entry("a", &cue("waiting")), entry("b", &json!({}))]);
    let effects = scene.change(InboxChange::Tracked("a".to_owned()));
    assert_eq!(
        effects,
        [Effect::Read {
            id: "a".to_owned(),
            fresh: true
        }]
    );
    assert_eq!(scene.read(entry("a", &cue("gone")), true), [], "it rings no bell");
    assert_eq!(scene.state.rows()[0].item.presence_label(), Some("gone"));
    assert_eq!(
        scene.change(InboxChange::Tracked("b".to_owned())),
        [],
        "other items show no presence in the list"
    );
}

#[test]
fn a_text_is_written_ahead_and_decides_nothing() {
    let mut scene = facing_cue();
    scene.keys("w");
    assert_eq!(scene.press(KeyCode::Enter), [], "an empty text is not sent");
    scene.keys("run a");
    scene.press(KeyCode::Esc);
    scene.keys("wll");
    assert_eq!(scene.press(KeyCode::Enter), [ahead("run all")]);
    assert!(scene.state.overlay.is_none());
    scene.reply(InboxReply::Ahead {
        agent_id: "bot".to_owned(),
        text: "run all".to_owned(),
        done: Ok(()),
    });
    assert!(scene.message().contains("bot gets it"), "{}", scene.message());
    scene.keys("w");
    assert_eq!(scene.press(KeyCode::Enter), [], "what was sent is gone from the box");
}

#[test]
fn a_refused_text_is_kept() {
    let mut scene = facing_cue();
    scene.keys("wgo on");
    scene.press(KeyCode::Enter);
    let error = ClientError::Refused {
        status: StatusCode::TOO_MANY_REQUESTS,
        code: "rate_limited".to_owned(),
        message: "20 texts wait".to_owned(),
        field: None,
    };
    scene.reply(InboxReply::Ahead {
        agent_id: "bot".to_owned(),
        text: "go on".to_owned(),
        done: Err(error),
    });
    assert!(scene.message().contains("20 texts wait"));
    scene.keys("w");
    assert_eq!(scene.press(KeyCode::Enter), [ahead("go on")]);
}

#[test]
fn type_ahead_continues_when_the_question_ends() {
    let mut scene = facing_cue();
    scene.keys("wgo");
    scene.taken("a");
    assert!(matches!(scene.state.overlay, Some(Overlay::Ahead { .. })));
    scene.keys(" on");
    assert_eq!(scene.press(KeyCode::Enter), [ahead("go on")]);
}

#[test]
fn type_ahead_is_for_terminals_only() {
    let mut scene = Scene::with(&["a"]);
    scene.open();
    scene.keys("w");
    assert!(scene.state.overlay.is_none() && scene.message().contains("terminal"));
}

#[test]
fn any_question_of_a_terminal_takes_free_text() {
    let options = json!([{"value": "x", "label": "x"}]);
    for question in [
        json!({"kind": "confirm", "options": options}),
        json!({"kind": "select", "options": options}),
        json!({"kind": "select", "options": options, "many": true}),
        json!({"kind": "form", "schema": {"properties": {"a": {"type": "string"}}, "required": ["a"]}}),
    ] {
        let mut item = cue("waiting");
        item["question"] = question.clone();
        let mut scene = Scene::holding(vec![entry("a", &item)]);
        scene.open();
        scene.keys("owhatever");
        assert_eq!(
            Scene::sent(scene.press(KeyCode::Enter))["value"],
            "whatever",
            "{question}"
        );
    }
    let mut strange = cue("waiting");
    strange["question"] = json!({"kind": "drawing"});
    let mut scene = Scene::holding(vec![entry("a", &strange)]);
    scene.open();
    scene.press(KeyCode::Enter);
    scene.keys("a text");
    assert_eq!(Scene::sent(scene.press(KeyCode::Enter))["value"], "a text");
}
