//! What became of a decision: from the hub to the agent, step by step.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::seen::Seen;
use super::zone::time_words;
use crate::item::Delivery;
use crate::screen::{duration_words, escape};

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mark {
    Done,
    Now,
    Failed,
    Note,
}

/// Who decided what, and when.
pub fn outcome(seen: &Seen, now: Timestamp, zone: &TimeZone) -> Option<String> {
    let resolution = seen.item.resolution.as_ref()?;
    let by_default = if resolution.defaulted {
        ", the default its asker declared"
    } else {
        ""
    };
    let edited = if resolution.edited {
        ", in other words than the options"
    } else {
        ""
    };
    let at = time_words(&resolution.resolved_at, now, zone);
    Some(format!(
        "{} at {at}{by_default}{edited}",
        escape(&seen.item.outcome_words().unwrap_or_default())
    ))
}

/// Where the outcome is on its way to the agent; nothing before there is one.
pub fn track(seen: &Seen, now: Timestamp, zone: &TimeZone) -> Vec<(Mark, String)> {
    if seen.item.resolution.is_none() {
        return Vec::new();
    }
    if seen.item.is_of_run() {
        return vec![(Mark::Done, "the run has it".to_owned())];
    }
    let fetched = seen
        .more
        .fetched_at
        .as_ref()
        .map(|at| format!("the agent fetched it at {}", time_words(at, now, zone)));
    let mut steps = Vec::new();
    match (&seen.item.delivery, fetched) {
        (Some(delivery), fetched) => {
            steps.push(delivered(delivery, now, zone));
            steps.extend(fetched.map(|words| (Mark::Done, words)));
        }
        (None, Some(words)) => steps.push((Mark::Done, words)),
        (None, None) => steps.push((Mark::Now, "waiting for the agent to fetch it".to_owned())),
    }
    let is_done = steps.iter().any(|(mark, _)| *mark == Mark::Done);
    steps.extend(
        presence(seen, now)
            .filter(|_| !is_done)
            .map(|words| (Mark::Note, words)),
    );
    steps
}

fn delivered(delivery: &Delivery, now: Timestamp, zone: &TimeZone) -> (Mark, String) {
    let why = delivery
        .last_error
        .as_deref()
        .map(|error| format!(": {}", escape(error)))
        .unwrap_or_default();
    let attempts = delivery.attempts;
    match (delivery.state.as_str(), attempts) {
        ("delivered", _) => {
            let at = delivery
                .delivered_at
                .as_ref()
                .map(|at| format!(" at {}", time_words(at, now, zone)));
            (Mark::Done, format!("delivered to the agent{}", at.unwrap_or_default()))
        }
        ("failed", _) => (
            Mark::Failed,
            format!("delivery failed after {attempts} attempts{why} (t tries again)"),
        ),
        (_, 0) => (Mark::Now, "on its way to the agent".to_owned()),
        (_, _) => {
            let next = delivery
                .next_attempt_at
                .as_ref()
                .map(|at| format!(", next try in {}", duration_words(at.remaining(now))));
            (
                Mark::Failed,
                format!(
                    "delivery is failing, attempts so far: {attempts}{}{why}",
                    next.unwrap_or_default()
                ),
            )
        }
    }
}

/// Whether anybody is at the other end. Of a terminal that is known for sure.
pub fn presence(seen: &Seen, now: Timestamp) -> Option<String> {
    if let Some(words) = seen.item.presence_words(now) {
        return Some(words);
    }
    match (&seen.more.agent_seen_at, seen.more.waiting_now) {
        (_, true) => Some("the agent is waiting for it right now".to_owned()),
        (Some(at), false) => Some(format!("the agent was last seen {} ago", duration_words(at.age(now)))),
        (None, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::seen::tests::seen;
    use super::*;

    fn steps(extra: &Value) -> Vec<(Mark, String)> {
        let mut all = json!({"status": "answered", "resolution": {
            "resolution_id": "res_1", "resolution": "answered", "value": "approve", "actor": "human:ann",
            "resolved_at": "2026-06-04T15:00:01.000Z",
        }});
        all.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        track(
            &seen("a", &all),
            "2026-06-04T15:00:05Z".parse().unwrap(),
            &TimeZone::UTC,
        )
    }

    fn step(mark: Mark, words: &str) -> (Mark, String) {
        (mark, words.to_owned())
    }

    #[test]
    fn an_answer_is_followed_until_the_agent_has_it() {
        let seen_at = json!({"agent_seen_at": "2026-06-04T14:58:05.000Z"});
        let waiting = step(Mark::Now, "waiting for the agent to fetch it");
        assert_eq!(
            steps(&seen_at),
            [waiting, step(Mark::Note, "the agent was last seen 2m ago")]
        );
        let fetched = json!({"fetched_at": "2026-06-04T15:00:02.000Z", "agent_seen_at": "2026-06-04T15:00:02.000Z"});
        assert_eq!(steps(&fetched), [step(Mark::Done, "the agent fetched it at 15:00:02")]);
    }

    #[test]
    fn a_push_tells_when_it_fails_and_what_comes_next() {
        let delivery = |state: &str, attempts: u64, extra: Value| {
            let mut delivery = json!({"state": state, "attempts": attempts});
            delivery
                .as_object_mut()
                .unwrap()
                .extend(extra.as_object().unwrap().clone());
            steps(&json!({ "delivery": delivery })).remove(0)
        };
        assert_eq!(
            delivery("pending", 0, json!({})),
            step(Mark::Now, "on its way to the agent")
        );
        let failing = json!({"next_attempt_at": "2026-06-04T15:00:25.000Z", "last_error": "answered 500"});
        let words = "delivery is failing, attempts so far: 2, next try in 20s: answered 500";
        assert_eq!(delivery("pending", 2, failing), step(Mark::Failed, words));
        let delivered = json!({"delivered_at": "2026-06-04T15:00:03.000Z"});
        assert_eq!(
            delivery("delivered", 1, delivered),
            step(Mark::Done, "delivered to the agent at 15:00:03")
        );
        let words = "delivery failed after 8 attempts: answered 404 (t tries again)";
        assert_eq!(
            delivery("failed", 8, json!({"last_error": "answered 404"})),
            step(Mark::Failed, words)
        );
    }

    #[test]
    fn a_run_has_its_answer_at_once() {
        let source = json!({"source": {"door": "runs"}, "agent_seen_at": "2026-06-04T14:58:05.000Z"});
        assert_eq!(steps(&source), [step(Mark::Done, "the run has it")]);
    }

    #[test]
    fn nothing_is_on_its_way_before_the_hub_decided() {
        assert!(track(&seen("a", &json!({})), Timestamp::UNIX_EPOCH, &TimeZone::UTC).is_empty());
    }
}
