//! The strategy file: its agents, and the flow in which they run.

mod agents;
mod error;
mod flow;
mod format;
mod jsonc;
mod llm;
mod locate;
mod loop_check;
mod model;
mod read;
mod references;
mod text;
mod yaml;

pub use super::fault::{Fault, MAX_FAULTS, Position};
pub use error::StrategyError;
pub use format::StrategyFormat;
pub use model::{
    AgentDef, AgentKind, CommandAgent, Cycle, Flow, FlowKind, LlmAgent, Match, ModelOptions, PromptTemplate, Step,
    Strategy, UserAgent,
};
pub use read::{MAX_BYTES, read};
pub use yaml::parse as parse_yaml;
