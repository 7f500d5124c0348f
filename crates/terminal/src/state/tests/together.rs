//! Several people, one item.

use countersign_client::hub::ClientError;
use crossterm::event::KeyCode;
use serde_json::json;

use super::scene::Scene;
use crate::answer::Editor;
use crate::feed::InboxChange;
use crate::inbox_entry::tests::{answered, entry};
use crate::state::{Effect, InboxReply, ItemEnding, OpenItem};

fn open(scene: &Scene) -> &OpenItem {
    scene.state.open.as_ref().unwrap()
}

fn resolved(id: &str) -> InboxChange {
    InboxChange::Resolved {
        id: id.to_owned(),
        text: "answered by human:ann".to_owned(),
    }
}

fn writing() -> Scene {
    let mut scene = Scene::holding(vec![entry("a", &json!({"question": {"kind": "text"}}))]);
    scene.open();
    scene.press(KeyCode::Enter);
    scene.keys("my long answer");
    scene
}

#[test]
fn the_open_item_ends_and_keeps_the_typed_text_when_another_person_answers() {
    let mut scene = writing();
    assert_eq!(
        scene.change(resolved("a")),
        [Effect::Read {
            id: "a".to_owned(),
            fresh: false
        }]
    );
    scene.read(answered("a", "human:ann", "yes"), false);
    assert_eq!(open(&scene).ending, ItemEnding::Theirs { sent: false });
    let Editor::Text(editor) = &open(&scene).editor else {
        panic!("the text stays")
    };
    assert_eq!(editor.input().text(), "my long answer");
    assert!(!open(&scene).is_typing());
    assert_eq!(scene.key('a'), [], "nothing can be sent any more");
}

#[test]
fn a_late_answer_is_reported_as_such() {
    let mut scene = writing();
    Scene::sent(scene.press(KeyCode::Enter));
    scene.change(resolved("a"));
    scene.read(answered("a", "human:ann", "yes"), false);
    assert_eq!(
        open(&scene).ending,
        ItemEnding::None,
        "the winner is unknown before the reply"
    );
    scene.refused("a", "already_terminal", None, "already answered");
    assert_eq!(open(&scene).ending, ItemEnding::Theirs { sent: true });
    assert!(open(&scene).is_touched(), "nothing that was typed is lost");
}

#[test]
fn an_accepted_answer_is_never_reported_as_late() {
    let mut scene = writing();
    Scene::sent(scene.press(KeyCode::Enter));
    scene.change(resolved("a"));
    scene.read(answered("a", "human:owner", "my long answer"), false);
    scene.taken("a");
    assert_eq!(open(&scene).ending, ItemEnding::Mine);
    assert_eq!(open(&scene).editor, Editor::Nothing, "what was sent is not kept");
}

#[test]
fn an_unfinished_reason_stays_on_screen() {
    let mut scene = Scene::with(&["a"]);
    scene.open();
    scene.key('r');
    scene.keys("6because");
    scene.change(resolved("a"));
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
fn an_old_error_is_cleared_when_another_person_decides() {
    let mut scene = Scene::with(&["a"]);
    scene.open();
    let away = ClientError::Unreachable("the hub is away".to_owned());
    scene.reply(InboxReply::Read {
        id: "a".to_owned(),
        fresh: false,
        entry: Err(away),
    });
    assert_eq!(scene.message(), "the hub is away");
    scene.read(entry("a", &json!({})), false);
    assert_eq!(scene.message(), "the hub is away", "it stays while the item is open");
    scene.read(answered("a", "human:ann", "approve"), false);
    assert_eq!(
        (open(&scene).ending, scene.message()),
        (ItemEnding::Theirs { sent: false }, "")
    );
}

#[test]
fn a_hint_is_cleared_when_the_item_ends() {
    let mut scene = Scene::with(&["a"]);
    scene.open();
    scene.press(KeyCode::Enter);
    assert!(scene.message().contains("pick one"));
    scene.read(answered("a", "human:ann", "approve"), false);
    assert_eq!(scene.message(), "");
}

#[test]
fn an_error_is_cleared_by_a_late_answer() {
    let mut scene = writing();
    Scene::sent(scene.press(KeyCode::Enter));
    scene.reply(InboxReply::Presets(Err(ClientError::Unreachable(
        "the hub is away".to_owned(),
    ))));
    scene.refused("a", "already_terminal", None, "already answered");
    assert_eq!(
        (open(&scene).ending, scene.message()),
        (ItemEnding::Theirs { sent: true }, "")
    );
}

#[test]
fn an_error_after_the_end_stays_visible() {
    let mut scene = Scene::with(&["a"]);
    scene.open();
    scene.read(answered("a", "human:ann", "approve"), false);
    let away = ClientError::Unreachable("the hub is away".to_owned());
    scene.reply(InboxReply::Retried {
        id: "a".to_owned(),
        done: Err(away),
    });
    scene.read(answered("a", "human:ann", "approve"), false);
    assert_eq!(scene.message(), "the hub is away");
}

#[test]
fn the_delivery_of_the_open_item_is_followed() {
    let mut scene = Scene::with(&["a"]);
    scene.open();
    scene.key('a');
    scene.taken("a");
    let read = [Effect::Read {
        id: "a".to_owned(),
        fresh: false,
    }];
    assert_eq!(scene.change(InboxChange::Tracked("a".to_owned())), read);
    assert_eq!(scene.change(InboxChange::Tracked("other".to_owned())), []);
}

#[test]
fn a_failed_delivery_can_be_retried() {
    let mut decided = crate::inbox_entry::tests::value("a", &json!({"status": "answered"}));
    decided["resolution"] = json!({"resolution_id": "r", "resolution": "answered", "actor": "human:ann",
        "resolved_at": "2026-06-04T15:00:01.000Z"});
    decided["delivery"] = json!({"state": "failed", "attempts": 8});
    let mut scene = Scene::holding(vec![crate::inbox_entry::InboxEntry::read(&decided).unwrap()]);
    scene.press(KeyCode::Enter);
    assert_eq!(scene.key('t'), [Effect::Retry { id: "a".to_owned() }]);
}
