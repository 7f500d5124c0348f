//! The drawn screen in common sizes.

mod small;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use serde_json::json;

use super::{Theme, draw};
use crate::feed::{FeedEvent, InboxChange};
use crate::inbox_entry::tests::{answered, entry};
use crate::state::{GUARD, InboxReply, InboxState, Listing, Scene};

fn picture(state: &mut InboxState, width: u16, height: u16) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, state, Theme::new(true))).unwrap();
    let buffer = terminal.backend().buffer();
    let row = |y: u16| {
        (0..width)
            .map(|x| buffer[(x, y)].symbol())
            .collect::<String>()
            .trim_end()
            .to_owned()
    };
    (0..height).map(row).collect()
}

fn text(state: &mut InboxState) -> String {
    picture(state, 80, 24).join("\n")
}

#[test]
fn the_list_shows_asker_question_and_expiry() {
    let urgent = json!({
        "title": "Ship 1.7 to production?", "priority": "urgent", "expires_at": "2026-06-04T15:59:05.000Z",
        "default_on_expire": "deny", "agent": {"id": "deploybot", "run_id": "r", "runtime": "cli", "project": "site"},
    });
    let mut scene = Scene::holding(vec![entry("a", &urgent), entry("b", &json!({}))]);
    let expected = [
        " Countersign  Waiting 2  Notices 0  Snoozed  History                       live",
        "▌!! Ship 1.7 to production?                                                  5s",
        "▌   deploybot · site · confirm · expires in 59m, then answers \"deny\"",
        "    Title of b                                                               5s",
        "    bot · confirm",
        "",
        " ? help  Enter open  x select  s snooze  / search  n notices  Tab lists  q quit",
    ];
    assert_eq!(picture(&mut scene.state, 80, 7), expected);
}

#[test]
fn an_empty_inbox_and_a_lost_connection_are_shown() {
    let mut scene = Scene::with(&[]);
    assert!(text(&mut scene.state).contains("Nothing waits for you."));
    scene.feed(FeedEvent::Lost("the connection to the hub ended".to_owned()));
    let picture = text(&mut scene.state);
    assert!(
        picture.contains("reconnecting: the connection to the hub ended"),
        "{picture}"
    );
}

#[test]
fn an_item_shows_the_text_and_below_it_the_choices() {
    let mut scene = Scene::holding(vec![entry("a", &json!({"body": "All checks are green.\nReally."}))]);
    scene.open();
    scene.key('2');
    let expected = [
        "  Waiting 1  Notices 0  Snoozed  History               live",
        " Title of a",
        " from bot",
        " confirm, asked 15:00:00, 5s ago",
        "",
        " │ All checks are green.",
        " │ Really.",
        "",
        " run r (cli)",
        " ── Your answer ───────────────────────────────────────────",
        "   1. Approve   [a]",
        " ▌ 2. Deny   [r]",
        "",
        "",
        " ? help  1-9 pick  Enter send  a approve  r deny  c commen…",
    ];
    let picture = picture(&mut scene.state, 60, 15);
    assert_eq!(picture[1..], expected[1..]);
}

#[test]
fn a_wide_screen_has_both_side_by_side() {
    let mut scene = Scene::holding(vec![entry("a", &json!({"body": "All green."}))]);
    scene.open();
    let picture = picture(&mut scene.state, 120, 12);
    assert!(
        picture[1].contains("Title of a") && picture[1].contains("── Your answer"),
        "{picture:#?}"
    );
    assert!(picture[2].contains("1. Approve   [a]"), "{picture:#?}");
}

#[test]
fn long_content_scrolls_and_the_choices_stay() {
    let body: String = (1..=60).map(|line| format!("line {line}\n")).collect();
    let mut scene = Scene::holding(vec![entry("a", &json!({ "body": body }))]);
    scene.open();
    let before = text(&mut scene.state);
    assert!(before.contains("line 1\n") && before.contains("1. Approve"), "{before}");
    for _ in 0..20 {
        scene.control('d');
    }
    let after = text(&mut scene.state);
    assert!(after.contains("line 60") && after.contains("1. Approve"), "{after}");
    scene.control('u');
    assert!(
        !text(&mut scene.state).contains("line 60"),
        "scrolling ends where the text does"
    );
}

#[test]
fn a_long_form_keeps_the_field_in_sight() {
    let properties: serde_json::Map<String, serde_json::Value> = (0..40)
        .map(|nth| (format!("field{nth:02}"), json!({"type": "string"})))
        .collect();
    let question = json!({"kind": "form", "schema": {"properties": properties}});
    let mut scene = Scene::holding(vec![entry("a", &json!({ "question": question }))]);
    scene.open();
    for _ in 0..30 {
        scene.key('j');
    }
    for (width, height) in [(80, 24), (60, 20), (120, 30)] {
        let picture = picture(&mut scene.state, width, height).join("\n");
        assert!(picture.contains("▌ field30"), "{picture}");
    }
}

#[test]
fn a_late_answer_is_shown_beside_the_earlier_decision() {
    let mut scene = Scene::holding(vec![entry("a", &json!({"question": {"kind": "text"}}))]);
    scene.open();
    scene.press(crossterm::event::KeyCode::Enter);
    scene.keys("my answer");
    scene.press(crossterm::event::KeyCode::Enter);
    let sending = text(&mut scene.state);
    assert!(
        sending.contains("Sending…") && !sending.contains("Outcome"),
        "{sending}"
    );
    scene.refused("a", "already_terminal", None, "already answered");
    scene.read(answered("a", "human:ann", "yes"), false);
    let picture = text(&mut scene.state);
    for expected in [
        "Already answered.",
        "answered yes by ann at 15:00:09",
        "waiting for the agent",
        "> my answer",
    ] {
        assert!(picture.contains(expected), "{expected}: {picture}");
    }
}

#[test]
fn an_outcome_has_the_sign_of_its_tone() {
    for (value, sign) in [("approve", "✓ approved by ann"), ("deny", "✗ denied by ann")] {
        let mut scene = Scene::with(&["a"]);
        scene.open();
        scene.read(answered("a", "human:ann", value), true);
        let picture = text(&mut scene.state);
        assert!(picture.contains(sign), "{sign}: {picture}");
    }
}

#[test]
fn a_task_has_the_words_of_the_vocabulary_and_asks_about_open_steps() {
    let action = json!({"instructions": "do", "checklist": [{"text": "one"}, {"text": "two", "done": true}]});
    let mut scene = Scene::holding(vec![entry(
        "a",
        &json!({"type": "task", "question": null, "action": action}),
    )]);
    scene.open();
    let picture = text(&mut scene.state);
    assert!(
        picture.contains("  Done   [a]\n") && picture.contains("Can't do   [r"),
        "{picture}"
    );
    scene.key('a');
    let picture = text(&mut scene.state);
    assert!(picture.contains("1 of 2 steps is open. Send Done anyway?"), "{picture}");
}

#[test]
fn a_secret_shows_as_dots_even_after_a_lost_race() {
    let schema = json!({"properties": {"pin": {"type": "string", "x-a2h-sensitive": true}}});
    let mut scene = Scene::holding(vec![entry(
        "a",
        &json!({"question": {"kind": "form", "schema": schema}}),
    )]);
    scene.open();
    scene.press(crossterm::event::KeyCode::Enter);
    scene.keys("4711");
    assert!(text(&mut scene.state).contains("> ••••"));
    scene.change(InboxChange::Resolved {
        id: "a".to_owned(),
        text: String::new(),
    });
    scene.read(answered("a", "human:ann", "x"), false);
    let picture = text(&mut scene.state);
    assert!(picture.contains("pin: ••••") && !picture.contains("4711"), "{picture}");
}

#[test]
fn overlays_fit_the_smallest_screen() {
    let mut scene = Scene::with(&["a"]);
    scene.open();
    for (key, text) in [
        ('?', "deny, skip or can't do"),
        ('r', "something else"),
        ('s', "tomorrow at 9"),
        ('c', "Comment"),
    ] {
        scene.key(key);
        for (width, height) in [(60, 20), (80, 24), (30, 8), (8, 3), (1, 1)] {
            let picture = picture(&mut scene.state, width, height).join("\n");
            assert!(width < 60 || picture.contains(text), "{picture}");
        }
        scene.press(crossterm::event::KeyCode::Esc);
    }
}

#[test]
fn the_snooze_dialog_always_has_a_selected_time() {
    let mut scene = Scene::with(&["a"]);
    scene.key('s');
    assert!(text(&mut scene.state).contains("▌ 1. 15 minutes"));
    scene.key('3');
    assert!(text(&mut scene.state).contains("▌ 3. 4 hours"));
}

#[test]
fn the_reason_dialog_names_the_outcome() {
    let free_text = json!([{"value": "ship", "label": "Ship"}, {"value": "hold", "label": "Hold"}]);
    let task = json!({"type": "task", "question": null, "action": {"instructions": "do"}});
    for (item, keys, title) in [
        (json!({}), "r deny", "Deny: the agent gets the reason"),
        (
            json!({"question": {"kind": "confirm", "options": free_text}}),
            "r skip",
            "Skip: the agent gets",
        ),
        (task, "r can't do", "Can't do: the agent gets"),
    ] {
        let mut scene = Scene::holding(vec![entry("a", &item)]);
        scene.open();
        let before = text(&mut scene.state);
        assert!(before.contains(keys), "{before}");
        scene.key('r');
        let picture = text(&mut scene.state);
        assert!(picture.contains(title), "{picture}");
    }
}

#[test]
fn the_selected_reason_stays_visible_in_a_long_list() {
    let mut scene = Scene::with(&["a"]);
    scene.open();
    let long = |nth: usize| format!("\u{1b}[2J reason {nth} {}", "and so on ".repeat(18));
    scene.reply(InboxReply::Presets(Ok((1..=20).map(long).collect())));
    scene.key('r');
    for nth in 1..=20 {
        scene.key('j');
        let picture = text(&mut scene.state);
        assert!(
            picture.contains(&format!("▌ {nth}. \\u{{1b}}[2J reason {nth} ")),
            "{picture}"
        );
    }
    scene.key('j');
    assert!(text(&mut scene.state).contains("something else"));
}

#[test]
fn agents_cannot_draw_control_characters() {
    let evil = "\u{1b}[2J\u{202e}\u{200b}\r\u{9b}31m\u{7}";
    let item =
        json!({"title": evil, "body": evil, "tags": [evil], "agent": {"id": evil, "run_id": evil, "runtime": evil}});
    let mut scene = Scene::holding(vec![entry("a", &item)]);
    let mut shown = text(&mut scene.state);
    scene.open();
    scene.pass(GUARD);
    shown += &text(&mut scene.state);
    scene.change(InboxChange::Resolved {
        id: "a".to_owned(),
        text: evil.to_owned(),
    });
    scene.loaded(Listing::Waiting, vec![]);
    shown += &text(&mut scene.state);
    let raw = |letter: char| (letter.is_control() && letter != '\n') || matches!(letter, '\u{202e}' | '\u{200b}');
    assert!(!shown.contains(raw), "{shown:?}");
    assert!(shown.contains("\\u{1b}[2J"));
}
