//! The task of one run. It alone drives the run, from one agent call to the next; everything else sends it commands.

mod asks;
mod commit;
mod end;
mod job;
mod model_history;

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex};

use countersign_core::runs::{AgentCall, AskKind, MachineAction, Output, Policy, UserTurn, user_turn};
use countersign_protocol::id::MessageId;
use countersign_protocol::runs::strategy::{AgentDef, AgentKind, Step, UserAgent};
use countersign_protocol::runs::{ChatMessage, ContextUsage, Event, Record, StepResult, StreamEvent, Usage};
use countersign_protocol::time::Timestamp;
use countersign_store::ops::run::RunPhase;
use futures_util::FutureExt;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use self::asks::PendingAnswer;
use self::commit::EventBuffer;
use self::model_history::ModelHistory;
use super::agents::{AgentOutcome, Resumed};
use super::checkpoint::Checkpoint;
use super::commands::{CommandQueue, RunCommand};
use super::plan::{RunPlan, Segment};
use crate::run::TrackedRun;
use crate::service::RunService;

pub use asks::restore_ask;
pub use end::{cancelled, restarted};

const STOP: &str = "stop";

pub struct RunTask {
    pub(crate) service: Arc<RunService>,
    pub(crate) run: Arc<TrackedRun>,
    pub(crate) plan: Arc<RunPlan>,
    pub(crate) segment: Segment,
    pub(crate) checkpoint: Checkpoint,
    pub(crate) event_buffer: EventBuffer,
    /// The phase as stored.
    pub(crate) phase: RunPhase,
    pub(crate) commands: CommandQueue,
    /// Asks not yet answered.
    pub(crate) open: Vec<MessageId>,
    /// Asks of an earlier process.
    pub(crate) restored_asks: Vec<PendingAnswer>,
    pub(crate) model_history: ModelHistory,
    /// Finish reason of the last agent.
    pub(crate) finish_reason: String,
    /// Context usage of the last agent.
    pub(crate) context_usage: Option<ContextUsage>,
    /// The policy as a working agent sees it.
    pub(crate) shared_policy: Arc<Mutex<Policy>>,
    /// Stop requests to answer once the run has ended.
    pub(crate) stopped: Vec<oneshot::Sender<()>>,
    /// The end is being stored; further stop commands change nothing.
    pub(crate) is_ending: bool,
}

/// The input of a task that starts a segment or resumes one.
pub struct TaskStart {
    pub run: Arc<TrackedRun>,
    /// The node id that owns the run. If this process has a new node id by now, it no longer owns the run.
    pub node: String,
    pub plan: Arc<RunPlan>,
    pub segment: Segment,
    pub checkpoint: Checkpoint,
    pub last_seq: u64,
    pub command_receiver: mpsc::Receiver<RunCommand>,
    pub restored_asks: Vec<PendingAnswer>,
    /// The store has earlier records of this run.
    pub has_past: bool,
}

/// The side that cancelled a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    ByClient,
    ByTheHub,
}

/// Why the task of a run ends.
pub(crate) enum Halt {
    Completed(Output),
    Failed(String),
    Cancelled(Stopped),
    /// The hub stops; the run resumes after the next start.
    Suspended,
    /// The segment has ended in the store, or another node owns it.
    OwnershipLost,
}

impl RunTask {
    pub fn new(service: Arc<RunService>, start: TaskStart) -> Self {
        let TaskStart {
            run,
            node,
            plan,
            segment,
            checkpoint,
            last_seq,
            command_receiver,
            restored_asks,
            has_past,
        } = start;
        Self {
            event_buffer: EventBuffer::new(&run.id, &node, segment.number, segment.request_id.clone(), last_seq),
            open: restored_asks.iter().map(|waiting| waiting.id.clone()).collect(),
            shared_policy: Arc::new(Mutex::new(checkpoint.policy.clone())),
            model_history: if has_past {
                ModelHistory::unread()
            } else {
                ModelHistory::empty()
            },
            finish_reason: String::new(),
            context_usage: None,
            phase: RunPhase::Between,
            stopped: Vec::new(),
            is_ending: false,
            service,
            run,
            plan,
            segment,
            checkpoint,
            commands: command_receiver.into(),
            restored_asks,
        }
    }

    pub fn spawn(mut self) {
        tokio::spawn(async move {
            self.service.host.run_changed(&self.run.id);
            // After a panic the run itself can still be ended.
            let Err(halt) = AssertUnwindSafe(self.drive())
                .catch_unwind()
                .await
                .unwrap_or_else(|_panic| {
                    tracing::error!(run_id = self.run.id, "run task panicked");
                    Err(Halt::Failed("The hub failed. The hub's log has the cause.".to_owned()))
                });
            // Boxed, so that waiting runs do not hold the memory of this large future.
            Box::pin(self.end(halt)).await;
        });
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.service.store.clock().now()
    }

    pub(crate) async fn drive(&mut self) -> Result<Infallible, Halt> {
        loop {
            while let Some(command) = self.commands.try_next() {
                self.handle_command(command).await?;
            }
            match self.checkpoint.machine.next(&self.plan.strategy) {
                MachineAction::StepStarted {
                    name: step_name,
                    message,
                } => self.buffer_event(&Event::StepStarted { step_name, message }),
                MachineAction::StepCompleted { name, output } => self.buffer_step_completed(name, output),
                MachineAction::Call(call) => {
                    let plan = Arc::clone(&self.plan);
                    let Some(agent) = plan.strategy.agent(&call.agent) else {
                        return Err(self.failed(&format!("agent {:?} is not defined", call.agent)));
                    };
                    let output = match &agent.kind {
                        AgentKind::User(user) => self.call_user(user, call).await?,
                        AgentKind::Echo | AgentKind::Template { .. } | AgentKind::Llm(_) | AgentKind::Command(_) => {
                            // Boxed, so that a run that waits for a person does not hold the memory of this large future.
                            Box::pin(self.call_agent(agent, call)).await?
                        }
                    };
                    self.checkpoint.steered = None;
                    self.checkpoint.machine.supply(&self.plan.strategy, output);
                }
                MachineAction::Finished { output } => return Err(Halt::Completed(output)),
                MachineAction::Failed { message } => return Err(Halt::Failed(message)),
            }
            if self.event_buffer.is_full() {
                self.commit(RunPhase::Between).await?;
            }
        }
    }

    /// Adds an event to the next commit.
    pub(crate) fn buffer_event(&mut self, event: &Event) {
        let now = self.now();
        self.event_buffer.add(event, now);
    }

    /// A step that is an agent takes the finish reason and the context of the agent; a flow has `stop` and no context.
    fn buffer_step_completed(&mut self, step_name: String, Output { text, usage }: Output) {
        let is_agent = |step: &Step| matches!(step, Step::Agent(name) if *name == step_name);
        let (finish_reason, context_usage) = match self.plan.strategy.flow.steps.iter().any(is_agent) {
            true => (self.finish_reason.clone(), self.context_usage),
            false => (STOP.to_owned(), None),
        };
        let result = StepResult {
            text,
            usage,
            context_usage,
            finish_reason,
        };
        self.buffer_event(&Event::StepCompleted { step_name, result });
    }

    async fn call_user(&mut self, user: &UserAgent, call: AgentCall) -> Result<Output, Halt> {
        let text = match user_turn(user, &call, &self.segment.input) {
            UserTurn::Passes(text) => text,
            UserTurn::Asks { prompt } => {
                let mut waiting = std::mem::take(&mut self.restored_asks);
                if waiting.is_empty() {
                    let questions = vec![AskKind::Input { prompt }];
                    waiting = self.ask(&call.agent, questions, call.number, Value::Null).await?;
                }
                let answers = self.wait_for_answers(waiting, &call.agent).await?;
                let texts = answers.map_err(|cause| self.failed(&cause))?;
                texts.into_iter().next().unwrap_or_default()
            }
        };
        let usage = Usage::default();
        let responses = vec![ChatMessage::assistant(text.clone())];
        STOP.clone_into(&mut self.finish_reason);
        self.context_usage = None;
        self.record(&call, call.message.clone(), &text, usage, responses)?;
        Ok(Output { text, usage })
    }

    async fn call_agent(&mut self, agent: &AgentDef, call: AgentCall) -> Result<Output, Halt> {
        let is_resumed = !self.restored_asks.is_empty();
        let message = self.checkpoint.message(call.message.clone(), is_resumed);
        let resumed = self.resumed(&agent.name).await?;
        let done = match self.work(agent, &message, &call, resumed).await? {
            Ok(done) => done,
            Err(cause) => return Err(self.failed(&cause)),
        };
        let AgentOutcome {
            text,
            usage,
            context_usage,
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
            context_usage,
        };
        self.buffer_event(&output);
        let result = StepResult {
            text: text.clone(),
            usage,
            context_usage,
            finish_reason: finish_reason.clone(),
        };
        self.buffer_event(&Event::AgentStreaming {
            agent_name,
            model,
            event: StreamEvent::Done { result },
        });
        self.finish_reason = finish_reason;
        self.context_usage = context_usage;
        let responses = responses
            .into_iter()
            .map(|(role, content)| ChatMessage { role, content })
            .collect();
        self.record(&call, message, &text, usage, responses)?;
        Ok(Output { text, usage })
    }

    /// Waits for the asks that an agent of an earlier process left open.
    async fn resumed(&mut self, agent_name: &str) -> Result<Option<Resumed>, Halt> {
        let restored_asks = std::mem::take(&mut self.restored_asks);
        let Some(first) = restored_asks.first() else {
            return Ok(None);
        };
        let of = first.body.of;
        let state = first.body.state.clone();
        if restored_asks.len() != of {
            return Err(self.failed(&format!(
                "a question of agent {agent_name:?} is no longer stored, so the run cannot resume"
            )));
        }
        match self.wait_for_answers(restored_asks, agent_name).await? {
            Ok(answers) => Ok(Some(Resumed { state, answers })),
            Err(cause) => Err(self.failed(&cause)),
        }
    }

    fn record(
        &mut self,
        call: &AgentCall,
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
            context_usage: self.context_usage,
            finish_reason: self.finish_reason.clone(),
        };
        self.event_buffer
            .record(&record)
            .map_err(|error| Halt::Failed(error.to_string()))?;
        if self.plan.model_of(&call.agent).is_some() {
            self.model_history.add(record);
        }
        Ok(())
    }

    pub(crate) fn failed(&self, cause: &str) -> Halt {
        Halt::Failed(self.checkpoint.machine.failure(&self.plan.strategy, cause))
    }
}
