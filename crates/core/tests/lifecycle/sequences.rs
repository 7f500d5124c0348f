//! Property tests: for any sequence of commands, a message ends at most once, and its outcome is consistent.

use countersign_core::message::Task;
use countersign_core::question::{Ask, approve_or_deny};
use countersign_core::{
    Actor, Command, Message, Outcome, Payload, Question, Rejection, Resolution, State, Verdict, decide,
};
use countersign_protocol::a2h::CheckItem;
use countersign_protocol::time::Timestamp;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Value, json};

use crate::scene::{builder, item, message, resolution_id};

const CROWD: [&str; 4] = ["human:alice", "human:bob", "agent:builder", "human:mallory"];

fn actor() -> impl Strategy<Value = Actor> {
    select(CROWD.to_vec()).prop_map(|name| name.parse().expect("an actor"))
}

/// A question with a matching default.
fn question() -> impl Strategy<Value = (Question, Value)> {
    let schema = json!({"properties": {"n": {"type": "integer", "minimum": 0}}, "required": ["n"]});
    prop_oneof![
        any::<bool>().prop_map(|allow_edit| (
            Question::Confirm {
                options: approve_or_deny(),
                allow_edit
            },
            json!("deny")
        )),
        (any::<bool>(), any::<bool>()).prop_map(|(allow_edit, many)| {
            let default = if many { json!(["approve"]) } else { json!("approve") };
            (
                Question::Select {
                    options: approve_or_deny(),
                    allow_edit,
                    many,
                },
                default,
            )
        }),
        Just((Question::Text, json!("on Monday"))),
        Just((Question::Form { schema }, json!({"n": 3}))),
    ]
}

fn an_ask() -> impl Strategy<Value = Payload> {
    (question(), any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |((question, default), may_respond, may_decline, declared)| {
            let default_on_expire = declared.then_some(default);
            Payload::Ask(Ask {
                question,
                may_respond,
                may_decline,
                open_ended: false,
                may_be_empty: false,
                default_on_expire,
            })
        },
    )
}

fn a_task() -> impl Strategy<Value = Payload> {
    (0..3_usize).prop_map(|items| {
        let checklist = (0..items).map(|n| item(&n.to_string(), false)).collect();
        Payload::Task(Task {
            instructions: "Turn the key".to_owned(),
            checklist,
            verification: None,
        })
    })
}

fn any_message() -> impl Strategy<Value = Message> {
    let payload = prop_oneof![4 => an_ask(), 2 => a_task(), 1 => Just(Payload::Notify)];
    let resolvers = subsequence(CROWD[..3].to_vec(), 0..=3);
    let expires_at = prop::option::weighted(0.8, 0..120_i64);
    (payload, resolvers, expires_at).prop_map(|(payload, resolvers, expires_at)| {
        let mut message = message(payload);
        message.content.resolvers = resolvers.iter().map(|name| name.parse().expect("an actor")).collect();
        message.expires_at = expires_at.map(Timestamp::from_millis);
        message
    })
}

fn value() -> impl Strategy<Value = Value> {
    let text = select(vec!["approve", "deny", "on Monday", ""]).prop_map(|text| json!(text));
    let list = subsequence(vec!["approve", "deny", "on Monday"], 0..=2).prop_map(|texts| json!(texts));
    let form = (-1..3).prop_map(|n| json!({ "n": n }));
    prop_oneof![3 => text, 1 => list, 1 => form, 1 => Just(json!({"n": "x"})), 1 => Just(json!(7))]
}

fn checklist() -> impl Strategy<Value = Option<Vec<CheckItem>>> {
    let items = prop::collection::vec(any::<bool>(), 0..3);
    prop::option::of(items.prop_map(|done| {
        (0..)
            .zip(done)
            .map(|(n, done): (u32, _)| item(&n.to_string(), done))
            .collect()
    }))
}

fn verdict() -> impl Strategy<Value = Verdict> {
    prop_oneof![
        3 => value().prop_map(Verdict::Answered),
        1 => Just(Verdict::Declined),
        1 => checklist().prop_map(Verdict::Completed),
        1 => checklist().prop_map(Verdict::Dismissed),
    ]
}

fn command() -> impl Strategy<Value = Command> {
    let comment = prop::option::of(Just("why".to_owned()));
    prop_oneof![
        5 => (actor(), verdict(), comment)
            .prop_map(|(actor, verdict, comment)| Command::Resolve { actor, verdict, comment }),
        1 => Just(Command::Cancel),
        1 => Just(Command::Expire),
    ]
}

fn steps() -> impl Strategy<Value = Vec<(Command, i64)>> {
    prop::collection::vec((command(), 0..40_i64), 1..20)
}

/// An independent implementation, so that the test does not repeat a mistake of the rule.
fn is_overdue(message: &Message, now: Timestamp) -> bool {
    matches!(message.expires_at, Some(expires_at) if expires_at < now)
}

fn fits_kind(payload: &Payload, outcome: Outcome) -> bool {
    match payload {
        Payload::Ask(_) => {
            matches!(
                outcome,
                Outcome::Answered | Outcome::Declined | Outcome::Cancelled | Outcome::Expired
            )
        }
        Payload::Task(_) => matches!(outcome, Outcome::Completed | Outcome::Dismissed | Outcome::Expired),
        Payload::Notify => false,
    }
}

fn default_of(payload: &Payload) -> Option<&Value> {
    match payload {
        Payload::Ask(ask) => ask.default_on_expire.as_ref(),
        Payload::Task(_) | Payload::Notify => None,
    }
}

fn check_end(message: &Message, end: &Resolution, now: Timestamp) -> Result<(), TestCaseError> {
    let payload = &message.content.payload;
    prop_assert!(fits_kind(payload, end.outcome), "{:?}", end);
    prop_assert_eq!(end.resolved_at, now);
    let expired = end.outcome == Outcome::Expired;
    prop_assert_eq!(
        expired,
        is_overdue(message, now),
        "expired exactly when it is later than the expiry"
    );

    let default = default_of(payload).filter(|_| expired);
    prop_assert_eq!(end.defaulted, default.is_some());
    prop_assert_eq!(end.actor == Actor::default_on_expire(), end.defaulted);
    prop_assert_eq!(end.actor == Actor::expired(), expired && !end.defaulted);
    prop_assert_eq!(end.value.is_some(), end.outcome == Outcome::Answered || end.defaulted);
    if end.defaulted {
        prop_assert_eq!(end.value.as_ref(), default);
    }
    prop_assert!(!end.edited || end.outcome == Outcome::Answered);
    prop_assert!(end.checklist.is_none() || matches!(end.outcome, Outcome::Completed | Outcome::Dismissed));
    check_who(message, end)
}

fn check_who(message: &Message, end: &Resolution) -> Result<(), TestCaseError> {
    match end.outcome {
        Outcome::Answered | Outcome::Declined | Outcome::Completed | Outcome::Dismissed => {
            prop_assert!(
                message.content.resolvers.contains(&end.actor),
                "{} was not asked",
                end.actor
            );
        }
        Outcome::Cancelled => prop_assert_eq!(&end.actor, &builder()),
        Outcome::Expired => prop_assert_eq!(&end.comment, &None),
    }
    Ok(())
}

/// A refusal changes nothing; a terminal message refuses every command.
fn check_refusal(
    message: &Message,
    command: &Command,
    refusal: &Rejection,
    now: Timestamp,
) -> Result<(), TestCaseError> {
    match (&message.state, refusal) {
        (State::Open, Rejection::AlreadyTerminal { .. }) => prop_assert!(false, "an open message is not terminal"),
        (State::Open, Rejection::NotDue) => prop_assert!(*command == Command::Expire && !is_overdue(message, now)),
        (State::Resolved(end), Rejection::AlreadyTerminal { .. }) => {
            prop_assert_eq!(refusal, &Rejection::already(&message.id, end));
        }
        (State::Resolved(_) | State::Delivered, Rejection::NotDue) => prop_assert!(false, "nothing is left to expire"),
        (State::Delivered, _) => prop_assert!(matches!(refusal, Rejection::NotApplicable(_))),
        (State::Open | State::Resolved(_), _) => {}
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_message_ends_at_most_once_and_with_a_valid_outcome(mut message in any_message(), steps in steps()) {
        let mut now = Timestamp::from_millis(0);
        let mut ends = 0;
        for (number, (command, step)) in (1..).zip(steps) {
            now = Timestamp::from_millis(now.as_millis() + step);
            match decide(&message, command.clone(), resolution_id(number), now) {
                Ok(end) => {
                    prop_assert_eq!(&message.state, &State::Open, "only an open message ends");
                    check_end(&message, &end, now)?;
                    prop_assert_eq!(&end.id, &resolution_id(number));
                    message.state = State::Resolved(end);
                    ends += 1;
                }
                Err(refusal) => check_refusal(&message, &command, &refusal, now)?,
            }
        }
        prop_assert!(ends <= 1);
    }

    #[test]
    fn an_overdue_message_always_expires(message in any_message(), now in 0..200_i64) {
        let now = Timestamp::from_millis(now);
        let ended = decide(&message, Command::Expire, resolution_id(1), now).is_ok();
        prop_assert_eq!(ended, message.state == State::Open && is_overdue(&message, now));
    }

    #[test]
    fn a_resolution_survives_serialization(message in any_message(), command in command(), now in 0..200_i64) {
        if let Ok(end) = decide(&message, command, resolution_id(1), Timestamp::from_millis(now)) {
            let text = serde_json::to_string(&end).expect("an end can be written");
            prop_assert_eq!(serde_json::from_str::<Resolution>(&text).expect("and read"), end);
        }
    }
}
