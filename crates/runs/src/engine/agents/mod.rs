//! The agents: models, commands, echo and template. They know only their own job, not the run.

mod command;
mod context;
mod llm;

use anyhow::Result;
use countersign_core::runs::fill_template;
use countersign_protocol::runs::Usage;
use countersign_protocol::runs::strategy::AgentKind;

use self::command::Commander;
use self::llm::Models;
use crate::settings::{LlmSettings, RunsSettings};

pub use context::{AgentContext, AgentJob, AgentOutcome, AgentResult, Answers, Resumed};

const ASSISTANT: &str = "assistant";

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
pub async fn work<D: AgentContext>(tools: &Tools, job: AgentJob<'_>, context: &mut D) -> AgentResult {
    match &job.agent.kind {
        AgentKind::Llm(agent) => llm::talk(&tools.models, agent, &job, context).await,
        AgentKind::Command(agent) => command::run(&tools.commander, agent, &job, context).await,
        AgentKind::Echo => Ok(text_outcome(job.message.to_owned())),
        AgentKind::Template { template } => fill_template(template, job.message)
            .map(text_outcome)
            .map_err(|error| error.to_string()),
        AgentKind::User(_) => Err(format!(
            "Agent \"{}\" is a user agent and cannot be run as a job.",
            job.agent.name
        )),
    }
}

/// The outcome of an agent without a model.
fn text_outcome(text: String) -> AgentOutcome {
    AgentOutcome {
        responses: vec![(ASSISTANT.to_owned(), text.clone())],
        text,
        usage: Usage::default(),
        context_usage: None,
        model: None,
        finish_reason: "stop".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_echo_gives_back_what_it_was_given() {
        let done = text_outcome("  tides\n".to_owned());
        assert_eq!(done.text, "  tides\n");
        assert_eq!(done.finish_reason, "stop");
        assert_eq!(done.usage, Usage::default());
        assert_eq!(done.responses, [(ASSISTANT.to_owned(), "  tides\n".to_owned())]);
    }
}
