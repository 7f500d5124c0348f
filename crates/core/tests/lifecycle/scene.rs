//! Fixtures: a message of each kind with one resolver, and commands.

use std::collections::BTreeMap;

use countersign_core::message::{A2hSource, Task};
use countersign_core::question::{Ask, approve_or_deny};
use countersign_core::{
    Actor, Command, Content, Message, Payload, Question, Rejection, Resolution, Source, State, Verdict, decide,
};
use countersign_protocol::a2h::{Agent, CheckItem, Priority};
use countersign_protocol::id::{MessageId, ResolutionId};
use countersign_protocol::time::Timestamp;
use serde_json::json;

pub const EARLY: Timestamp = Timestamp::from_millis(5_000);
pub const EXPIRES_AT: Timestamp = Timestamp::from_millis(10_000);
pub const LATE: Timestamp = Timestamp::from_millis(10_001);

pub fn alice() -> Actor {
    Actor::human("alice")
}

pub fn builder() -> Actor {
    Actor::agent("builder")
}

pub fn message_id() -> MessageId {
    format!("msg_{:026}", 1).parse().expect("a message id")
}

pub fn resolution_id(number: u32) -> ResolutionId {
    format!("res_{number:026}").parse().expect("a resolution id")
}

pub fn message(payload: Payload) -> Message {
    let state = match payload {
        Payload::Notify => State::Delivered,
        Payload::Ask(_) | Payload::Task(_) => State::Open,
    };
    Message {
        id: message_id(),
        received_at: Timestamp::from_millis(0),
        expires_at: Some(EXPIRES_AT),
        content: content(payload),
        source: Source::A2h(A2hSource::default()),
        callback: None,
        state,
        hold: None,
        rev: 1,
    }
}

fn content(payload: Payload) -> Content {
    Content {
        agent: Agent {
            id: "builder".to_owned(),
            run_id: "run-1".to_owned(),
            runtime: "cli".to_owned(),
            project: None,
            labels: BTreeMap::new(),
        },
        title: "Deploy?".to_owned(),
        body: None,
        priority: Priority::Normal,
        tags: Vec::new(),
        context: Vec::new(),
        sensitive: false,
        payload,
        resolvers: vec![alice()],
    }
}

pub fn confirm() -> Ask {
    Ask {
        question: Question::Confirm {
            options: approve_or_deny(),
            allow_edit: false,
        },
        may_respond: true,
        may_decline: true,
        open_ended: false,
        may_be_empty: false,
        default_on_expire: Some(json!("deny")),
    }
}

pub fn ask() -> Message {
    message(Payload::Ask(confirm()))
}

pub fn form() -> Message {
    let schema = json!({"properties": {"n": {"type": "integer"}}, "required": ["n"]});
    message(Payload::Ask(Ask {
        question: Question::Form { schema },
        default_on_expire: None,
        ..confirm()
    }))
}

pub fn task() -> Message {
    message(Payload::Task(Task {
        instructions: "Turn the key".to_owned(),
        checklist: vec![item("insert", false), item("turn", false)],
        verification: None,
    }))
}

pub fn notify() -> Message {
    message(Payload::Notify)
}

pub fn item(text: &str, done: bool) -> CheckItem {
    CheckItem {
        text: text.to_owned(),
        done,
    }
}

pub fn by(actor: Actor, verdict: Verdict) -> Command {
    Command::Resolve {
        actor,
        verdict,
        comment: None,
    }
}

pub fn answer(value: &str) -> Command {
    by(alice(), Verdict::Answered(json!(value)))
}

pub fn decline() -> Command {
    by(alice(), Verdict::Declined)
}

pub fn complete() -> Command {
    by(alice(), Verdict::Completed(None))
}

pub fn dismiss() -> Command {
    by(alice(), Verdict::Dismissed(None))
}

pub fn decided(message: &Message, command: Command, now: Timestamp) -> Result<Resolution, Rejection> {
    decide(message, command, resolution_id(1), now)
}

/// The message as the store writes it after the command succeeded.
pub fn resolved(message: &Message, command: Command, now: Timestamp) -> Message {
    let resolution = decided(message, command, now).expect("the first command wins");
    Message {
        state: State::Resolved(resolution),
        rev: message.rev + 1,
        ..message.clone()
    }
}

/// The field named by a rejection.
pub fn fault(result: Result<Resolution, Rejection>) -> String {
    match result {
        Err(Rejection::InvalidField { field, .. }) => field,
        other => panic!("expected a field error, got {other:?}"),
    }
}
