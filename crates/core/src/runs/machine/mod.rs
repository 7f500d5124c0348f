//! Where a run stands in its flow. The place is a stack, so that it can be stored between any two actions and taken up again.

mod action;
mod frame;
mod place;
mod state;

pub use action::{AgentCall, MachineAction, Output};
pub use state::Machine;
