//! The way of a decision to its agent, step by step.

use countersign_core::delivery::Track;
use countersign_core::{Actor, Outcome, Resolution};
use countersign_hub::inbox::asker::OfRun;
use countersign_store::model::{Delivery, Item};

use super::presence::Presence;
use crate::frame::format::{Instant, instant};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// `done`, `now` or `failed`.
    pub class: &'static str,
    pub words: String,
    pub at: Option<Instant>,
    /// What more is to be said, before the instant it is about.
    pub more: Option<String>,
    pub then: Option<Instant>,
}

impl Step {
    fn new(class: &'static str, words: impl Into<String>, at: Option<Instant>) -> Self {
        Self {
            class,
            words: words.into(),
            at,
            more: None,
            then: None,
        }
    }
}

pub struct Way {
    pub steps: Vec<Step>,
    /// The answer is still on its way, so it matters whether the agent is there.
    pub is_under_way: bool,
    /// An attempt failed, and a person can ask for another one.
    pub can_retry: bool,
}

/// Nothing is shown as arrived before the agent's side has taken it.
pub fn way(item: &Item, resolution: &Resolution, presence: &Presence) -> Way {
    let mut steps = vec![Step::new("done", "Decided", Some(instant(resolution.resolved_at)))];
    if OfRun::of(&item.message.source).is_some() {
        steps.push(Step::new("done", of_run(resolution.outcome), None));
        return Way {
            steps,
            is_under_way: false,
            can_retry: false,
        };
    }
    let is_its_own = resolution.actor == Actor::agent(&item.message.content.agent.id);
    let fetched = item
        .fetched_at
        .map(|at| Step::new("done", "Fetched by the agent", Some(instant(at))));
    let arrived = fetched.is_some() || is_its_own;
    let track = item.delivery.as_ref().map(|delivery| delivery.track);
    let can_retry = item.delivery.as_ref().is_some_and(|delivery| match delivery.track {
        Track::Failed => true,
        Track::Pending => delivery.attempts > 0,
        Track::Delivered => false,
    });
    match &item.delivery {
        Some(delivery) => steps.extend(pushed(delivery)),
        None if is_its_own => steps.push(Step::new("done", "The agent did this itself", None)),
        None if arrived => steps.push(Step::new("done", "Waited for the agent", None)),
        None => steps.push(waiting(presence)),
    }
    steps.extend(fetched);
    Way {
        steps,
        is_under_way: !arrived && track != Some(Track::Delivered),
        can_retry,
    }
}

/// A run reads its answer where it was stored, so the two have it at once.
fn of_run(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Answered => "The run goes on with it",
        Outcome::Cancelled => "The run ended before anybody answered",
        Outcome::Expired => "The run does not wait any longer",
        Outcome::Declined | Outcome::Completed | Outcome::Dismissed => "The run was told",
    }
}

fn waiting(presence: &Presence) -> Step {
    let words = match presence {
        Presence::Waiting => "Being handed to the agent, which waits for it",
        Presence::Here { .. } | Presence::Gone { .. } | Presence::NeverSeen | Presence::Cue { .. } => {
            "Waiting for the agent to fetch it"
        }
    };
    Step::new("now", words, None)
}

fn pushed(delivery: &Delivery) -> Vec<Step> {
    let attempts = delivery.attempts;
    let to = format!("to {}", delivery.host);
    match delivery.track {
        Track::Delivered => {
            vec![Step::new(
                "done",
                format!("Delivered {to}"),
                delivery.delivered_at.map(instant),
            )]
        }
        Track::Failed => {
            let words = format!("Not delivered {to}, given up after attempt {attempts}");
            vec![Step {
                more: why(delivery),
                ..Step::new("failed", words, None)
            }]
        }
        Track::Pending if attempts == 0 => vec![Step::new("now", format!("Being delivered {to}"), None)],
        Track::Pending => {
            let words = format!("Not delivered {to} yet, attempt {attempts} failed");
            let step = Step::new("now", words, None);
            vec![Step {
                more: why(delivery),
                then: delivery.next_attempt_at.map(instant),
                ..step
            }]
        }
    }
}

/// Why the last attempt failed, as a clause beside the host and the number of attempts, which are told already.
pub fn why(delivery: &Delivery) -> Option<String> {
    let error = delivery.last_error.as_deref()?;
    let given_up = format!("given up after {} attempts: ", delivery.attempts);
    let reason = error.strip_prefix(&given_up).unwrap_or(error);
    // A status alone does not say whose it is.
    Some(if reason.starts_with("answered ") {
        format!("it {reason}")
    } else {
        reason.to_owned()
    })
}

#[cfg(test)]
mod tests {
    use countersign_protocol::id::MessageId;
    use countersign_protocol::time::Timestamp;

    use super::*;

    fn delivery(track: Track, attempts: u32, last_error: &str) -> Delivery {
        Delivery {
            message_id: MessageId::from_uuid(uuid::Uuid::nil()),
            agent_id: "bot".to_owned(),
            host: "hooks.example".to_owned(),
            track,
            attempts,
            created_at: Timestamp::from_millis(0),
            next_attempt_at: None,
            delivered_at: None,
            last_error: Some(last_error.to_owned()),
        }
    }

    #[test]
    fn a_failed_attempt_says_who_answered_what_and_nothing_twice() {
        let failing = delivery(Track::Pending, 1, "answered 503");
        assert_eq!(why(&failing).as_deref(), Some("it answered 503"));
        let lost = delivery(Track::Failed, 8, "given up after 8 attempts: no answer in time");
        assert_eq!(why(&lost).as_deref(), Some("no answer in time"));
        let steps = pushed(&lost);
        assert_eq!(
            steps[0].words,
            "Not delivered to hooks.example, given up after attempt 8"
        );
    }
}
