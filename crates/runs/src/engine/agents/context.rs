//! The interface between the run task and a working agent.

use std::future::Future;
use std::path::Path;

use countersign_core::runs::{AskKind, Judgement};
use countersign_protocol::runs::strategy::AgentDef;
use countersign_protocol::runs::{ContextUsage, Record, StreamEvent, Usage};
use serde_json::Value;

/// The calls that a working agent can make to its run task. Dropping the future of `work` stops the agent.
pub trait AgentContext: Send {
    /// Streams an event to followers; it is not stored.
    fn emit(&mut self, event: StreamEvent) -> impl Future<Output = ()> + Send;

    /// Asks people, all questions at once, and returns the answers in the order of the asks. If the hub restarts
    /// meanwhile, the job starts again with `state` and the answers as [`Resumed`].
    fn ask(&mut self, asks: Vec<AskKind>, state: Value) -> impl Future<Output = Answers> + Send;

    /// The verdict of the run's policy on a command.
    fn judge(&self, resource: &str) -> Judgement;

    /// Stores a decision for the rest of the run.
    fn remember(&mut self, resource: &str, allow: bool) -> impl Future<Output = ()> + Send;
}

/// The answers in the order of the asks, or the reason why one of them is missing.
pub type Answers = Result<Vec<String>, String>;

/// One call of one agent.
#[derive(Debug)]
pub struct AgentJob<'a> {
    pub run_id: &'a str,
    pub agent: &'a AgentDef,
    pub message: &'a str,
    pub model_override: Option<&'a str>,
    pub cwd: &'a Path,
    /// Records of this run, oldest first; records of other agents are skipped.
    pub earlier: &'a [Record],
    pub resumed: Option<Resumed>,
}

/// The state of a job that resumes after a restart, with the answers to its questions.
#[derive(Debug)]
pub struct Resumed {
    pub state: Value,
    pub answers: Vec<String>,
}

/// The outcome of an agent call, or the reason why it failed.
pub type AgentResult = Result<AgentOutcome, String>;

#[derive(Debug, Clone, PartialEq)]
pub struct AgentOutcome {
    pub text: String,
    pub usage: Usage,
    /// Of the last round, if the endpoint reported it.
    pub context_usage: Option<ContextUsage>,
    pub model: Option<String>,
    pub finish_reason: String,
    /// Role and content, as stored in a record.
    pub responses: Vec<(String, String)>,
}
