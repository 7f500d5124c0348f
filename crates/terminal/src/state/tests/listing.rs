use std::time::Duration;

use crossterm::event::KeyCode;
use serde_json::json;

use super::scene::Scene;
use crate::feed::{FeedEvent, InboxChange};
use crate::inbox_entry::tests::entry;
use crate::state::{Effect, GUARD, HubLink, InboxReply, Listing, Overlay, SnoozeAction, Tab};

fn fresh(id: &str) -> Vec<Effect> {
    vec![Effect::Read {
        id: id.to_owned(),
        fresh: true,
    }]
}

#[test]
fn a_new_ask_goes_into_its_place_and_the_cursor_stays_on_its_item() {
    let mut scene = Scene::with(&["b", "c"]);
    scene.key('j');
    assert_eq!(scene.change(InboxChange::Opened("a".to_owned())), fresh("a"));
    assert_eq!(
        scene.read(entry("a", &json!({"priority": "urgent"})), true),
        [Effect::Ring]
    );
    assert_eq!(scene.shown(), ["a", "b", "c"]);
    assert_eq!(scene.cursor(), "c");
    assert_eq!(
        scene.read(entry("a", &json!({"priority": "urgent"})), true),
        [],
        "announced twice, shown once"
    );
}

#[test]
fn notices_never_mix_with_waiting_items() {
    let mut scene = Scene::with(&["a"]);
    scene.loaded(Listing::Notices, vec![]);
    scene.change(InboxChange::Noticed("n".to_owned()));
    scene.read(
        entry("n", &json!({"type": "notify", "status": "delivered", "question": null})),
        true,
    );
    assert_eq!(scene.shown(), ["a"]);
    scene.key('n');
    assert_eq!(scene.shown(), ["n"]);
}

#[test]
fn an_item_decided_elsewhere_leaves_the_list_with_a_message() {
    let mut scene = Scene::with(&["a", "b"]);
    scene.change(InboxChange::Resolved {
        id: "a".to_owned(),
        text: "answered Approve by human:ann".to_owned(),
    });
    assert_eq!(scene.shown(), ["b"]);
    assert_eq!(scene.message(), "Title of a: answered Approve by human:ann");
}

#[test]
fn an_item_that_moves_under_the_cursor_ignores_keys_for_a_moment() {
    let mut scene = Scene::with(&["a", "b"]);
    scene.change(InboxChange::Resolved {
        id: "a".to_owned(),
        text: String::new(),
    });
    assert_eq!(scene.cursor(), "b");
    scene.key('s');
    assert!(scene.state.overlay.is_none());
    scene.pass(GUARD);
    scene.key('s');
    assert!(matches!(&scene.state.overlay, Some(Overlay::Snooze { id, .. }) if id == "b"));
}

#[test]
fn snoozing_sets_a_time_and_decides_nothing() {
    let mut scene = Scene::with(&["a", "b"]);
    scene.key('s');
    scene.key('4');
    let away = SnoozeAction::Until("2026-06-05T09:00:00Z".parse().unwrap());
    let effect = Effect::Put {
        id: "a".to_owned(),
        away: away.clone(),
    };
    assert_eq!(scene.press(KeyCode::Enter), [effect]);
    scene.reply(InboxReply::Put {
        id: "a".to_owned(),
        away,
        done: Ok(()),
    });
    assert_eq!(scene.shown(), ["b"]);
    assert_eq!(scene.message(), "snoozed until 2026-06-05 09:00:00; u takes it back");
    assert_eq!(
        scene.key('u'),
        [Effect::Put {
            id: "a".to_owned(),
            away: SnoozeAction::Back
        }]
    );
    assert_eq!(
        scene.reply(InboxReply::Put {
            id: "a".to_owned(),
            away: SnoozeAction::Back,
            done: Ok(())
        }),
        fresh("a")
    );
    scene.read(entry("a", &json!({})), true);
    assert_eq!(scene.shown(), ["a", "b"]);
}

#[test]
fn the_first_snooze_time_is_preselected() {
    let mut scene = Scene::with(&["a"]);
    let until = |time: &str| SnoozeAction::Until(time.parse().unwrap());
    scene.key('s');
    let first = Effect::Put {
        id: "a".to_owned(),
        away: until("2026-06-04T15:15:05Z"),
    };
    assert_eq!(scene.press(KeyCode::Enter), [first]);
    let mut scene = Scene::with(&["a"]);
    scene.keys("s9kj");
    let second = Effect::Put {
        id: "a".to_owned(),
        away: until("2026-06-04T16:00:05Z"),
    };
    assert_eq!(scene.press(KeyCode::Enter), [second], "j and k move from there");
}

#[test]
fn notices_are_archived_one_key_each() {
    let mut scene = Scene::with(&[]);
    let notice = |id: &str| entry(id, &json!({"type": "notify", "status": "delivered", "question": null}));
    scene.loaded(Listing::Notices, vec![notice("c"), notice("b"), notice("a")]);
    scene.key('n');
    for id in ["c", "b"] {
        assert_eq!(
            scene.key('e'),
            [Effect::Put {
                id: id.to_owned(),
                away: SnoozeAction::Archived
            }]
        );
    }
    for id in ["c", "b"] {
        scene.reply(InboxReply::Put {
            id: id.to_owned(),
            away: SnoozeAction::Archived,
            done: Ok(()),
        });
    }
    assert_eq!((scene.shown(), scene.cursor()), (vec!["a"], "a"));
}

#[test]
fn an_ask_is_not_archived_and_not_decided_from_the_list() {
    let mut scene = Scene::with(&["a"]);
    for letter in ['e', 'a', 'r', '1'] {
        assert_eq!(scene.key(letter), [], "{letter}");
        assert!(!scene.message().is_empty());
    }
    assert!(scene.state.overlay.is_none());
}

#[test]
fn typing_narrows_the_list_and_enter_asks_the_hub() {
    let mut scene = Scene::holding(vec![
        entry("a", &json!({"title": "Ship it"})),
        entry("b", &json!({"body": "a leak"})),
    ]);
    scene.key('/');
    scene.keys("lea");
    assert_eq!(scene.shown(), ["b"]);
    scene.keys("k q");
    assert_eq!(scene.shown(), [] as [&str; 0]);
    let listing = Listing::Found("leak q".to_owned());
    let effects = scene.press(KeyCode::Enter);
    assert_eq!(
        effects,
        [Effect::Load {
            listing: listing.clone(),
            after: None,
            want: 100
        }]
    );
    assert_eq!(scene.state.tab, Tab::Found);
    scene.loaded(listing, vec![entry("old", &json!({"status": "answered"}))]);
    assert_eq!(scene.shown(), ["old"]);
    scene.press(KeyCode::Esc);
    assert_eq!((scene.state.tab, scene.shown()), (Tab::Waiting, vec!["a", "b"]));
}

#[test]
fn results_of_an_earlier_search_are_not_shown_for_a_later_one() {
    let mut scene = Scene::with(&[]);
    for word in ["one", "two"] {
        scene.key('/');
        scene.keys(word);
        scene.press(KeyCode::Enter);
    }
    let effects = scene.loaded(Listing::Found("one".to_owned()), vec![entry("1", &json!({}))]);
    assert_eq!(scene.shown(), [] as [&str; 0]);
    let again = Effect::Load {
        listing: Listing::Found("two".to_owned()),
        after: None,
        want: 100,
    };
    assert_eq!(effects, [again]);
}

#[test]
fn esc_leaves_a_search_and_shows_everything() {
    let mut scene = Scene::with(&["a", "b"]);
    scene.key('/');
    scene.keys("nothing");
    scene.press(KeyCode::Esc);
    assert_eq!(scene.shown(), ["a", "b"]);
}

#[test]
fn everything_is_reloaded_after_a_reconnect() {
    let mut scene = Scene::with(&["a"]);
    scene.loaded(Listing::Notices, vec![]);
    scene.feed(FeedEvent::Lost("the connection to the hub ended".to_owned()));
    assert!(matches!(scene.state.link, HubLink::Lost(_)));
    let load = |listing| Effect::Load {
        listing,
        after: None,
        want: 100,
    };
    assert_eq!(
        scene.feed(FeedEvent::Live),
        [load(Listing::Waiting), load(Listing::Notices), Effect::Presets]
    );
}

#[test]
fn events_during_a_load_cause_another_load() {
    let mut scene = Scene::with(&["a"]);
    scene.control('l');
    scene.change(InboxChange::Opened("b".to_owned()));
    scene.read(entry("b", &json!({})), true);
    let effects = scene.loaded(Listing::Waiting, vec![entry("a", &json!({}))]);
    assert_eq!(
        effects,
        [Effect::Load {
            listing: Listing::Waiting,
            after: None,
            want: 100
        }]
    );
}

#[test]
fn many_new_items_at_once_reload_the_list() {
    let mut scene = Scene::with(&[]);
    scene.loaded(Listing::Notices, vec![]);
    let reads: usize = (0..100)
        .map(|nth| scene.change(InboxChange::Opened(format!("m{nth}"))).len())
        .sum();
    assert_eq!(reads, 16);
    let again = Effect::Load {
        listing: Listing::Waiting,
        after: None,
        want: 100,
    };
    assert_eq!(scene.pass(Duration::from_secs(1)), [again]);
}

#[test]
fn the_list_is_reloaded_periodically() {
    let mut scene = Scene::with(&["a"]);
    scene.loaded(Listing::Notices, vec![]);
    assert_eq!(scene.pass(Duration::from_secs(59)), []);
    assert_eq!(scene.pass(Duration::from_secs(1)).len(), 1);
}

#[test]
fn more_is_read_when_the_cursor_comes_near_the_end() {
    let mut scene = Scene::with(&[]);
    let items = (0..100)
        .map(|nth| std::sync::Arc::new(entry(&format!("m{nth:03}"), &json!({}))))
        .collect();
    let page = crate::state::EntriesPage {
        items,
        next_cursor: Some("2.100".to_owned()),
        total: Some(214),
    };
    scene.reply(InboxReply::Loaded {
        listing: Listing::Waiting,
        appends: false,
        page: Ok(page),
    });
    assert_eq!(scene.key('j'), []);
    let more = Effect::Load {
        listing: Listing::Waiting,
        after: Some("2.100".to_owned()),
        want: 100,
    };
    assert_eq!(scene.key('G'), [more]);
    scene.read(entry("m500", &json!({})), true);
    assert_eq!(scene.shown().len(), 100, "an item beyond the end comes with its page");
}

#[test]
fn ctrl_c_always_quits() {
    let mut scene = Scene::with(&["a"]);
    assert_eq!(scene.control('c'), [Effect::Quit]);
    scene.key('/');
    assert_eq!(scene.control('c'), [Effect::Quit]);
    assert_eq!(Scene::with(&[]).key('q'), [Effect::Quit]);
}

#[test]
fn a_capital_o_opens_the_item_in_the_browser() {
    let mut scene = Scene::with(&["a", "b"]);
    let browse = |id: &str| Effect::Browse { id: id.to_owned() };
    assert_eq!(scene.key('O'), [browse("a")]);
    scene.open();
    assert_eq!(scene.key('O'), [browse("a")]);
    assert_eq!(Scene::with(&[]).key('O'), []);
    scene.reply(InboxReply::Browsed("no browser here; the page is x".to_owned()));
    assert_eq!(scene.message(), "no browser here; the page is x");
}
