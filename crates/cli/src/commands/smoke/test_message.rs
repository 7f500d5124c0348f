//! The content of the test message, and the resolution that fits its question.

use countersign_agent::Kind;
use countersign_protocol::a2h::APPROVE;
use serde_json::{Value, json};

pub const TITLE: &str = "Smoke test: no need to do anything";
pub const BODY: &str = "`countersign smoke` sends this and resolves it within a few seconds.";

/// The body of the resolve call for the message that `words` send: the first option, every step done.
pub fn resolution(kind: Kind, words: &[String]) -> Value {
    match kind {
        Kind::Ask => json!({ "resolution": "answered", "value": first_option(words), "comment": "smoke test" }),
        Kind::Task => {
            let steps = values(words, "--checklist").map(|text| json!({ "text": text, "done": true }));
            let steps: Vec<Value> = steps.collect();
            json!({ "resolution": "completed", "checklist": steps, "comment": "smoke test" })
        }
        Kind::Notify => Value::Null,
    }
}

fn first_option(words: &[String]) -> &str {
    let option = values(words, "--select").next();
    option.map_or(APPROVE, |option| {
        option.split_once('=').map_or(option, |(value, _)| value)
    })
}

fn values<'a>(words: &'a [String], flag: &'a str) -> impl Iterator<Item = &'a str> {
    let pairs = words.windows(2).filter(move |pair| pair[0] == flag);
    pairs.map(|pair| pair[1].as_str())
}
