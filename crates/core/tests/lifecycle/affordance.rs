//! Permissions: which actor may resolve which kind of message, and how.

use countersign_core::message::Task;
use countersign_core::question::{Ask, approve_or_deny};
use countersign_core::{Actor, Command, Message, Outcome, Payload, Question, Rejection, Verdict};
use serde_json::json;

use crate::scene::*;

fn resolved_by(actors: &[Actor]) -> Message {
    let mut message = ask();
    message.content.resolvers = actors.to_vec();
    message
}

#[test]
fn only_a_named_resolver_may_resolve() {
    let strangers = [
        "human:mallory",
        "human:alice2",
        "human:Alice",
        "agent:alice",
        "system:alice",
        "human:*",
    ];
    for stranger in strangers {
        let actor: Actor = stranger.parse().expect("an actor");
        let refused = decided(&ask(), by(actor, Verdict::Declined), EARLY);
        assert_eq!(refused, Err(Rejection::NotAuthorized(stranger.to_owned())));
    }
}

#[test]
fn a_wildcard_among_the_resolvers_matches_no_other_actor() {
    let message = resolved_by(&["human:*".parse().expect("an actor")]);
    assert!(matches!(
        decided(&message, decline(), EARLY),
        Err(Rejection::NotAuthorized(_))
    ));
}

#[test]
fn the_submitting_agent_is_not_an_implied_resolver() {
    let refused = decided(&ask(), by(builder(), Verdict::Declined), EARLY);
    assert_eq!(refused, Err(Rejection::NotAuthorized("agent:builder".to_owned())));
}

#[test]
fn a_named_agent_may_resolve_like_a_person() {
    let message = resolved_by(&[alice(), builder()]);
    let resolution = decided(&message, by(builder(), Verdict::Answered(json!("approve"))), EARLY).expect("named");
    assert_eq!(resolution.actor, builder());
}

#[test]
fn an_ask_is_answered_or_declined() {
    for wrong in [complete(), dismiss()] {
        assert_eq!(fault(decided(&ask(), wrong, EARLY)), "resolution");
    }
    for (command, outcome) in [(answer("deny"), Outcome::Answered), (decline(), Outcome::Declined)] {
        assert_eq!(
            decided(&ask(), command, EARLY).map(|resolution| resolution.outcome),
            Ok(outcome)
        );
    }
}

#[test]
fn a_task_is_completed_or_dismissed() {
    for wrong in [answer("approve"), decline()] {
        assert_eq!(fault(decided(&task(), wrong, EARLY)), "resolution");
    }
    for (command, outcome) in [(complete(), Outcome::Completed), (dismiss(), Outcome::Dismissed)] {
        assert_eq!(
            decided(&task(), command, EARLY).map(|resolution| resolution.outcome),
            Ok(outcome)
        );
    }
}

#[test]
fn a_notify_cannot_be_resolved() {
    for command in [
        answer("approve"),
        decline(),
        complete(),
        dismiss(),
        Command::Cancel,
        Command::Expire,
    ] {
        for now in [EARLY, LATE] {
            let refused = decided(&notify(), command.clone(), now);
            assert!(
                matches!(refused, Err(Rejection::NotApplicable(_))),
                "{command:?}: {refused:?}"
            );
        }
    }
}

#[test]
fn a_task_cannot_be_cancelled() {
    for now in [EARLY, LATE] {
        assert!(matches!(
            decided(&task(), Command::Cancel, now),
            Err(Rejection::NotApplicable(_))
        ));
    }
}

#[test]
fn a_disallowed_answer_or_decline_is_refused() {
    let mute = message(Payload::Ask(Ask {
        may_respond: false,
        ..confirm()
    }));
    assert_eq!(fault(decided(&mute, answer("approve"), EARLY)), "resolution");
    assert!(decided(&mute, decline(), EARLY).is_ok());

    let firm = message(Payload::Ask(Ask {
        may_decline: false,
        ..confirm()
    }));
    assert_eq!(fault(decided(&firm, decline(), EARLY)), "resolution");
    assert!(decided(&firm, answer("approve"), EARLY).is_ok());
}

#[test]
fn an_ask_that_can_be_neither_answered_nor_declined_still_ends() {
    let sealed = message(Payload::Ask(Ask {
        may_respond: false,
        may_decline: false,
        ..confirm()
    }));
    assert!(decided(&sealed, Command::Cancel, EARLY).is_ok());
    assert!(decided(&sealed, Command::Expire, LATE).is_ok());
}

#[test]
fn an_answer_must_match_the_question() {
    for wrong in [
        json!("Approve"),
        json!(true),
        json!(null),
        json!(["approve"]),
        json!({"value": "approve"}),
    ] {
        let command = by(alice(), Verdict::Answered(wrong));
        assert_eq!(fault(decided(&ask(), command, EARLY)), "value");
    }
    assert_eq!(
        fault(decided(
            &form(),
            by(alice(), Verdict::Answered(json!({"n": "one"}))),
            EARLY
        )),
        "value.n"
    );
    let resolution = decided(&form(), by(alice(), Verdict::Answered(json!({"n": 1}))), EARLY).expect("it fits");
    assert_eq!((resolution.value, resolution.edited), (Some(json!({"n": 1})), false));
}

#[test]
fn typed_text_is_marked_as_edited() {
    let mut question = confirm().question;
    if let Question::Confirm { allow_edit, .. } = &mut question {
        *allow_edit = true;
    }
    let editable = message(Payload::Ask(Ask { question, ..confirm() }));
    for (text, edited) in [("approve", false), ("approve ", true), ("only on Monday", true)] {
        let resolution = decided(&editable, answer(text), EARLY).expect("typing is allowed");
        assert_eq!((resolution.value, resolution.edited), (Some(json!(text)), edited));
    }
}

#[test]
fn every_kind_of_message_has_its_own_word() {
    let asked = |question| message(Payload::Ask(Ask { question, ..confirm() })).content.kind_word();
    let select = |many| Question::Select {
        options: approve_or_deny(),
        allow_edit: false,
        many,
    };
    assert_eq!(
        [ask(), form(), task(), notify()].map(|m| m.content.kind_word()),
        ["confirm", "form", "task", "notify"]
    );
    assert_eq!(
        [select(false), select(true), Question::Text].map(asked),
        ["select", "many", "text"]
    );
    let one = json!({"properties": {"answer": {"type": "string"}}});
    let two = json!({"properties": {"answer": {"type": "string"}, "sure": {"type": "boolean"}}});
    let number = json!({"properties": {"answer": {"type": "number"}}});
    assert_eq!(
        [one, two, number].map(|schema| asked(Question::Form { schema })),
        ["text", "form", "form"],
        "a form with one text field asks for a text"
    );
}

#[test]
fn a_comment_is_kept_with_the_outcome() {
    let command = Command::Resolve {
        actor: alice(),
        verdict: Verdict::Dismissed(None),
        comment: Some("the key is gone".to_owned()),
    };
    let resolution = decided(&task(), command, EARLY).expect("a task is dismissed");
    assert_eq!(resolution.comment.as_deref(), Some("the key is gone"));
}

#[test]
fn a_checklist_must_keep_the_items_of_the_task() {
    let ticked = vec![item("insert", true), item("turn", false)];
    for verdict in [
        Verdict::Completed(Some(ticked.clone())),
        Verdict::Dismissed(Some(ticked.clone())),
    ] {
        let resolution = decided(&task(), by(alice(), verdict), EARLY).expect("the same items");
        assert_eq!(resolution.checklist, Some(ticked.clone()));
    }
    let foreign = [
        vec![],
        vec![item("insert", true)],
        vec![item("turn", true), item("insert", true)],
        vec![item("insert", true), item("turn", true), item("run", true)],
        vec![item("insert", true), item("Turn", true)],
    ];
    for items in foreign {
        assert_eq!(
            fault(decided(&task(), by(alice(), Verdict::Completed(Some(items))), EARLY)),
            "checklist"
        );
    }
}

#[test]
fn a_task_without_a_checklist_takes_an_empty_one() {
    let bare = Task {
        instructions: "Turn the key".to_owned(),
        checklist: Vec::new(),
        verification: None,
    };
    let command = by(alice(), Verdict::Completed(Some(Vec::new())));
    assert_eq!(
        decided(&message(Payload::Task(bare)), command, EARLY).map(|done| done.checklist),
        Ok(Some(Vec::new()))
    );
}
