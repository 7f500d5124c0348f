//! One active flow: its position, and how it consumes the output of a step.

use std::mem::take;

use countersign_protocol::runs::Usage;
use countersign_protocol::runs::strategy::{Flow, FlowKind, Match, Step, Strategy};
use serde::{Deserialize, Serialize};

use super::Output;
use crate::runs::break_signal;
use crate::runs::text::{TooLong, check_bytes};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowFrame {
    /// Index of the current step; past the last one, the observer is current.
    step: usize,
    /// Input of the current step, or the result of the steps while the observer runs. Emptied once it is no longer
    /// needed.
    message: String,
    /// For a broadcast: the joined outputs so far.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    joined: String,
    /// Completed rounds of a cycle.
    rounds: u64,
    usage: Usage,
}

pub enum CurrentWork<'s> {
    Step(&'s Step),
    Observer(&'s str),
}

struct Cycle<'s> {
    cycles: Option<u64>,
    observer: Option<&'s str>,
    signals: &'s [String],
    matching: Match,
}

impl FlowFrame {
    pub fn new(message: String) -> Self {
        Self {
            step: 0,
            message,
            joined: String::new(),
            rounds: 0,
            usage: Usage::default(),
        }
    }

    pub fn message(&self) -> &str {
        &self.message
    }

    pub fn work<'s>(&self, flow: &'s Flow) -> Option<CurrentWork<'s>> {
        match (flow.steps.get(self.step), &flow.kind) {
            (Some(step), _) => Some(CurrentWork::Step(step)),
            (
                None,
                FlowKind::Cycle {
                    observer: Some(name), ..
                },
            ) => Some(CurrentWork::Observer(name)),
            (None, FlowKind::Cycle { observer: None, .. } | FlowKind::Sequential | FlowKind::Broadcast { .. }) => None,
        }
    }

    /// The message for a nested flow. Only a broadcast needs it again.
    pub fn take_message(&mut self, flow: &Flow) -> String {
        match flow.kind {
            FlowKind::Broadcast { .. } => self.message.clone(),
            FlowKind::Sequential | FlowKind::Cycle { .. } => take(&mut self.message),
        }
    }

    /// Consumes the output of a step. Returns the output of the flow once the flow is done.
    pub fn absorb(&mut self, flow: &Flow, output: Output) -> Result<Option<Output>, TooLong> {
        match &flow.kind {
            FlowKind::Sequential => Ok(self.pass_on(flow, output)),
            FlowKind::Broadcast { separator } => self.join(flow, output, separator),
            FlowKind::Cycle {
                cycles,
                observer,
                signals,
                matching,
            } => {
                let observer = observer.as_deref();
                Ok(self.next_round(
                    flow,
                    output,
                    &Cycle {
                        cycles: *cycles,
                        observer,
                        signals,
                        matching: *matching,
                    },
                ))
            }
        }
    }

    fn pass_on(&mut self, flow: &Flow, output: Output) -> Option<Output> {
        self.usage.add(output.usage);
        self.message = output.text;
        self.step += 1;
        (self.step >= flow.steps.len()).then(|| self.result())
    }

    fn join(&mut self, flow: &Flow, output: Output, separator: &str) -> Result<Option<Output>, TooLong> {
        let separator = if self.step == 0 { "" } else { separator };
        check_bytes(self.joined.len() + separator.len() + output.text.len())?;
        self.usage.add(output.usage);
        self.joined.push_str(separator);
        self.joined.push_str(&output.text);
        self.step += 1;
        if self.step < flow.steps.len() {
            return Ok(None);
        }
        self.message = take(&mut self.joined);
        Ok(Some(self.result()))
    }

    /// The usage of an observer does not count for the flow.
    fn next_round(&mut self, flow: &Flow, output: Output, cycle: &Cycle<'_>) -> Option<Output> {
        if self.step >= flow.steps.len() {
            if break_signal::breaks(&output.text, cycle.signals, cycle.matching) {
                return Some(self.result());
            }
            self.message = output.text;
        } else {
            self.usage.add(output.usage);
            self.message = output.text;
            self.step += 1;
            if self.step < flow.steps.len() || cycle.observer.is_some() {
                return None;
            }
        }
        self.rounds = self.rounds.saturating_add(1);
        if cycle.cycles.is_some_and(|cycles| self.rounds >= cycles) {
            return Some(self.result());
        }
        self.step = 0;
        None
    }

    fn result(&mut self) -> Output {
        Output {
            text: take(&mut self.message),
            usage: self.usage,
        }
    }
}

/// The active flow, which the last frame belongs to.
pub fn current_flow<'s>(strategy: &'s Strategy, frames: &[FlowFrame]) -> Option<&'s Flow> {
    let (_, outer) = frames.split_last()?;
    outer
        .iter()
        .try_fold(&strategy.flow, |flow, frame| match frame.work(flow)? {
            CurrentWork::Step(Step::Flow(inner)) => Some(inner),
            CurrentWork::Step(Step::Agent(_)) | CurrentWork::Observer(_) => None,
        })
}

/// Names the failed step of every level.
pub fn failure(strategy: &Strategy, frames: &[FlowFrame], cause: &str) -> String {
    let mut message = String::new();
    let mut flow = Some(&strategy.flow);
    for frame in frames {
        let Some(work) = flow.and_then(|flow| frame.work(flow)) else {
            break;
        };
        let (role, name) = match work {
            CurrentWork::Step(step) => ("Step", step.name()),
            CurrentWork::Observer(name) => ("Observer", name),
        };
        message.push_str(&format!("{role} \"{name}\" failed: "));
        flow = match work {
            CurrentWork::Step(Step::Flow(inner)) => Some(inner),
            CurrentWork::Step(Step::Agent(_)) | CurrentWork::Observer(_) => None,
        };
    }
    message + cause
}
