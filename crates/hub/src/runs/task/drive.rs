//! From one agent to the next, until there is a result or a reason to end without one.

use countersign_core::runs::user::{self, UserTurn};
use countersign_core::runs::{Action, Call, Output};
use countersign_protocol::runs::strategy::{AgentDef, AgentKind, Step, UserAgent};
use countersign_protocol::runs::{ChatMessage, Event, Record, StepResult, StreamEvent, Usage};
use countersign_store::ops::run::Phase;
use uuid::Uuid;

use super::state::{Halt, Task};
use crate::runs::agents::{Done, Resumed};

const STOP: &str = "stop";

impl Task {
    pub(super) async fn drive(&mut self) -> Halt {
        loop {
            if let Err(halt) = self.step().await {
                return halt;
            }
        }
    }

    async fn step(&mut self) -> Result<(), Halt> {
        while let Some(mail) = self.mail.try_next() {
            self.heed(mail).await?;
        }
        match self.standing.machine.next(&self.plan.strategy) {
            Action::StepStarted {
                name: step_name,
                message,
            } => self.note(&Event::StepStarted { step_name, message }),
            Action::StepCompleted { name, output } => self.note_completed(name, output),
            Action::Call(call) => {
                let output = self.call(call).await?;
                self.standing.steered = None;
                self.standing.machine.supply(&self.plan.strategy, output);
            }
            Action::Finished { output } => return Err(Halt::Completed(output)),
            Action::Failed { message } => return Err(Halt::Failed(message)),
        }
        if self.ledger.is_full() {
            self.commit(Phase::Between).await
        } else {
            Ok(())
        }
    }

    pub(super) fn note(&mut self, event: &Event) {
        let now = self.now();
        self.ledger.add(event, now);
    }

    /// A step that is an agent ends as the agent did; a flow has no reason of its own.
    fn note_completed(&mut self, step_name: String, Output { text, usage }: Output) {
        let is_agent = |step: &Step| matches!(step, Step::Agent(name) if *name == step_name);
        let finish_reason = match self.plan.strategy.flow.steps.iter().any(is_agent) {
            true => self.finish_reason.clone(),
            false => STOP.to_owned(),
        };
        let result = StepResult {
            text,
            usage,
            finish_reason,
        };
        self.note(&Event::StepCompleted { step_name, result });
    }

    async fn call(&mut self, call: Call) -> Result<Output, Halt> {
        let plan = std::sync::Arc::clone(&self.plan);
        let Some(agent) = plan.strategy.agent(&call.agent) else {
            return Err(self.failed(&format!("agent {:?} is not defined", call.agent)));
        };
        match &agent.kind {
            AgentKind::User(user) => self.call_user(user, call).await,
            AgentKind::Echo | AgentKind::Template { .. } | AgentKind::Llm(_) | AgentKind::Command(_) => {
                // Boxed: a run that waits for a person does not need the room for it.
                Box::pin(self.call_agent(agent, call)).await
            }
        }
    }

    async fn call_user(&mut self, user: &UserAgent, call: Call) -> Result<Output, Halt> {
        let text = match user::act(user, &call, &self.segment.input) {
            UserTurn::Passes(text) => text,
            UserTurn::Asks { prompt } => match self.ask_for_input(&call, prompt).await? {
                Ok(text) => text,
                Err(cause) => return Err(self.failed(&cause)),
            },
        };
        let usage = Usage::default();
        let responses = vec![ChatMessage::assistant(text.clone())];
        STOP.clone_into(&mut self.finish_reason);
        self.record(&call, call.message.clone(), &text, usage, responses)?;
        Ok(Output { text, usage })
    }

    async fn call_agent(&mut self, agent: &AgentDef, call: Call) -> Result<Output, Halt> {
        let is_resumed = !self.left.is_empty();
        let message = self.standing.message(call.message.clone(), is_resumed);
        let resumed = self.resumed(&agent.name).await?;
        let done = match self.work(agent, &message, &call, resumed).await? {
            Ok(done) => done,
            Err(cause) => return Err(self.failed(&cause)),
        };
        let Done {
            text,
            usage,
            model,
            finish_reason,
            responses,
        } = done;
        let agent_name = agent.name.clone();
        let output = Event::AgentOutput {
            agent_name: agent_name.clone(),
            model: model.clone(),
            text: text.clone(),
            usage,
        };
        self.note(&output);
        let result = StepResult {
            text: text.clone(),
            usage,
            finish_reason: finish_reason.clone(),
        };
        self.note(&Event::AgentStreaming {
            agent_name,
            model,
            event: StreamEvent::Done { result },
        });
        self.finish_reason = finish_reason;
        let responses = responses
            .into_iter()
            .map(|(role, content)| ChatMessage { role, content })
            .collect();
        self.record(&call, message, &text, usage, responses)?;
        Ok(Output { text, usage })
    }

    /// What a job had asked when an earlier process ended, once all of it is answered.
    async fn resumed(&mut self, agent_name: &str) -> Result<Option<Resumed>, Halt> {
        let left = std::mem::take(&mut self.left);
        let Some(first) = left.first() else { return Ok(None) };
        let of = first.body.of;
        let state = first.body.state.clone();
        if left.len() != of {
            return Err(self.failed(&format!("a question of agent {agent_name:?} is not kept any more")));
        }
        match self.answers(left, agent_name).await? {
            Ok(answers) => Ok(Some(Resumed { state, answers })),
            Err(cause) => Err(self.failed(&cause)),
        }
    }

    fn record(
        &mut self,
        call: &Call,
        message: String,
        text: &str,
        usage: Usage,
        response_messages: Vec<ChatMessage>,
    ) -> Result<(), Halt> {
        let is_first = call.number == 0;
        let id = if is_first {
            self.segment.first_record_id.clone()
        } else {
            Uuid::new_v4().to_string()
        };
        let record = Record {
            id,
            agent_name: call.agent.clone(),
            created_at: self.now(),
            user_message: ChatMessage::user(message),
            response_messages,
            text: text.to_owned(),
            usage,
            finish_reason: self.finish_reason.clone(),
        };
        self.ledger
            .record(&record)
            .map_err(|error| Halt::Failed(error.to_string()))?;
        if self.plan.model_of(&call.agent).is_some() {
            self.memory.add(record);
        }
        Ok(())
    }

    pub(super) fn failed(&self, cause: &str) -> Halt {
        Halt::Failed(self.standing.machine.failure(&self.plan.strategy, cause))
    }
}
