//! The test message of each kind, and its resolution.

use anyhow::Result;
use countersign_agent::{Ask, Callback, Choice, Draft, Identity, Kind, Notify, Outcome, Task, Timestamp, Version};
use serde_json::{Value, json};

const TITLE: &str = "Smoke test: no need to do anything";
const BODY: &str = "`countersign smoke` sends this and resolves it by itself within a few seconds.";
const STEP: &str = "Nothing to do";
pub const YES: &str = "yes";

/// The fields common to all test messages.
pub struct MessageFrame<'a> {
    pub identity: &'a Identity,
    pub version: Version,
    pub now: Timestamp,
    pub key: &'a str,
    pub resolvers: &'a [String],
    pub callback: Option<&'a str>,
    pub state: Value,
}

pub fn draft(kind: Kind, frame: &MessageFrame<'_>) -> Result<Draft> {
    let resolvers = frame.resolvers.iter().cloned();
    Ok(match kind {
        Kind::Ask => {
            let choices = (Choice::new(YES, "Yes"), Choice::new("no", "No"));
            let mut ask = Ask::confirm_with(TITLE, choices.0, choices.1)
                .body(BODY)
                .key(frame.key)
                .state(frame.state.clone());
            if let Some(url) = frame.callback {
                ask = ask.callback(Callback::push(url));
            }
            ask.to(resolvers).draft(frame.identity, frame.version, frame.now)?
        }
        Kind::Task => {
            let mut task = Task::new(TITLE, BODY)
                .checklist([STEP])
                .key(frame.key)
                .state(frame.state.clone());
            if let Some(url) = frame.callback {
                task = task.callback(Callback::push(url));
            }
            task.to(resolvers).draft(frame.identity, frame.version, frame.now)?
        }
        Kind::Notify => Notify::new(TITLE)
            .body(BODY)
            .key(frame.key)
            .draft(frame.identity, frame.version, frame.now)?,
    })
}

/// The body of the resolve call.
pub fn resolution(kind: Kind) -> Value {
    match kind {
        Kind::Ask => json!({ "resolution": "answered", "value": YES, "comment": "smoke test" }),
        Kind::Task => {
            json!({ "resolution": "completed", "checklist": [{ "text": STEP, "done": true }], "comment": "smoke test" })
        }
        Kind::Notify => Value::Null,
    }
}

/// Whether the outcome is the one given by the person.
pub fn is_expected(outcome: &Outcome) -> bool {
    use countersign_agent::Answer;
    match outcome {
        Outcome::Answered {
            value: Answer::Choice(value),
            edited: false,
        } => value == YES,
        Outcome::Completed { checklist } => checklist.iter().all(|step| step.done) && checklist.len() == 1,
        Outcome::Answered { .. }
        | Outcome::Declined
        | Outcome::Cancelled
        | Outcome::Expired { .. }
        | Outcome::Dismissed { .. } => false,
    }
}
