//! The agents: models, commands, echo and template. They know only their own job, not the run.

mod command;
mod context;
mod llm;
mod plain;
mod work;

pub use context::{AgentAsk, AgentContext, AgentJob, AgentOutcome, Resumed};
pub use work::{Tools, work};
