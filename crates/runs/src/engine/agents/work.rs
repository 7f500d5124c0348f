//! Dispatch from an agent's definition to its implementation.

use anyhow::Result;
use countersign_protocol::runs::strategy::AgentKind;

use super::command::{self, Commander};
use super::context::{AgentContext, AgentJob, AgentOutcome};
use super::llm::{self, Models};
use super::plain;
use crate::settings::{LlmSettings, RunsSettings};

/// The resources of agents: model endpoints and command settings.
pub struct Tools {
    models: Models,
    commander: Commander,
}

impl Tools {
    /// Fails if a configured API key cannot be read.
    pub fn new(runs: &RunsSettings, llm: &LlmSettings) -> Result<Self> {
        Ok(Self {
            models: Models::new(llm)?,
            commander: Commander::new(runs, llm),
        })
    }
}

/// Runs one job. The error is a sentence for the person who started the run.
pub async fn work<D: AgentContext>(tools: &Tools, job: AgentJob<'_>, context: &mut D) -> Result<AgentOutcome, String> {
    match &job.agent.kind {
        AgentKind::Llm(agent) => llm::talk(&tools.models, agent, &job, context).await,
        AgentKind::Command(agent) => command::run(&tools.commander, agent, &job, context).await,
        AgentKind::Echo => Ok(plain::echo(job.message)),
        AgentKind::Template { template } => plain::fill(template, job.message),
        AgentKind::User(_) => Err(format!(
            "Agent \"{}\" is a user agent and cannot be run as a job.",
            job.agent.name
        )),
    }
}
