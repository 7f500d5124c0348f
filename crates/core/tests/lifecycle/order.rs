//! The order of checks: a command with several faults always reports the same one first. Kind, permission, verb, value,
//! still open, in time.

use countersign_core::question::Ask;
use countersign_core::{Actor, Command, Payload, Rejection, Verdict};
use serde_json::json;

use crate::scene::*;

fn mallory() -> Actor {
    Actor::human("mallory")
}

fn nonsense(actor: Actor) -> Command {
    by(actor, Verdict::Answered(json!("perhaps")))
}

#[test]
fn the_kind_is_checked_before_the_caller() {
    let refused = decided(&notify(), by(mallory(), Verdict::Declined), EARLY);
    assert!(matches!(refused, Err(Rejection::NotApplicable(_))));
}

#[test]
fn the_caller_is_checked_before_verb_and_value() {
    for command in [by(mallory(), Verdict::Completed(None)), nonsense(mallory())] {
        assert_eq!(
            decided(&ask(), command, EARLY),
            Err(Rejection::NotAuthorized("human:mallory".to_owned()))
        );
    }
}

#[test]
fn a_disallowed_verb_is_checked_before_the_value() {
    let mute = message(Payload::Ask(Ask {
        may_respond: false,
        ..confirm()
    }));
    assert_eq!(fault(decided(&mute, nonsense(alice()), EARLY)), "resolution");
}

#[test]
fn an_unauthorized_actor_learns_nothing_from_a_resolved_message() {
    let over = resolved(&ask(), answer("approve"), EARLY);
    for now in [EARLY, LATE] {
        let refused = decided(&over, by(mallory(), Verdict::Declined), now);
        assert_eq!(refused, Err(Rejection::NotAuthorized("human:mallory".to_owned())));
    }
}

#[test]
fn verb_and_value_are_checked_before_the_existing_outcome() {
    let over = resolved(&ask(), decline(), EARLY);
    assert_eq!(fault(decided(&over, complete(), EARLY)), "resolution");
    assert_eq!(fault(decided(&over, nonsense(alice()), EARLY)), "value");
    let done = resolved(&task(), complete(), EARLY);
    assert!(matches!(
        decided(&done, Command::Cancel, EARLY),
        Err(Rejection::NotApplicable(_))
    ));
}

#[test]
fn an_invalid_command_does_not_expire_an_overdue_message() {
    assert_eq!(fault(decided(&ask(), nonsense(alice()), LATE)), "value");
    assert_eq!(fault(decided(&ask(), dismiss(), LATE)), "resolution");
    assert!(matches!(
        decided(&ask(), by(mallory(), Verdict::Declined), LATE),
        Err(Rejection::NotAuthorized(_))
    ));
}

#[test]
fn the_existing_outcome_is_checked_before_the_expiry() {
    let over = resolved(&ask(), answer("approve"), EARLY);
    for now in [EARLY, LATE] {
        for command in [Command::Expire, Command::Cancel, decline()] {
            assert!(matches!(
                decided(&over, command, now),
                Err(Rejection::AlreadyTerminal { .. })
            ));
        }
    }
}
