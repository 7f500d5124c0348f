//! The path of a decision from the hub to the agent, step by step.

use countersign_client::item::outcome_remarks;
use countersign_client::screen::{duration_label, escape};
use countersign_protocol::api::inbox::ItemDelivery;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::inbox_entry::InboxEntry;
use super::local_time::hub_time_label;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StepMark {
    Done,
    Now,
    Failed,
    Note,
}

/// The decision, its actor and its time.
pub fn outcome(entry: &InboxEntry, now: Timestamp, zone: &TimeZone) -> Option<String> {
    let resolution = entry.item.resolution.as_ref()?;
    let at = hub_time_label(&resolution.resolved_at, now, zone);
    Some(format!(
        "{} at {at}{}",
        escape(&entry.item.outcome_text().unwrap_or_default()),
        outcome_remarks(resolution)
    ))
}

/// The delivery of the outcome to the agent; empty before the decision.
pub fn delivery_steps(entry: &InboxEntry, now: Timestamp, zone: &TimeZone) -> Vec<(StepMark, String)> {
    if entry.item.resolution.is_none() {
        return Vec::new();
    }
    if entry.item.is_of_run() {
        return vec![(StepMark::Done, "the run has it".to_owned())];
    }
    let fetched = entry
        .item
        .fetched_at
        .as_ref()
        .map(|at| format!("the agent fetched it at {}", hub_time_label(at, now, zone)));
    let mut steps = Vec::new();
    match (&entry.item.delivery, fetched) {
        (Some(delivery), fetched) => {
            steps.push(delivered(delivery, now, zone));
            steps.extend(fetched.map(|text| (StepMark::Done, text)));
        }
        (None, Some(text)) => steps.push((StepMark::Done, text)),
        (None, None) => steps.push((StepMark::Now, "waiting for the agent to fetch it".to_owned())),
    }
    let is_done = steps.iter().any(|(mark, _)| *mark == StepMark::Done);
    steps.extend(
        presence(entry, now)
            .filter(|_| !is_done)
            .map(|text| (StepMark::Note, text)),
    );
    steps
}

fn delivered(delivery: &ItemDelivery, now: Timestamp, zone: &TimeZone) -> (StepMark, String) {
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
                .map(|at| format!(" at {}", hub_time_label(at, now, zone)));
            (
                StepMark::Done,
                format!("delivered to the agent{}", at.unwrap_or_default()),
            )
        }
        ("failed", _) => (
            StepMark::Failed,
            format!("delivery failed after {attempts} attempts{why} (t tries again)"),
        ),
        (_, 0) => (StepMark::Now, "on its way to the agent".to_owned()),
        (_, _) => {
            let next = delivery
                .next_attempt_at
                .as_ref()
                .map(|at| format!(", next try in {}", duration_label(at.remaining(now))));
            (
                StepMark::Failed,
                format!(
                    "delivery is failing, attempts so far: {attempts}{}{why}",
                    next.unwrap_or_default()
                ),
            )
        }
    }
}

/// Whether the agent is there. For terminals this is exact.
pub fn presence(entry: &InboxEntry, now: Timestamp) -> Option<String> {
    if let Some(text) = entry.item.presence_text(now) {
        return Some(text);
    }
    match (entry.item.agent_seen_at.iter().flatten().next(), entry.item.waiting_now) {
        (_, Some(true)) => Some("the agent is waiting for it right now".to_owned()),
        (Some(at), _) => Some(format!("the agent was last seen {} ago", duration_label(at.age(now)))),
        (None, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::inbox_entry::tests::entry;

    fn steps(extra: &Value) -> Vec<(StepMark, String)> {
        let mut all = json!({"status": "answered", "resolution": {
            "resolution_id": "res_1", "resolution": "answered", "value": "approve", "actor": "human:ann",
            "resolved_at": "2026-06-04T15:00:01.000Z",
        }});
        all.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        delivery_steps(
            &entry("a", &all),
            "2026-06-04T15:00:05Z".parse().unwrap(),
            &TimeZone::UTC,
        )
    }

    fn step(mark: StepMark, text: &str) -> (StepMark, String) {
        (mark, text.to_owned())
    }

    #[test]
    fn an_answer_is_followed_until_the_agent_has_it() {
        let seen_at = json!({"agent_seen_at": "2026-06-04T14:58:05.000Z"});
        let waiting = step(StepMark::Now, "waiting for the agent to fetch it");
        assert_eq!(
            steps(&seen_at),
            [waiting, step(StepMark::Note, "the agent was last seen 2m ago")]
        );
        let fetched = json!({"fetched_at": "2026-06-04T15:00:02.000Z", "agent_seen_at": "2026-06-04T15:00:02.000Z"});
        assert_eq!(
            steps(&fetched),
            [step(StepMark::Done, "the agent fetched it at 15:00:02")]
        );
    }

    #[test]
    fn a_failing_push_shows_the_error_and_the_next_attempt() {
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
            step(StepMark::Now, "on its way to the agent")
        );
        let failing = json!({"next_attempt_at": "2026-06-04T15:00:25.000Z", "last_error": "answered 500"});
        let text = "delivery is failing, attempts so far: 2, next try in 20s: answered 500";
        assert_eq!(delivery("pending", 2, failing), step(StepMark::Failed, text));
        let delivered = json!({"delivered_at": "2026-06-04T15:00:03.000Z"});
        assert_eq!(
            delivery("delivered", 1, delivered),
            step(StepMark::Done, "delivered to the agent at 15:00:03")
        );
        let text = "delivery failed after 8 attempts: answered 404 (t tries again)";
        assert_eq!(
            delivery("failed", 8, json!({"last_error": "answered 404"})),
            step(StepMark::Failed, text)
        );
    }

    #[test]
    fn a_run_gets_its_answer_immediately() {
        let source = json!({"source": {"door": "runs"}, "agent_seen_at": "2026-06-04T14:58:05.000Z"});
        assert_eq!(steps(&source), [step(StepMark::Done, "the run has it")]);
    }

    #[test]
    fn an_undecided_item_has_no_delivery() {
        assert!(delivery_steps(&entry("a", &json!({})), Timestamp::UNIX_EPOCH, &TimeZone::UTC).is_empty());
    }
}
