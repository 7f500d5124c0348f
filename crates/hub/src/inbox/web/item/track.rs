//! The way of a decision to its agent, step by step.

use countersign_core::delivery::Track;
use countersign_core::{Actor, Resolution};
use countersign_store::model::{Delivery, Item};

use super::presence::Presence;
use crate::inbox::web::words::{Instant, instant};

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
        Self { class, words: words.into(), at, more: None, then: None }
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
    let is_its_own = resolution.actor == Actor::agent(&item.message.content.agent.id);
    let fetched = item.fetched_at.map(|at| Step::new("done", "Fetched by the agent", Some(instant(at))));
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
    Way { steps, is_under_way: !arrived && track != Some(Track::Delivered), can_retry }
}

fn waiting(presence: &Presence) -> Step {
    let words = match presence {
        Presence::Waiting => "Being handed to the agent, which waits for it",
        Presence::Here { .. } | Presence::Gone { .. } | Presence::NeverSeen => "Waiting for the agent to fetch it",
    };
    Step::new("now", words, None)
}

fn pushed(delivery: &Delivery) -> Vec<Step> {
    let attempts = delivery.attempts;
    let to = format!("to {}", delivery.host);
    match delivery.track {
        Track::Delivered => {
            vec![Step::new("done", format!("Delivered {to}"), delivery.delivered_at.map(instant))]
        }
        Track::Failed => {
            let words = format!("Not delivered {to}: given up after attempt {attempts}");
            vec![Step { more: delivery.last_error.clone(), ..Step::new("failed", words, None) }]
        }
        Track::Pending if attempts == 0 => vec![Step::new("now", format!("Being delivered {to}"), None)],
        Track::Pending => {
            let words = format!("Not delivered {to} yet: attempt {attempts} failed");
            let step = Step::new("now", words, None);
            vec![Step { more: delivery.last_error.clone(), then: delivery.next_attempt_at.map(instant), ..step }]
        }
    }
}
