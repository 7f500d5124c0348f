//! What the engine and an agent at work know of each other.

use std::future::Future;
use std::path::Path;

use countersign_core::runs::policy::Judgement;
use countersign_protocol::runs::strategy::AgentDef;
use countersign_protocol::runs::{Record, StreamEvent, Usage};
use serde_json::Value;

/// What an agent at work may do besides thinking. The engine gives it. Who drops the future of `work` stops the agent.
pub trait AgentContext: Send {
    /// Tells whoever watches; nothing of it is kept.
    fn emit(&mut self, event: StreamEvent) -> impl Future<Output = ()> + Send;

    /// Asks people, everything at once, and waits for every answer, in the order of the asks. Should the hub restart
    /// meanwhile, the job begins again with `state` and the answers as [`Resumed`].
    fn ask(&mut self, asks: Vec<AgentAsk>, state: Value) -> impl Future<Output = Result<Vec<String>, String>> + Send;

    /// What the run's policy says about a command.
    fn judge(&self, resource: &str) -> Judgement;

    /// Keeps a decision for the rest of the run.
    fn remember(&mut self, resource: &str, allow: bool) -> impl Future<Output = ()> + Send;
}

#[derive(Debug, Clone, PartialEq)]
pub enum AgentAsk {
    /// The answer is one of the words of `Decision`.
    Permission {
        operation: &'static str,
        resource: String,
        details: Option<Value>,
    },
    Question {
        tool_name: String,
        question: String,
    },
}

/// One call of one agent.
#[derive(Debug)]
pub struct AgentJob<'a> {
    pub run_id: &'a str,
    pub agent: &'a AgentDef,
    pub message: &'a str,
    pub model_override: Option<&'a str>,
    pub cwd: &'a Path,
    /// Records of this run, oldest first; those of other agents are passed over.
    pub earlier: &'a [Record],
    pub resumed: Option<Resumed>,
}

/// Where a job goes on whose questions were answered while, or after, the hub was away.
#[derive(Debug)]
pub struct Resumed {
    pub state: Value,
    pub answers: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct AgentOutcome {
    pub text: String,
    pub usage: Usage,
    pub model: Option<String>,
    pub finish_reason: String,
    /// Role and content, as a record keeps them.
    pub responses: Vec<(String, String)>,
}
