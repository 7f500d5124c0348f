//! Mapping the stack of frames to the strategy.

use countersign_protocol::runs::strategy::{Flow, Step, Strategy};

use super::frame::{CurrentWork, FlowFrame};

/// The error for a stored stack that does not match the strategy.
pub const STRATEGY_MISMATCH: &str = "the stored position of the run does not match its strategy";

/// The active flow, which the last frame belongs to.
pub fn flow<'s>(strategy: &'s Strategy, frames: &[FlowFrame]) -> Option<&'s Flow> {
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
