//! A conversation with a model: rounds of answers and tool calls, until the model calls no more tools.

use countersign_core::runs::MAX_TEXT_BYTES;
use countersign_protocol::runs::strategy::LlmAgent;
use countersign_protocol::runs::{StreamEvent, Usage};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::attempt::RoundRequest;
use super::body::{RequestTemplate, may_ask};
use super::client::{LlmEndpoint, LlmTimeouts, Models};
use super::excerpt::excerpt;
use super::prompt;
use super::questions::{self, PlannedCall};
use super::response::LlmResponse;
use crate::engine::agents::context::{AgentContext, AgentJob, AgentOutcome, AgentResult};
use crate::settings::MAX_RETRIES;

const DEFAULT_ROUNDS: u32 = 20;

pub async fn talk<D: AgentContext>(
    models: &Models,
    agent: &LlmAgent,
    job: &AgentJob<'_>,
    context: &mut D,
) -> AgentResult {
    let model = job.model_override.or(agent.model.as_deref());
    let model = model.ok_or_else(|| format!("Agent \"{}\" has no model.", job.agent.name))?;
    let (endpoint, name) = models.endpoint_for(model)?;
    let mut timeouts = models.timeouts;
    timeouts.retries = agent
        .model_options
        .max_retries
        .unwrap_or(timeouts.retries)
        .min(MAX_RETRIES);
    let driver = ConversationDriver {
        run_id: job.run_id,
        endpoint,
        timeouts,
        template: RequestTemplate::new(agent, &job.agent.name, name)?,
        opening: prompt::opening(agent, job),
        rounds: agent.max_steps.unwrap_or(DEFAULT_ROUNDS).max(1),
        may_ask: may_ask(agent),
    };
    let talk = match &job.resumed {
        Some(resumed) => LlmConversation::resume(&resumed.state, resumed.answers.clone(), context).await?,
        None => LlmConversation::default(),
    };
    let done = driver.converse(talk, context).await?;
    Ok(AgentOutcome {
        model: Some(model.to_owned()),
        ..done
    })
}

/// The parts of a conversation that stay the same.
struct ConversationDriver<'a> {
    run_id: &'a str,
    endpoint: &'a LlmEndpoint,
    timeouts: LlmTimeouts,
    template: RequestTemplate,
    opening: Vec<Value>,
    rounds: u32,
    may_ask: bool,
}

impl ConversationDriver<'_> {
    async fn converse<D: AgentContext>(&self, mut talk: LlmConversation, context: &mut D) -> AgentResult {
        loop {
            context.emit(StreamEvent::StepStart).await;
            let is_last = talk.rounds + 1 >= self.rounds;
            let answer = self
                .endpoint
                .round(self.timeouts, self.round_request(&talk, is_last), context)
                .await?;
            if answer.calls.is_empty() || (is_last && !answer.text.is_empty()) {
                return Ok(talk.done(answer));
            }
            if is_last {
                return Err(self.round_limit_error(answer));
            }
            let planned = talk.take(answer, self.may_ask);
            for call in &planned {
                context.emit(call.event()).await;
            }
            let asks = questions::asks(&planned);
            let answers = if asks.is_empty() {
                Vec::new()
            } else {
                context.ask(asks, talk.state(&planned)).await?
            };
            talk.answer(planned, answers, context).await?;
        }
    }

    fn round_limit_error(&self, answer: LlmResponse) -> String {
        let rounds = self.rounds;
        match questions::unavailable_tool(&answer.calls.finish(), self.may_ask) {
            Some(name) => {
                let name = excerpt(name.as_bytes(), None);
                format!("the model called {name:?} in round {rounds} of {rounds}, a tool it was not given")
            }
            None => format!("the model still called tools in round {rounds} of {rounds}; raise maxSteps"),
        }
    }

    fn round_request(&self, talk: &LlmConversation, is_last: bool) -> RoundRequest {
        let messages: Vec<Value> = self.opening.iter().chain(&talk.messages).cloned().collect();
        let body = self.template.text(&messages, is_last).into();
        RoundRequest {
            run_id: self.run_id.to_owned(),
            body,
            number: talk.rounds,
            max_bytes: talk.left,
        }
    }
}

/// The state that grows from round to round. It is stored with a question, so that the conversation resumes after a
/// restart.
#[derive(Serialize, Deserialize)]
struct LlmConversation {
    /// Messages after the opening, in the format of the endpoint.
    messages: Vec<Value>,
    responses: Vec<(String, String)>,
    usage: Usage,
    rounds: u32,
    /// Remaining byte budget for the output of the model.
    left: usize,
}

impl Default for LlmConversation {
    fn default() -> Self {
        Self {
            messages: Vec::new(),
            responses: Vec::new(),
            usage: Usage::default(),
            rounds: 0,
            left: MAX_TEXT_BYTES,
        }
    }
}

#[derive(Deserialize)]
struct SavedConversation {
    talk: LlmConversation,
    calls: Vec<PlannedCall>,
}

impl LlmConversation {
    fn state(&self, calls: &[PlannedCall]) -> Value {
        json!({"talk": self, "calls": calls})
    }

    async fn resume<D: AgentContext>(state: &Value, answers: Vec<String>, context: &mut D) -> Result<Self, String> {
        let SavedConversation { mut talk, calls } = SavedConversation::deserialize(state)
            .map_err(|error| format!("the stored conversation of this agent cannot be read: {error}"))?;
        talk.answer(calls, answers, context).await?;
        Ok(talk)
    }

    /// Adds a round that ended with tool calls.
    fn take(&mut self, answer: LlmResponse, may_ask: bool) -> Vec<PlannedCall> {
        self.rounds += 1;
        self.left = answer.bytes_left();
        self.usage.add(answer.usage);
        let planned = questions::plan(answer.calls.finish(), may_ask);
        let calls: Vec<Value> = planned.iter().map(PlannedCall::message).collect();
        let content = if answer.text.is_empty() {
            Value::Null
        } else {
            json!(answer.text)
        };
        self.messages
            .push(json!({"role": "assistant", "content": content, "tool_calls": calls}));
        if !answer.text.is_empty() {
            self.responses.push(("assistant".to_owned(), answer.text));
        }
        planned
    }

    async fn answer<D: AgentContext>(
        &mut self,
        calls: Vec<PlannedCall>,
        answers: Vec<String>,
        context: &mut D,
    ) -> Result<(), String> {
        for answered in questions::answered(calls, answers)? {
            context.emit(answered.event()).await;
            self.messages.push(answered.message());
            self.responses.push(("tool".to_owned(), answered.output));
        }
        Ok(())
    }

    /// Adds the last round and returns the outcome.
    fn done(mut self, answer: LlmResponse) -> AgentOutcome {
        self.usage.add(answer.usage);
        self.responses.push(("assistant".to_owned(), answer.text.clone()));
        AgentOutcome {
            text: answer.text,
            usage: self.usage,
            context_usage: answer.context_usage,
            model: None,
            finish_reason: answer.finish_reason.unwrap_or_else(|| "unknown".to_owned()),
            responses: self.responses,
        }
    }
}
