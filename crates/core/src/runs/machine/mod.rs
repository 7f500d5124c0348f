//! The state machine of a flow. Its position is a stack, so that it can be stored between any two actions and resumed.

mod action;
mod frame;
mod position;
mod state;

pub use action::{AgentCall, MachineAction, Output};
pub use state::Machine;
