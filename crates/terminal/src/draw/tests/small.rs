//! Screens too small for everything.

use crossterm::event::KeyCode;
use serde_json::json;

use super::picture;
use crate::feed::FeedEvent;
use crate::inbox_entry::tests::entry;
use crate::state::Scene;

fn small(scene: &mut Scene) -> String {
    picture(&mut scene.state, 40, 12).join("\n")
}

#[test]
fn a_field_is_visible_with_all_its_choices() {
    let text = || json!({"type": "string"});
    let choices = json!({"enum": ["north", "south", "west"], "description": "where it goes"});
    let schema = json!({"properties": {"a": text(), "b": text(), "region": choices, "z": text()}});
    let mut scene = Scene::holding(vec![entry(
        "a",
        &json!({"question": {"kind": "form", "schema": schema}}),
    )]);
    scene.open();
    scene.keys("jj");
    let shown = picture(&mut scene.state, 80, 13).join("\n");
    for expected in ["▌ region", "where it goes", "( ) north", "( ) west"] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
}

#[test]
fn a_pick_is_visible_even_where_its_field_does_not_fit() {
    let schema = json!({"properties": {"region": {"enum": ["1", "2", "3", "4", "5", "6", "7", "8", "nine"]}}});
    let mut scene = Scene::holding(vec![entry(
        "a",
        &json!({"question": {"kind": "form", "schema": schema}}),
    )]);
    scene.open();
    scene.press(KeyCode::Enter);
    scene.key('9');
    let shown = small(&mut scene);
    assert!(shown.contains("(•) nine") && shown.contains('↑'), "{shown}");
}

#[test]
fn an_option_is_visible_with_its_description() {
    let option = |value: &str| json!({"value": value, "label": value, "description": format!("about {value}")});
    let options: Vec<_> = ["a", "b", "c", "d"].into_iter().map(option).collect();
    let question = json!({"kind": "select", "options": options, "many": true});
    let mut scene = Scene::holding(vec![entry("a", &json!({ "question": question }))]);
    scene.open();
    scene.key('3');
    let shown = small(&mut scene);
    assert!(shown.contains("▌ 3. [x] c") && shown.contains("about c"), "{shown}");
}

#[test]
fn a_page_down_leaves_no_line_out() {
    let body: String = (1..=30).map(|line| format!("line {line}.\n")).collect();
    let mut scene = Scene::holding(vec![entry("a", &json!({ "body": body }))]);
    scene.open();
    let mut all = small(&mut scene);
    assert!(all.contains('↓') && all.contains("PgUp PgDn ─"), "{all}");
    for _ in 0..6 {
        scene.press(KeyCode::PageDown);
        all += &small(&mut scene);
    }
    for line in 1..=30 {
        assert!(all.contains(&format!("line {line}.")), "line {line}: {all}");
    }
    scene.press(KeyCode::Home);
    assert!(small(&mut scene).contains("Title of a"));
    scene.press(KeyCode::End);
    let end = small(&mut scene);
    assert!(end.contains("run r (cli)") && !end.contains('↓'), "{end}");
}

#[test]
fn the_help_scrolls_and_any_other_key_closes_it() {
    let mut scene = Scene::with(&["a"]);
    scene.key('?');
    assert!(!small(&mut scene).contains("Ctrl-C"));
    for _ in 0..50 {
        scene.key('j');
    }
    let end = small(&mut scene);
    assert!(
        end.contains("Ctrl-C") && end.contains('↑') && !end.contains('↓'),
        "{end}"
    );
    scene.press(KeyCode::PageUp);
    assert!(
        !small(&mut scene).contains("Ctrl-C"),
        "scrolling ends where the help does"
    );
    scene.key('x');
    assert!(!small(&mut scene).contains("Keys"));
}

#[test]
fn the_connection_and_the_active_tab_are_shown_at_any_width() {
    let mut scene = Scene::with(&["a"]);
    let head = |scene: &mut Scene, width| picture(&mut scene.state, width, 12).remove(0);
    assert_eq!(head(&mut scene, 42), " Waiting 1  Notices 0  Snoozed  History  •");
    assert_eq!(head(&mut scene, 30), " Waiting 1  N  S  H      live");
    scene.feed(FeedEvent::Lost("gone".to_owned()));
    assert!(head(&mut scene, 42).ends_with('!'));
    scene.press(KeyCode::BackTab);
    assert!(head(&mut scene, 30).starts_with(" W  N  S  History  "));
}
