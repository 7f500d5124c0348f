//! The rules of runs: the state machine of a flow, when a run asks a person, and the message that person sees.

pub mod ask;
pub mod break_signal;
mod machine;
pub mod policy;
mod text;

pub use ask::{AskKind, RunAsk, UserTurn, user_turn};
pub use machine::{AgentCall, Machine, MachineAction, Output};
pub use policy::{Judgement, Policy};
pub use text::{MAX_TEXT_BYTES, TooLong, fill_template, with_steering};
