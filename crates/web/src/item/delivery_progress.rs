//! The delivery of a decision to its agent, step by step.

use countersign_core::asker::RunOrigin;
use countersign_core::delivery::DeliveryState;
use countersign_core::{Actor, Outcome, Resolution};
use countersign_store::model::{Delivery, PersonView};

use super::presence::AgentPresence;
use crate::language::{error_text, say, t};
use crate::layout::formatting::{DisplayTime, display_time};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryStep {
    /// `done`, `now` or `failed`.
    pub class: &'static str,
    pub text: String,
    pub at: Option<DisplayTime>,
    /// A detail, shown before `then`.
    pub more: Option<String>,
    pub then: Option<DisplayTime>,
}

impl DeliveryStep {
    fn new(class: &'static str, text: impl Into<String>, at: Option<DisplayTime>) -> Self {
        Self {
            class,
            text: text.into(),
            at,
            more: None,
            then: None,
        }
    }
}

pub struct DeliveryProgress {
    pub steps: Vec<DeliveryStep>,
    /// The answer has not arrived yet, so the page shows whether the agent is present.
    pub is_under_way: bool,
    /// An attempt failed, and an owner can retry it.
    pub can_retry: bool,
}

/// An answer counts as arrived only after the agent fetched it or its endpoint accepted it.
pub fn delivery_progress(item: &PersonView, resolution: &Resolution, presence: &AgentPresence) -> DeliveryProgress {
    let mut steps = vec![DeliveryStep::new(
        "done",
        t("Decided"),
        Some(display_time(resolution.resolved_at)),
    )];
    if RunOrigin::of(&item.message.source).is_some() {
        steps.push(DeliveryStep::new("done", run_step_text(resolution.outcome), None));
        return DeliveryProgress {
            steps,
            is_under_way: false,
            can_retry: false,
        };
    }
    let is_its_own = resolution.actor == Actor::agent(&item.message.content.agent.id);
    let fetched = item
        .fetched_at
        .map(|at| DeliveryStep::new("done", t("Fetched by the agent"), Some(display_time(at))));
    let arrived = fetched.is_some() || is_its_own;
    let state = item.delivery.as_ref().map(|delivery| delivery.state);
    let can_retry = item.delivery.as_ref().is_some_and(|delivery| match delivery.state {
        DeliveryState::Failed => true,
        DeliveryState::Pending => delivery.attempts > 0,
        DeliveryState::Delivered => false,
    });
    match &item.delivery {
        Some(delivery) => steps.extend(push_steps(delivery)),
        None if is_its_own => steps.push(DeliveryStep::new("done", t("The agent did this itself"), None)),
        None if arrived => steps.push(DeliveryStep::new("done", t("Waited for the agent"), None)),
        None => steps.push(waiting_step(presence)),
    }
    steps.extend(fetched);
    DeliveryProgress {
        steps,
        is_under_way: !arrived && state != Some(DeliveryState::Delivered),
        can_retry,
    }
}

/// A run lives in the hub, so it gets the answer as soon as it is stored.
fn run_step_text(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Answered => t("The run goes on with it"),
        Outcome::Cancelled => t("The run ended before it was answered"),
        Outcome::Expired => t("The run does not wait any longer"),
        Outcome::Declined | Outcome::Completed | Outcome::Dismissed => t("The run was told"),
    }
}

fn waiting_step(presence: &AgentPresence) -> DeliveryStep {
    let text = match presence {
        AgentPresence::Waiting => t("Being handed to the agent, which waits for it"),
        AgentPresence::RecentlySeen { .. }
        | AgentPresence::Gone { .. }
        | AgentPresence::NeverSeen
        | AgentPresence::Cue { .. } => t("Waiting for the agent to fetch it"),
    };
    DeliveryStep::new("now", text, None)
}

fn push_steps(delivery: &Delivery) -> Vec<DeliveryStep> {
    let attempts = delivery.attempts;
    let host = &delivery.host;
    match delivery.state {
        DeliveryState::Delivered => {
            vec![DeliveryStep::new(
                "done",
                say!("Delivered to {host}", host = host),
                delivery.delivered_at.map(display_time),
            )]
        }
        DeliveryState::Failed => {
            let text = say!(
                "Not delivered to {host}, given up after attempt {count}",
                host = host,
                count = attempts
            );
            vec![DeliveryStep {
                more: failure_reason(delivery),
                ..DeliveryStep::new("failed", text, None)
            }]
        }
        DeliveryState::Pending if attempts == 0 => {
            vec![DeliveryStep::new(
                "now",
                say!("Being delivered to {host}", host = host),
                None,
            )]
        }
        DeliveryState::Pending => {
            let text = say!(
                "Not delivered to {host} yet, attempt {count} failed",
                host = host,
                count = attempts
            );
            let step = DeliveryStep::new("now", text, None);
            vec![DeliveryStep {
                more: failure_reason(delivery),
                then: delivery.next_attempt_at.map(display_time),
                ..step
            }]
        }
    }
}

/// The error of the last attempt, without the host and the number of attempts, which the step already shows.
pub fn failure_reason(delivery: &Delivery) -> Option<String> {
    let error = delivery.last_error.as_deref()?;
    let given_up = format!("given up after {} attempts: ", delivery.attempts);
    let reason = error.strip_prefix(&given_up).unwrap_or(error);
    // "answered 503" needs a subject.
    Some(match reason.strip_prefix("answered ") {
        Some(status) => match status.strip_suffix(": redirects are not followed") {
            Some(status) => say!("it answered {status}: redirects are not followed", status = status),
            None => say!("it answered {status}", status = status),
        },
        None => error_text(reason),
    })
}

#[cfg(test)]
mod tests {
    use countersign_protocol::id::MessageId;
    use countersign_protocol::time::Timestamp;

    use super::*;

    fn delivery(state: DeliveryState, attempts: u32, last_error: &str) -> Delivery {
        Delivery {
            message_id: MessageId::from_uuid(uuid::Uuid::nil()),
            agent_id: "bot".to_owned(),
            host: "hooks.example".to_owned(),
            state,
            attempts,
            created_at: Timestamp::from_millis(0),
            next_attempt_at: None,
            delivered_at: None,
            last_error: Some(last_error.to_owned()),
        }
    }

    #[test]
    fn failed_attempt_shows_its_error_without_repetition() {
        let failing = delivery(DeliveryState::Pending, 1, "answered 503");
        assert_eq!(failure_reason(&failing).as_deref(), Some("it answered 503"));
        let lost = delivery(DeliveryState::Failed, 8, "given up after 8 attempts: no answer in time");
        assert_eq!(failure_reason(&lost).as_deref(), Some("no answer in time"));
        let steps = push_steps(&lost);
        assert_eq!(
            steps[0].text,
            "Not delivered to hooks.example, given up after attempt 8"
        );
    }
}
