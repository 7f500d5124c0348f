//! Several people, one item.

use crossterm::event::KeyCode;
use serde_json::json;

use super::super::super::answer::Editor;
use super::super::super::feed::News;
use super::super::super::seen::tests::{answered, seen};
use super::super::{Effect, Ending, Open, Reply};
use super::scene::Scene;
use crate::client::HubError;

fn open(scene: &Scene) -> &Open {
    scene.state.open.as_ref().unwrap()
}

fn resolved(id: &str) -> News {
    News::Resolved {
        id: id.to_owned(),
        words: "answered by human:ann".to_owned(),
    }
}

fn writing() -> Scene {
    let mut scene = Scene::holding(vec![seen("a", &json!({"question": {"kind": "text"}}))]);
    scene.open();
    scene.press(KeyCode::Enter);
    scene.keys("my long answer");
    scene
}

#[test]
fn the_open_item_flips_when_somebody_else_answers_and_keeps_what_was_typed() {
    let mut scene = writing();
    assert_eq!(
        scene.news(resolved("a")),
        [Effect::Read {
            id: "a".to_owned(),
            fresh: false
        }]
    );
    scene.read(answered("a", "human:ann", "yes"), false);
    assert_eq!(open(&scene).ending, Ending::Theirs { sent: false });
    let Editor::Text(words) = &open(&scene).editor else {
        panic!("the text stays")
    };
    assert_eq!(words.words().text(), "my long answer");
    assert!(!open(&scene).is_typing());
    assert_eq!(scene.key('a'), [], "nothing can be sent any more");
}

#[test]
fn the_loser_of_a_race_is_told() {
    let mut scene = writing();
    Scene::sent(scene.press(KeyCode::Enter));
    scene.news(resolved("a"));
    scene.read(answered("a", "human:ann", "yes"), false);
    assert_eq!(
        open(&scene).ending,
        Ending::None,
        "whose it was is not known before the reply"
    );
    scene.refused("a", "already_terminal", None, "already answered");
    assert_eq!(open(&scene).ending, Ending::Theirs { sent: true });
    assert!(open(&scene).is_touched(), "nothing that was typed is lost");
}

#[test]
fn the_winner_is_not_told_that_somebody_else_was_faster() {
    let mut scene = writing();
    Scene::sent(scene.press(KeyCode::Enter));
    scene.news(resolved("a"));
    scene.read(answered("a", "human:owner", "my long answer"), false);
    scene.taken("a");
    assert_eq!(open(&scene).ending, Ending::Mine);
    assert_eq!(open(&scene).editor, Editor::Nothing, "what was sent is not kept");
}

#[test]
fn a_reason_half_typed_stays_on_screen() {
    let mut scene = Scene::with(&["a"]);
    scene.open();
    scene.key('r');
    scene.keys("6because");
    scene.news(resolved("a"));
    scene.read(answered("a", "human:ann", "approve"), false);
    assert!(scene.state.overlay.is_none());
    assert_eq!(
        open(&scene)
            .reason
            .as_ref()
            .map(|reason| reason.text().to_owned())
            .as_deref(),
        Some("because")
    );
}

#[test]
fn an_old_error_goes_when_somebody_else_has_decided() {
    let mut scene = Scene::with(&["a"]);
    scene.open();
    let away = HubError::Unreachable("the hub is away".to_owned());
    scene.reply(Reply::Read {
        id: "a".to_owned(),
        fresh: false,
        seen: Err(away),
    });
    assert_eq!(scene.said(), "the hub is away");
    scene.read(seen("a", &json!({})), false);
    assert_eq!(
        scene.said(),
        "the hub is away",
        "while it is open, it can be read for its time"
    );
    scene.read(answered("a", "human:ann", "approve"), false);
    assert_eq!(
        (open(&scene).ending, scene.said()),
        (Ending::Theirs { sent: false }, "")
    );
}

#[test]
fn a_hint_goes_when_there_is_nothing_left_to_answer() {
    let mut scene = Scene::with(&["a"]);
    scene.open();
    scene.press(KeyCode::Enter);
    assert!(scene.said().contains("pick one"));
    scene.read(answered("a", "human:ann", "approve"), false);
    assert_eq!(scene.said(), "");
}

#[test]
fn an_error_during_a_lost_race_goes_with_it() {
    let mut scene = writing();
    Scene::sent(scene.press(KeyCode::Enter));
    scene.reply(Reply::Presets(Err(HubError::Unreachable("the hub is away".to_owned()))));
    scene.refused("a", "already_terminal", None, "already answered");
    assert_eq!((open(&scene).ending, scene.said()), (Ending::Theirs { sent: true }, ""));
}

#[test]
fn what_goes_wrong_after_the_end_stays_in_sight() {
    let mut scene = Scene::with(&["a"]);
    scene.open();
    scene.read(answered("a", "human:ann", "approve"), false);
    let away = HubError::Unreachable("the hub is away".to_owned());
    scene.reply(Reply::Retried {
        id: "a".to_owned(),
        done: Err(away),
    });
    scene.read(answered("a", "human:ann", "approve"), false);
    assert_eq!(scene.said(), "the hub is away");
}

#[test]
fn the_track_of_the_open_item_is_followed() {
    let mut scene = Scene::with(&["a"]);
    scene.open();
    scene.key('a');
    scene.taken("a");
    let read = [Effect::Read {
        id: "a".to_owned(),
        fresh: false,
    }];
    assert_eq!(scene.news(News::Tracked("a".to_owned())), read);
    assert_eq!(scene.news(News::Tracked("other".to_owned())), []);
}

#[test]
fn a_failed_delivery_can_be_tried_again() {
    let mut decided = super::super::super::seen::tests::value("a", &json!({"status": "answered"}));
    decided["resolution"] = json!({"resolution_id": "r", "resolution": "answered", "actor": "human:ann",
        "resolved_at": "2026-06-04T15:00:01.000Z"});
    decided["delivery"] = json!({"state": "failed", "attempts": 8});
    let mut scene = Scene::holding(vec![super::super::super::seen::Seen::read(&decided).unwrap()]);
    scene.press(KeyCode::Enter);
    assert_eq!(scene.key('t'), [Effect::Retry { id: "a".to_owned() }]);
}
