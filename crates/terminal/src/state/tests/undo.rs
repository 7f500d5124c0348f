use countersign_client::hub::ClientError;
use reqwest::StatusCode;
use serde_json::{Value, json};

use super::scene::Scene;
use crate::feed::InboxChange;
use crate::inbox_entry::tests::{answered, entry};
use crate::state::{Effect, InboxReply, ItemEnding};

fn held() -> Value {
    json!({"can_answer": false, "held": {"by": "human:owner", "until": "2026-06-04T15:00:09.000Z"}})
}

fn read(id: &str) -> Effect {
    Effect::Read {
        id: id.to_owned(),
        fresh: false,
    }
}

/// Two items, the first of them approved and on hold.
fn on_hold() -> Scene {
    let mut scene = Scene::with(&["a", "b"]);
    scene.open();
    Scene::sent(scene.key('a'));
    let status = Ok("open".to_owned());
    let id = "a".to_owned();
    assert_eq!(scene.reply(InboxReply::Resolved { id, status }), [read("a")]);
    scene.read(entry("a", &held()), false);
    scene
}

#[test]
fn a_decision_on_hold_stays_in_the_list_and_says_how_to_take_it_back() {
    let scene = on_hold();
    assert_eq!(scene.state.rows().len(), 2);
    assert!(scene.message().contains("z takes it back"), "{}", scene.message());
    let open = scene.state.open.as_ref().unwrap();
    assert!(open.is_on_hold() && open.ending == ItemEnding::Mine);
}

#[test]
fn z_takes_the_decision_back_and_the_item_takes_answers_again() {
    let mut scene = on_hold();
    assert_eq!(scene.key('z'), [Effect::Undo { id: "a".to_owned() }]);
    let undone = InboxReply::Undone {
        id: "a".to_owned(),
        done: Ok(()),
    };
    assert_eq!(scene.reply(undone), [read("a")]);
    scene.read(entry("a", &json!({})), false);
    let open = scene.state.open.as_ref().unwrap();
    assert!(open.takes_answers() && !open.is_on_hold());
    assert_eq!(scene.key('z'), [], "once");
}

#[test]
fn z_in_the_list_takes_the_last_decision_back() {
    let mut scene = on_hold();
    scene.press(crossterm::event::KeyCode::Esc);
    assert_eq!(scene.key('z'), [Effect::Undo { id: "a".to_owned() }]);
}

#[test]
fn z_after_the_hold_is_told_that_the_answer_was_sent() {
    let mut scene = on_hold();
    assert_eq!(scene.key('z'), [Effect::Undo { id: "a".to_owned() }]);
    let done = Err(ClientError::Refused {
        status: StatusCode::CONFLICT,
        code: "already_terminal".to_owned(),
        message: "the message is already answered".to_owned(),
        field: None,
    });
    scene.reply(InboxReply::Undone {
        id: "a".to_owned(),
        done,
    });
    assert!(scene.message().contains("too late"), "{}", scene.message());
    scene.read(answered("a", "human:owner", "approve"), false);
    assert_eq!(scene.state.open.as_ref().unwrap().ending, ItemEnding::Mine);
}

#[test]
fn the_row_of_another_person_s_decision_follows_the_event() {
    let mut scene = Scene::with(&["a"]);
    assert_eq!(scene.change(InboxChange::Held("a".to_owned())), [read("a")]);
    let ann = json!({"can_answer": false, "held": {"by": "human:ann", "until": "2026-06-04T15:00:09.000Z"}});
    scene.read(entry("a", &ann), false);
    let text = scene.state.rows().first().and_then(|entry| entry.item.held_text());
    assert_eq!(text.as_deref(), Some("ann is answering"));
}
