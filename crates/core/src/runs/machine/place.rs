//! From the stack to the part of the strategy it stands for.

use countersign_protocol::runs::strategy::{Flow, Step, Strategy};

use super::frame::{Frame, Work};

/// Why a place may not be found: the stack was stored, and with another strategy it leads nowhere.
pub const LOST: &str = "the run does not fit its strategy";

/// The flow at work: the one the last frame stands for.
pub fn flow<'s>(strategy: &'s Strategy, frames: &[Frame]) -> Option<&'s Flow> {
    let (_, outer) = frames.split_last()?;
    outer
        .iter()
        .try_fold(&strategy.flow, |flow, frame| match frame.work(flow)? {
            Work::Step(Step::Flow(inner)) => Some(inner),
            Work::Step(Step::Agent(_)) | Work::Observer(_) => None,
        })
}

/// Every level says which of its steps did not work.
pub fn failure(strategy: &Strategy, frames: &[Frame], cause: &str) -> String {
    let mut message = String::new();
    let mut flow = Some(&strategy.flow);
    for frame in frames {
        let Some(work) = flow.and_then(|flow| frame.work(flow)) else {
            break;
        };
        let (role, name) = match work {
            Work::Step(step) => ("Step", step.name()),
            Work::Observer(name) => ("Observer", name),
        };
        message.push_str(&format!("{role} \"{name}\" failed: "));
        flow = match work {
            Work::Step(Step::Flow(inner)) => Some(inner),
            Work::Step(Step::Agent(_)) | Work::Observer(_) => None,
        };
    }
    message + cause
}
