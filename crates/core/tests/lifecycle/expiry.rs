//! Expiry, and its races with answers and cancels.

use countersign_core::question::Ask;
use countersign_core::{Actor, Command, Message, Outcome, Payload, Rejection, Resolution};
use countersign_protocol::time::Timestamp;
use serde_json::json;

use crate::scene::*;

fn without_default() -> Message {
    message(Payload::Ask(Ask {
        default_on_expire: None,
        ..confirm()
    }))
}

fn assert_defaulted(resolution: &Resolution) {
    assert_eq!(resolution.outcome, Outcome::Expired);
    assert!(resolution.defaulted);
    assert_eq!(resolution.value, Some(json!("deny")));
    assert_eq!(resolution.actor, Actor::default_on_expire());
    assert_eq!(resolution.resolved_at, LATE);
    assert_eq!(
        (resolution.edited, &resolution.comment, &resolution.checklist),
        (false, &None, &None)
    );
}

fn assert_ran_out(resolution: &Resolution) {
    assert_eq!(resolution.outcome, Outcome::Expired);
    assert!(!resolution.defaulted);
    assert_eq!(resolution.value, None);
    assert_eq!(resolution.actor, Actor::expired());
}

#[test]
fn an_answer_exactly_at_the_expiry_wins() {
    let resolution = decided(&ask(), answer("approve"), EXPIRES_AT).expect("in time");
    assert_eq!(resolution.outcome, Outcome::Answered);
    assert_eq!(resolution.value, Some(json!("approve")));
    assert_eq!(resolution.actor, alice());
    assert_eq!(resolution.resolved_at, EXPIRES_AT);
    assert!(!resolution.defaulted);
}

#[test]
fn late_answer_loses_to_the_default() {
    assert_defaulted(&decided(&ask(), answer("approve"), LATE).expect("the expiry happens"));
}

#[test]
fn a_late_decline_loses_to_the_default() {
    assert_defaulted(&decided(&ask(), decline(), LATE).expect("the expiry happens"));
}

#[test]
fn a_cancel_exactly_at_the_expiry_wins() {
    let resolution = decided(&ask(), Command::Cancel, EXPIRES_AT).expect("in time");
    assert_eq!(resolution.outcome, Outcome::Cancelled);
    assert_eq!(resolution.actor, builder());
    assert_eq!(resolution.value, None);
}

#[test]
fn cancel_after_expiry_loses() {
    assert_defaulted(&decided(&ask(), Command::Cancel, LATE).expect("the expiry happens"));
}

#[test]
fn the_expiry_applies_the_default() {
    assert_defaulted(&decided(&ask(), Command::Expire, LATE).expect("due"));
}

#[test]
fn a_late_comment_is_not_added_to_the_default() {
    let Command::Resolve { actor, verdict, .. } = answer("approve") else {
        panic!("an answer resolves")
    };
    let command = Command::Resolve {
        actor,
        verdict,
        comment: Some("looks fine".to_owned()),
    };
    assert_defaulted(&decided(&ask(), command, LATE).expect("the expiry happens"));
}

#[test]
fn an_expiry_without_a_default_has_no_value() {
    for command in [Command::Expire, answer("approve"), decline(), Command::Cancel] {
        assert_ran_out(&decided(&without_default(), command, LATE).expect("the expiry happens"));
    }
}

#[test]
fn a_task_expires_without_a_value() {
    for command in [Command::Expire, complete(), dismiss()] {
        assert_ran_out(&decided(&task(), command, LATE).expect("the expiry happens"));
    }
}

#[test]
fn an_early_expiry_is_refused() {
    for open in [ask(), without_default(), task()] {
        assert_eq!(decided(&open, Command::Expire, EARLY), Err(Rejection::NotDue));
        assert_eq!(decided(&open, Command::Expire, EXPIRES_AT), Err(Rejection::NotDue));
    }
}

#[test]
fn a_message_without_an_expiry_stays_open() {
    let patient = Message {
        expires_at: None,
        ..ask()
    };
    let far = Timestamp::from_millis(i64::MAX);
    assert_eq!(decided(&patient, Command::Expire, far), Err(Rejection::NotDue));
    assert_eq!(
        decided(&patient, answer("approve"), far).map(|resolution| resolution.outcome),
        Ok(Outcome::Answered)
    );
}

#[test]
fn a_notify_never_expires() {
    for now in [EARLY, LATE] {
        assert!(matches!(
            decided(&notify(), Command::Expire, now),
            Err(Rejection::NotApplicable(_))
        ));
    }
}
