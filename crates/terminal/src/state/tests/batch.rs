use crossterm::event::KeyCode;
use serde_json::json;

use super::scene::Scene;
use crate::inbox_entry::tests::{answered, entry};
use crate::state::{Effect, GUARD, InboxReply, Overlay, Tab};

/// The ids and values of the decisions among the effects.
fn sent(effects: &[Effect]) -> Vec<(&str, &str)> {
    fn decision(effect: &Effect) -> Option<(&str, &str)> {
        match effect {
            Effect::Resolve { id, body } => Some((id, body["value"].as_str().unwrap_or_default())),
            _ => None,
        }
    }
    effects.iter().filter_map(decision).collect()
}

fn marked(ids: &[&str], count: usize) -> Scene {
    let mut scene = Scene::with(ids);
    scene.pass(GUARD);
    for _ in 0..count {
        scene.key('x');
    }
    assert_eq!(scene.state.marked_count(), count);
    scene
}

fn status(id: &str, status: &str) -> InboxReply {
    InboxReply::Resolved {
        id: id.to_owned(),
        status: Ok(status.to_owned()),
    }
}

/// Opens the confirmation and waits until it takes keys.
fn confirm(scene: &mut Scene, letter: char) -> Vec<Effect> {
    assert_eq!(scene.key(letter), []);
    assert!(matches!(scene.state.overlay, Some(Overlay::Batch(_))));
    assert_eq!(
        scene.press(KeyCode::Enter),
        [],
        "a key aimed at the list decides nothing"
    );
    scene.pass(GUARD);
    scene.press(KeyCode::Enter)
}

#[test]
fn marked_items_are_approved_one_by_one_after_one_question() {
    let mut scene = marked(&["a", "b", "c"], 2);
    let effects = confirm(&mut scene, 'a');
    assert_eq!(sent(&effects), [("a", "approve")]);
    let effects = scene.reply(status("a", "answered"));
    assert_eq!(sent(&effects), [("b", "approve")]);
    assert!(scene.state.is_sending());
    let effects = scene.reply(status("b", "answered"));
    assert_eq!(sent(&effects), []);
    assert!(!scene.state.is_sending());
    assert_eq!(scene.message(), "2 approved");
    assert_eq!(scene.state.marked_count(), 0);
}

#[test]
fn items_that_do_not_fit_are_left_out_with_the_reason() {
    let text = json!({"question": {"kind": "text"}});
    let mut scene = Scene::holding(vec![entry("a", &text), entry("b", &json!({}))]);
    scene.pass(GUARD);
    scene.key('X');
    scene.key('a');
    let Some(Overlay::Batch(dialog)) = &scene.state.overlay else {
        panic!("a confirmation, not {:?}", scene.state.overlay)
    };
    assert_eq!(dialog.included.len(), 1);
    assert!(
        dialog.left_out[0].1.contains("asks for something else"),
        "{:?}",
        dialog.left_out
    );
}

#[test]
fn an_item_that_another_person_answered_is_named_and_the_rest_goes_on() {
    let mut scene = marked(&["a", "b"], 2);
    confirm(&mut scene, 'a');
    scene.refused("a", "already_terminal", None, "already answered");
    let effects = scene.read(answered("a", "human:ann", "deny"), false);
    assert_eq!(sent(&effects), [("b", "approve")]);
    scene.reply(status("b", "answered"));
    assert!(scene.message().starts_with("1 approved; not "), "{}", scene.message());
}

#[test]
fn z_takes_the_whole_selection_back() {
    let mut scene = marked(&["a", "b"], 2);
    confirm(&mut scene, 'a');
    scene.reply(status("a", "open"));
    scene.reply(status("b", "open"));
    assert_eq!(scene.message(), "2 approved; z takes them back");
    let undo = |id: &str| Effect::Undo { id: id.to_owned() };
    let undone = |id: &str| InboxReply::Undone {
        id: id.to_owned(),
        done: Ok(()),
    };
    assert!(scene.key('z').contains(&undo("a")));
    assert!(scene.reply(undone("a")).contains(&undo("b")));
    scene.reply(undone("b"));
    assert_eq!(scene.message(), "2 of 2 taken back; nothing was sent");
}

#[test]
fn escape_clears_the_selection_before_anything_else() {
    let mut scene = marked(&["a", "b"], 2);
    scene.press(KeyCode::Esc);
    assert_eq!((scene.state.marked_count(), scene.state.tab), (0, Tab::Waiting));
    scene.key('a');
    assert!(scene.state.overlay.is_none(), "nothing is selected");
}
