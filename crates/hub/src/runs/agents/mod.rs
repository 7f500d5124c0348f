//! Agents at work: a model, a command, or a few words of our own. Nothing here knows what a run is beyond its one job.

mod command;
mod llm;
mod plain;
mod seam;
mod work;

pub use seam::{AgentAsk, AgentContext, AgentJob, AgentOutcome, Resumed};
pub use work::{Tools, work};
