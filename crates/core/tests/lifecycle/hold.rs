//! Decisions on hold: they have won, and can be taken back.

use countersign_core::hold::{Hold, MAX_UNDO_SECONDS, at_release, check_take_back};
use countersign_core::{Actor, Command, Message, Outcome, Rejection, Resolution, Verdict};
use countersign_protocol::time::Timestamp;
use serde_json::json;

use crate::scene::*;

/// The ask with an answer of alice on hold.
fn held() -> (Message, Resolution) {
    let resolution = decided(&ask(), answer("approve"), EXPIRES_AT).expect("in time");
    let hold = Hold::of(&resolution, 4, None);
    (Message { hold, ..ask() }, resolution)
}

fn hold_of_alice() -> Rejection {
    Rejection::Held {
        by: alice(),
        until: Timestamp::from_millis(14_000),
    }
}

#[test]
fn a_hold_begins_with_the_decision_and_is_bounded() {
    let (message, resolution) = held();
    let until = Timestamp::from_millis(14_000);
    assert_eq!(message.hold, Some(Hold { by: alice(), until }));
    assert_eq!(Hold::of(&resolution, 0, None), None, "no undo time");
    let longest = Hold::of(&resolution, u32::MAX, None).expect("a hold");
    let seconds = i64::from(MAX_UNDO_SECONDS);
    assert_eq!(longest.until.as_millis(), EXPIRES_AT.as_millis() + seconds * 1000);
}

#[test]
fn a_hold_ends_with_the_expiry() {
    let (_, resolution) = held();
    let until = |expires_at| Hold::of(&resolution, 4, Some(expires_at)).map(|hold| hold.until);
    let soon = Timestamp::from_millis(EXPIRES_AT.as_millis() + 1);
    assert_eq!(until(soon), Some(soon));
    assert_eq!(
        until(Timestamp::from_millis(20_000)),
        Some(Timestamp::from_millis(14_000))
    );
    assert_eq!(until(EXPIRES_AT), None, "decided in the last moment");
}

#[test]
fn an_expiry_is_never_on_hold() {
    let expired = decided(&ask(), answer("approve"), LATE).expect("the expiry happens");
    assert_eq!(Hold::of(&expired, 4, None), None);
}

#[test]
fn every_other_command_is_refused_during_a_hold() {
    let (message, _) = held();
    let commands = [
        answer("deny"),
        decline(),
        Command::Cancel,
        Command::Supersede { by: message_id() },
        Command::Expire,
    ];
    for command in commands {
        assert_eq!(decided(&message, command, LATE), Err(hold_of_alice()));
    }
    assert_eq!(hold_of_alice().to_string(), "alice is answering this");
}

#[test]
fn a_hold_hides_no_other_reason_for_a_refusal() {
    let (message, _) = held();
    let stranger = by(Actor::human("bob"), Verdict::Declined);
    let refused = decided(&message, stranger, EARLY);
    assert_eq!(refused, Err(Rejection::NotAuthorized("human:bob".to_owned())));
    assert_eq!(fault(decided(&message, answer("maybe"), EARLY)), "value");
}

#[test]
fn a_released_answer_wins_over_the_expiry_and_counts_from_then_on() {
    let (_, resolution) = held();
    let end = Timestamp::from_millis(14_001);
    let released = at_release(resolution.clone(), end);
    assert_eq!(released.outcome, Outcome::Answered);
    assert_eq!(released.value, Some(json!("approve")));
    assert_eq!((&released.id, &released.actor), (&resolution.id, &alice()));
    assert_eq!(released.resolved_at, end);
    let back = at_release(resolution, EARLY);
    assert_eq!(
        back.resolved_at, EXPIRES_AT,
        "a clock set back does not move it before its decision"
    );
}

#[test]
fn only_its_author_takes_a_decision_back() {
    let (message, _) = held();
    assert_eq!(check_take_back(&message, &alice()), Ok(()));
    assert_eq!(check_take_back(&message, &Actor::human("bob")), Err(hold_of_alice()));
    assert_eq!(check_take_back(&ask(), &alice()), Err(Rejection::NotHeld));
    let sent = resolved(&ask(), answer("approve"), EARLY);
    let refused = check_take_back(&sent, &alice());
    assert!(matches!(refused, Err(Rejection::AlreadyTerminal { .. })), "{refused:?}");
}

#[test]
fn commands_of_agents_are_told_apart() {
    let from_agent = [
        Command::Cancel,
        Command::Supersede { by: message_id() },
        by(builder(), Verdict::Declined),
    ];
    assert!(from_agent.iter().all(Command::is_by_agent));
    assert!(![decline(), Command::Expire].iter().any(Command::is_by_agent));
}
