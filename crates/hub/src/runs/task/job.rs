//! One agent at work, and what it wants meanwhile.

use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::Instant;

use countersign_core::runs::policy::TOOL;
use countersign_core::runs::{AskKind, Call};
use countersign_protocol::runs::strategy::{AgentDef, AgentKind};
use countersign_protocol::runs::{Event, StreamEvent};
use countersign_store::ops::run::Phase;
use tokio::sync::mpsc;
use uuid::Uuid;

use super::asking::Question;
use super::desk::{AgentDesk, Wish};
use super::state::{Halt, Task};
use crate::peers::LEASE;
use crate::runs::agents::{self, AgentAsk, Done, Job, Resumed};
use crate::runs::telling::News;

/// What an agent may say before the task has told it.
const AHEAD: usize = 64;
const REASON: &str = "policy-ask";

impl Task {
    /// Ends with what the agent came to, or why it failed. The agent stops when this future is dropped.
    pub(super) async fn work(
        &mut self,
        agent: &AgentDef,
        message: &str,
        call: &Call,
        resumed: Option<Resumed>,
    ) -> Result<Result<Done, String>, Halt> {
        let has_effects = match &agent.kind {
            AgentKind::Llm(_) | AgentKind::Command(_) => true,
            AgentKind::Echo | AgentKind::Template { .. } | AgentKind::User(_) => false,
        };
        if has_effects {
            self.begin_to_work().await?;
        }
        let earlier = match &agent.kind {
            AgentKind::Llm(_) => self.memory.of(&self.hub, &self.run.id, &agent.name).await,
            AgentKind::Echo | AgentKind::Template { .. } | AgentKind::User(_) | AgentKind::Command(_) => Vec::new(),
        };
        let hub = Arc::clone(&self.hub);
        let run = Arc::clone(&self.run);
        let plan = Arc::clone(&self.plan);
        let (wishes, mut wished) = mpsc::channel(AHEAD);
        let mut desk = AgentDesk {
            wishes,
            judged: Arc::clone(&self.judged),
        };
        let job = Job {
            run_id: &run.id,
            agent,
            message,
            model_override: plan.model_override.as_deref(),
            cwd: Path::new(&plan.cwd),
            earlier: &earlier,
            resumed,
        };
        let mut work = Beside::new(Box::pin(agents::work(&hub.runs.tools, job, &mut desk)));
        let done = loop {
            tokio::select! {
                biased;
                Some(wish) = wished.recv() => work.beside(self.grant(wish, agent, call)).await?,
                Some(mail) = self.mail.next() => work.beside(self.heed(mail)).await?,
                done = work.ended() => break done,
            }
        };
        while let Ok(wish) = wished.try_recv() {
            self.grant(wish, agent, call).await?;
        }
        Ok(done)
    }

    /// After a pause of the whole process the run may be another hub's, which the store knew nothing of when it was asked.
    async fn begin_to_work(&mut self) -> Result<(), Halt> {
        loop {
            let asked_at = Instant::now();
            self.commit(Phase::Working).await?;
            if asked_at.elapsed() < LEASE || !self.hub.store.is_shared() {
                return Ok(());
            }
        }
    }

    async fn grant(&mut self, wish: Wish, agent: &AgentDef, call: &Call) -> Result<(), Halt> {
        match wish {
            Wish::Say(event) => self.say(&agent.name, event).await,
            Wish::Ask { asks, state, answers } => {
                let questions = asks.into_iter().map(|ask| question(&agent.name, ask)).collect();
                let waiting = self.ask(&agent.name, questions, call.number, state).await?;
                let answered = self.answers(waiting, &agent.name).await?;
                // From here on its work counts again as begun.
                self.begin_to_work().await?;
                // An agent that no longer wants to know has ended.
                let _ = answers.send(answered);
                Ok(())
            }
            Wish::Remember {
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

    async fn say(&mut self, agent_name: &str, event: StreamEvent) -> Result<(), Halt> {
        let event = Event::AgentStreaming {
            agent_name: agent_name.to_owned(),
            model: self.plan.model_of(agent_name),
            event,
        };
        let now = self.now();
        let mut frame = self.ledger.stream(&event, now);
        if frame.is_none() {
            self.commit(Phase::Working).await?;
            frame = self.ledger.stream(&event, now);
        }
        self.run.tell(News {
            frames: frame.into_iter().collect(),
            ..News::default()
        });
        Ok(())
    }
}

/// Work that goes on while something else is done: its own limit of time counts even when the store is slow.
struct Beside<F: Future> {
    work: F,
    ended: Option<F::Output>,
}

impl<F: Future + Unpin> Beside<F> {
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

fn question(agent_name: &str, ask: AgentAsk) -> Question {
    let agent_name = agent_name.to_owned();
    let request_id = Uuid::new_v4().to_string();
    let id = request_id.clone();
    match ask {
        AgentAsk::Permission {
            operation,
            resource,
            details,
        } => Question {
            kind: AskKind::Permission {
                operation: operation.to_owned(),
                resource: resource.clone(),
                details: details.clone(),
            },
            event: Event::RequestPermission {
                request_id,
                agent_name,
                tool_name: Some(TOOL.to_owned()),
                operation: operation.to_owned(),
                resource,
                reason: REASON.to_owned(),
                details,
            },
            id,
        },
        AgentAsk::Question { tool_name, question } => Question {
            kind: AskKind::Question {
                question: question.clone(),
            },
            event: Event::RequestQuestion {
                request_id,
                agent_name,
                tool_name,
                question,
            },
            id,
        },
    }
}
