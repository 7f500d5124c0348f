//! The agents: models, commands, echo and template. They know only their own job, not the run.

mod command;
mod llm;
mod plain;
mod seam;
mod work;

pub use seam::{AgentAsk, AgentContext, AgentJob, AgentOutcome, Resumed};
pub use work::{Tools, work};
