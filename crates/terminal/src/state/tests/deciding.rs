use std::time::Duration;

use countersign_client::hub::ClientError;
use crossterm::event::KeyCode;
use serde_json::{Value, json};

use super::scene::Scene;
use crate::inbox_entry::tests::{answered, entry};
use crate::state::{Effect, GUARD, InboxReply, ItemEnding, Overlay};

fn opened(extra: &Value) -> Scene {
    let mut scene = Scene::holding(vec![entry("a", extra), entry("b", &json!({}))]);
    scene.open();
    scene
}

#[test]
fn a_new_item_ignores_deciding_keys_for_half_a_second() {
    let mut scene = Scene::with(&["a"]);
    assert_eq!(
        scene.press(KeyCode::Enter),
        [Effect::Read {
            id: "a".to_owned(),
            fresh: false
        }]
    );
    scene.pass(GUARD - Duration::from_millis(1));
    for code in [
        KeyCode::Char('a'),
        KeyCode::Char('1'),
        KeyCode::Enter,
        KeyCode::Char('r'),
        KeyCode::Char('s'),
    ] {
        assert_eq!(scene.press(code), [], "{code:?}");
        assert!(scene.state.overlay.is_none());
    }
    scene.pass(Duration::from_millis(1));
    assert_eq!(
        Scene::sent(scene.key('a')),
        json!({"resolution": "answered", "value": "approve"})
    );
}

#[test]
fn the_next_item_ignores_keys_again() {
    let mut scene = opened(&json!({}));
    scene.key('l');
    assert_eq!(
        scene.state.open.as_ref().map(|open| open.id().to_owned()).as_deref(),
        Some("b")
    );
    assert_eq!(scene.key('a'), []);
}

#[test]
fn a_number_and_enter_answer_a_confirm() {
    let mut scene = opened(&json!({}));
    assert_eq!(scene.press(KeyCode::Enter), []);
    assert!(scene.message().contains("pick one"));
    scene.key('2');
    assert_eq!(
        Scene::sent(scene.press(KeyCode::Enter)),
        json!({"resolution": "answered", "value": "deny"})
    );
}

#[test]
fn a_no_comes_with_its_reason() {
    let mut scene = opened(&json!({}));
    scene.key('r');
    scene.press(KeyCode::Enter);
    assert!(scene.message().contains("pick a reason"));
    scene.key('2');
    let body = json!({"resolution": "answered", "value": "deny", "comment": "I need to know more first"});
    assert_eq!(Scene::sent(scene.press(KeyCode::Enter)), body);
}

#[test]
fn the_reasons_of_the_hub_are_offered_and_stay_while_one_is_picked() {
    let mut scene = opened(&json!({}));
    scene.reply(InboxReply::Presets(Ok(vec!["Not on a Friday".to_owned()])));
    scene.key('r');
    scene.key('1');
    scene.reply(InboxReply::Presets(Ok(vec!["Something else".to_owned()])));
    let body = json!({"resolution": "answered", "value": "deny", "comment": "Not on a Friday"});
    assert_eq!(Scene::sent(scene.press(KeyCode::Enter)), body);
}

#[test]
fn without_presets_the_reason_is_free_text() {
    let mut scene = opened(&json!({}));
    scene.reply(InboxReply::Presets(Ok(Vec::new())));
    scene.key('r');
    scene.keys("1too late");
    assert_eq!(Scene::sent(scene.press(KeyCode::Enter))["comment"], "too late");
}

#[test]
fn presets_stay_when_reading_them_again_fails() {
    let mut scene = opened(&json!({}));
    scene.reply(InboxReply::Presets(Err(ClientError::Unreachable(
        "the hub is away".to_owned(),
    ))));
    assert!(scene.message().contains("away"));
    scene.key('r');
    scene.key('1');
    assert_eq!(Scene::sent(scene.press(KeyCode::Enter))["comment"], "Too risky");
}

#[test]
fn a_free_text_reason_and_a_comment_are_joined() {
    let options = json!([{"value": "x", "label": "X"}]);
    let mut scene = opened(&json!({"question": {"kind": "select", "options": options}}));
    scene.key('c');
    scene.keys("see ticket 7");
    scene.press(KeyCode::Enter);
    scene.key('r');
    scene.keys("6not on a Friday");
    let body = json!({"resolution": "declined", "comment": "not on a Friday\n\nsee ticket 7"});
    assert_eq!(Scene::sent(scene.press(KeyCode::Enter)), body);
}

#[test]
fn custom_option_values_are_neither_yes_nor_no() {
    let options = json!([{"value": "hold", "label": "No"}, {"value": "ship", "label": "Yes"}]);
    let mut scene = opened(&json!({"question": {"kind": "confirm", "options": options}}));
    assert_eq!(scene.key('a'), []);
    assert!(scene.message().contains("plain yes"));
    scene.keys("r1");
    assert_eq!(Scene::sent(scene.press(KeyCode::Enter))["resolution"], "declined");
}

#[test]
fn a_refusal_is_not_offered_where_the_asker_forbids_it() {
    let options = json!([{"value": "x", "label": "X"}]);
    let question = json!({"kind": "select", "options": options});
    let mut scene = opened(&json!({"question": question, "permissions": {"respond": true, "ignore": false}}));
    scene.key('r');
    assert!(scene.state.overlay.is_none() && scene.message().contains("no refusal"));
}

#[test]
fn a_text_is_typed_and_sent() {
    let mut scene = opened(&json!({"question": {"kind": "text"}}));
    scene.press(KeyCode::Enter);
    scene.keys("q? a");
    scene.put(crate::state::InboxInput::Paste("\nand more".to_owned()));
    let body = json!({"resolution": "answered", "value": "q? a\nand more"});
    assert_eq!(Scene::sent(scene.press(KeyCode::Enter)), body);
}

#[test]
fn ticked_options_are_sent() {
    let options = json!([{"value": "x", "label": "X"}, {"value": "y", "label": "Y"}, {"value": "z", "label": "Z"}]);
    let mut scene = opened(&json!({"question": {"kind": "select", "options": options, "many": true}}));
    scene.keys("13");
    assert_eq!(
        Scene::sent(scene.press(KeyCode::Enter)),
        json!({"resolution": "answered", "value": ["x", "z"]})
    );
}

#[test]
fn a_form_is_filled_in_and_its_faults_stay_beside_the_fields() {
    let schema = json!({"properties": {"reason": {"type": "string"}}, "required": ["reason"]});
    let mut scene = opened(&json!({"question": {"kind": "form", "schema": schema}}));
    scene.press(KeyCode::Enter);
    scene.keys("why not");
    scene.press(KeyCode::Tab);
    let body = json!({"resolution": "answered", "value": {"reason": "why not"}});
    assert_eq!(Scene::sent(scene.press(KeyCode::Enter)), body);
    scene.refused(
        "a",
        "invalid_field",
        Some("value.reason"),
        "value.reason: write at least 9 characters",
    );
    let open = scene.state.open.as_ref().unwrap();
    assert!(open.takes_answers() && open.refusal.is_none());
    let crate::answer::Editor::Form(form) = &open.editor else {
        panic!("a form")
    };
    assert_eq!(form.entries()[0].faults, ["write at least 9 characters"]);
    assert_eq!(form.entries()[0].typing().text(), "why not");
}

#[test]
fn a_task_is_ticked_and_completed() {
    let action = json!({"instructions": "do", "checklist": [{"text": "one"}, {"text": "two"}]});
    let mut scene = opened(&json!({"type": "task", "question": null, "action": action}));
    scene.keys("1");
    let steps = json!([{"text": "one", "done": true}, {"text": "two", "done": false}]);
    assert_eq!(scene.key('a'), []);
    assert!(matches!(scene.state.overlay, Some(Overlay::OpenSteps)));
    assert_eq!(scene.key('a'), [], "the same key does not confirm");
    assert_eq!(
        Scene::sent(scene.key('y')),
        json!({"resolution": "completed", "checklist": steps})
    );
}

#[test]
fn a_task_with_open_steps_is_sent_only_after_a_second_key() {
    let action = json!({"instructions": "do", "checklist": [{"text": "one"}, {"text": "two"}]});
    let mut scene = opened(&json!({"type": "task", "question": null, "action": action}));
    for code in [
        KeyCode::Char('j'),
        KeyCode::Down,
        KeyCode::Down,
        KeyCode::Enter,
        KeyCode::Enter,
    ] {
        assert_eq!(scene.press(code), []);
    }
    assert!(matches!(scene.state.overlay, Some(Overlay::OpenSteps)));
    scene.press(KeyCode::Esc);
    assert!(scene.state.overlay.is_none());
    scene.keys("12");
    assert_eq!(
        Scene::sent(scene.key('a'))["resolution"],
        "completed",
        "all steps are done"
    );
}

#[test]
fn an_open_question_about_steps_closes_when_another_person_ends_the_task() {
    let action = json!({"instructions": "do", "checklist": [{"text": "one"}]});
    let mut scene = opened(&json!({"type": "task", "question": null, "action": action}));
    scene.key('a');
    scene.read(answered("a", "human:ann", "approve"), true);
    assert!(scene.state.overlay.is_none());
}

#[test]
fn a_task_is_dismissed_with_a_reason() {
    let mut scene = opened(&json!({"type": "task", "question": null, "action": {"instructions": "do"}}));
    scene.key('r');
    scene.key('4');
    let body = json!({"resolution": "dismissed", "comment": "No longer needed"});
    assert_eq!(Scene::sent(scene.press(KeyCode::Enter)), body);
}

#[test]
fn an_item_is_undecided_until_the_hub_confirms() {
    let mut scene = opened(&json!({}));
    scene.key('a');
    let open = scene.state.open.as_ref().unwrap();
    assert!(open.sending && open.ending == ItemEnding::None);
    assert_eq!(scene.key('a'), [], "it is sent once");
    assert_eq!(scene.shown(), ["a", "b"]);
    assert_eq!(
        scene.taken("a"),
        [Effect::Read {
            id: "a".to_owned(),
            fresh: false
        }]
    );
    assert_eq!(scene.state.open.as_ref().unwrap().ending, ItemEnding::Mine);
    assert_eq!(scene.shown(), ["b"]);
    scene.press(KeyCode::Enter);
    assert_eq!(
        scene.state.open.as_ref().unwrap().id(),
        "b",
        "Enter goes on to the next one"
    );
}

#[test]
fn after_the_last_one_comes_the_list() {
    let mut scene = Scene::with(&["a"]);
    scene.open();
    scene.key('a');
    scene.taken("a");
    scene.press(KeyCode::Enter);
    assert!(scene.state.open.is_none());
}

#[test]
fn an_answer_without_a_reply_has_an_unclear_ending() {
    let mut scene = opened(&json!({}));
    scene.key('a');
    let lost = countersign_client::hub::ClientError::Unreachable("the hub cannot be reached".to_owned());
    scene.reply(InboxReply::Resolved {
        id: "a".to_owned(),
        status: Err(lost),
    });
    let open = scene.state.open.as_ref().unwrap();
    assert!(open.takes_answers() && open.refusal.as_ref().unwrap().contains("not known whether"));
    scene.read(answered("a", "human:owner", "approve"), false);
    assert_eq!(scene.state.open.as_ref().unwrap().ending, ItemEnding::Unclear);
}

#[test]
fn an_item_for_other_people_takes_no_deciding_keys() {
    let mut scene = opened(&json!({"can_answer": false}));
    for letter in ['a', '1', 'r', 'c'] {
        assert_eq!(scene.key(letter), []);
        assert!(scene.state.overlay.is_none());
    }
}

#[test]
fn a_draft_is_kept_when_leaving_the_item() {
    let mut scene = opened(&json!({"question": {"kind": "text"}}));
    scene.press(KeyCode::Enter);
    scene.keys("half a");
    scene.press(KeyCode::Esc);
    assert_eq!(scene.key('q'), [], "quitting would lose it");
    assert!(scene.message().contains("not sent"));
    scene.press(KeyCode::Esc);
    assert!(scene.state.open.is_none());
    scene.open();
    scene.press(KeyCode::Enter);
    scene.keys("n answer");
    assert_eq!(Scene::sent(scene.press(KeyCode::Enter))["value"], "half an answer");
}

#[test]
fn help_closes_with_any_key_and_decides_nothing() {
    let mut scene = opened(&json!({}));
    scene.key('?');
    assert!(matches!(scene.state.overlay, Some(Overlay::Help { .. })));
    assert_eq!(scene.key('a'), []);
    assert!(scene.state.overlay.is_none());
}
