//! One agent call, and the requests of the agent during it.

use std::path::Path;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use countersign_core::runs::{AgentCall, AskKind, Judgement, Policy};
use countersign_protocol::runs::strategy::{AgentDef, AgentKind};
use countersign_protocol::runs::{Event, StreamEvent};
use countersign_store::ops::run::RunPhase;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use super::{Halt, RunTask};
use crate::engine::agents::{self, AgentContext, AgentJob, AgentResult, Answers, Resumed};
use crate::follow::broadcast::RunUpdate;

/// Requests queued before the task handles them.
const REQUEST_QUEUE_CAPACITY: usize = 64;

/// A request of a working agent; the task of the run handles them in order.
enum AgentRequest {
    Stream(StreamEvent),
    Ask {
        asks: Vec<AskKind>,
        state: Value,
        answers: oneshot::Sender<Answers>,
    },
    Remember {
        resource: String,
        allow: bool,
        remembered: oneshot::Sender<()>,
    },
}

struct TaskContext {
    requests: mpsc::Sender<AgentRequest>,
    shared_policy: Arc<Mutex<Policy>>,
}

impl AgentContext for TaskContext {
    async fn emit(&mut self, event: StreamEvent) {
        // A closed channel means that the run has ended, and this future is about to be dropped.
        let _ = self.requests.send(AgentRequest::Stream(event)).await;
    }

    async fn ask(&mut self, asks: Vec<AskKind>, state: Value) -> Answers {
        let (answers, answered) = oneshot::channel();
        let _ = self.requests.send(AgentRequest::Ask { asks, state, answers }).await;
        answered.await.unwrap_or_else(|_| Err("the run has ended".to_owned()))
    }

    fn judge(&self, resource: &str) -> Judgement {
        self.shared_policy
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .judge(resource)
    }

    async fn remember(&mut self, resource: &str, allow: bool) {
        let (remembered, done) = oneshot::channel();
        let _ = self
            .requests
            .send(AgentRequest::Remember {
                resource: resource.to_owned(),
                allow,
                remembered,
            })
            .await;
        let _ = done.await;
    }
}

impl RunTask {
    /// Runs one agent call. Dropping this future stops the agent.
    pub(crate) async fn work(
        &mut self,
        agent: &AgentDef,
        message: &str,
        call: &AgentCall,
        resumed: Option<Resumed>,
    ) -> Result<AgentResult, Halt> {
        let has_effects = match &agent.kind {
            AgentKind::Llm(_) | AgentKind::Command(_) => true,
            AgentKind::Echo | AgentKind::Template { .. } | AgentKind::User(_) => false,
        };
        if has_effects {
            self.mark_working().await?;
        }
        let earlier = match &agent.kind {
            AgentKind::Llm(_) => self.model_history.of(&self.service, &self.run.id, &agent.name).await,
            AgentKind::Echo | AgentKind::Template { .. } | AgentKind::User(_) | AgentKind::Command(_) => Vec::new(),
        };
        let service = Arc::clone(&self.service);
        let run = Arc::clone(&self.run);
        let plan = Arc::clone(&self.plan);
        let (requests, mut requested) = mpsc::channel(REQUEST_QUEUE_CAPACITY);
        let mut context = TaskContext {
            requests,
            shared_policy: Arc::clone(&self.shared_policy),
        };
        let job = AgentJob {
            run_id: &run.id,
            agent,
            message,
            model_override: plan.model_override.as_deref(),
            cwd: Path::new(&plan.cwd),
            earlier: &earlier,
            resumed,
        };
        let mut work = ConcurrentWork::new(Box::pin(agents::work(&service.tools, job, &mut context)));
        let done = loop {
            tokio::select! {
                biased;
                Some(request) = requested.recv() => work.beside(self.handle_request(request, agent, call)).await?,
                Some(command) = self.commands.next() => work.beside(self.handle_command(command)).await?,
                done = work.ended() => break done,
            }
        };
        while let Ok(request) = requested.try_recv() {
            self.handle_request(request, agent, call).await?;
        }
        Ok(done)
    }

    /// Commits `Working` before an agent with side effects starts. If the commit took longer than a lease, ownership
    /// may have changed after it, so it is repeated.
    async fn mark_working(&mut self) -> Result<(), Halt> {
        loop {
            let asked_at = Instant::now();
            self.commit(RunPhase::Working).await?;
            if asked_at.elapsed() < self.service.lease || !self.service.store.is_shared() {
                return Ok(());
            }
        }
    }

    async fn handle_request(&mut self, request: AgentRequest, agent: &AgentDef, call: &AgentCall) -> Result<(), Halt> {
        match request {
            AgentRequest::Stream(event) => self.stream_event(&agent.name, event).await,
            AgentRequest::Ask { asks, state, answers } => {
                let waiting = self.ask(&agent.name, asks, call.number, state).await?;
                let answered = self.wait_for_answers(waiting, &agent.name).await?;
                // The agent works again from here on.
                self.mark_working().await?;
                // A dropped receiver means that the agent has ended.
                let _ = answers.send(answered);
                Ok(())
            }
            AgentRequest::Remember {
                resource,
                allow,
                remembered,
            } => {
                self.remember(&resource, allow).await?;
                let _ = remembered.send(());
                Ok(())
            }
        }
    }

    async fn stream_event(&mut self, agent_name: &str, event: StreamEvent) -> Result<(), Halt> {
        let event = Event::AgentStreaming {
            agent_name: agent_name.to_owned(),
            model: self.plan.model_of(agent_name),
            event,
        };
        let now = self.now();
        let mut frame = self.event_buffer.stream(&event, now);
        if frame.is_none() {
            self.commit(RunPhase::Working).await?;
            frame = self.event_buffer.stream(&event, now);
        }
        self.run.lock().broadcast(RunUpdate {
            frames: frame.into_iter().collect(),
            ..RunUpdate::default()
        });
        Ok(())
    }
}

/// Polls the agent while another future runs, so that the agent's own timeout counts even when the store is slow.
struct ConcurrentWork<F: Future> {
    work: F,
    ended: Option<F::Output>,
}

impl<F: Future + Unpin> ConcurrentWork<F> {
    fn new(work: F) -> Self {
        Self { work, ended: None }
    }

    async fn beside<T>(&mut self, first: impl Future<Output = T>) -> T {
        let mut first = pin!(first);
        if self.ended.is_none() {
            tokio::select! {
                biased;
                done = &mut first => return done,
                ended = &mut self.work => self.ended = Some(ended),
            }
        }
        first.await
    }

    async fn ended(&mut self) -> F::Output {
        match self.ended.take() {
            Some(ended) => ended,
            None => (&mut self.work).await,
        }
    }
}
