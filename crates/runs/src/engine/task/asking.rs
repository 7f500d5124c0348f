//! Asking people. An ask is an ordinary message, stored together with its event. Any surface may resolve it, and the
//! run is woken like a long-poll.

use std::sync::Arc;

use countersign_core::message::{Outcome, Resolution};
use countersign_core::runs::{AgentCall, AskKind, RunAsk, ask};
use countersign_core::{Actor, Command};
use countersign_protocol::a2h::{Kind, Priority};
use countersign_protocol::id::MessageId;
use countersign_protocol::runs::Event;
use countersign_protocol::time::Timestamp;
use countersign_store::StoreError;
use countersign_store::model::{Incoming, NewMessage, json_text};
use countersign_store::ops::admin::people::ListResolvers;
use countersign_store::ops::run::{AskInRun, NewAsk, RunPhase};
use serde_json::Value;
use uuid::Uuid;

use super::pending_answer::{AskBody, PendingAnswer};
use super::state::{Halt, RunTask, Stopped};
use crate::follow::frame::EventFrame;
use crate::follow::pending::PendingAsk;

/// A question, as people see it and as the protocol sends it.
pub struct RunQuestion {
    pub kind: AskKind,
    pub event: Event,
    /// The id used in the protocol.
    pub id: String,
}

impl RunTask {
    /// Returns the text, or the reason why there is none.
    pub(crate) async fn ask_for_input(
        &mut self,
        call: &AgentCall,
        prompt: Option<String>,
    ) -> Result<Result<String, String>, Halt> {
        let mut waiting = std::mem::take(&mut self.restored_asks);
        if waiting.is_empty() {
            let agent_name = call.agent.clone();
            let id = Uuid::new_v4().to_string();
            let event = Event::RequestInput {
                agent_name,
                prompt: prompt.clone(),
                input_id: id.clone(),
            };
            let question = RunQuestion {
                kind: AskKind::Input { prompt },
                event,
                id,
            };
            waiting = self.ask(&call.agent, vec![question], call.number, Value::Null).await?;
        }
        let answers = self.answers(waiting, &call.agent).await?;
        Ok(answers.map(|texts| texts.into_iter().next().unwrap_or_default()))
    }

    /// Stores the asks and broadcasts them. From then on the run can wait without limit, even across restarts.
    pub(crate) async fn ask(
        &mut self,
        agent_name: &str,
        questions: Vec<RunQuestion>,
        number: u64,
        state: Value,
    ) -> Result<Vec<PendingAnswer>, Halt> {
        let resolvers = self.resolvers().await?;
        let mut asks = Vec::new();
        let mut pending = Vec::new();
        let mut waiting = Vec::new();
        let now = self.now();
        let of = questions.len();
        let mut state = Some(state);
        for question in questions {
            let id = MessageId::from_uuid(Uuid::now_v7());
            let frame = self.event_buffer.add(&question.event, now);
            pending.extend(PendingAsk::from_event(id.clone(), &question.event, now, frame.clone()));
            let body = AskBody {
                of,
                state: state.take().unwrap_or_default(),
            };
            let asked = self.run_ask(agent_name, question.kind, resolvers.clone());
            let message = self.message(id.clone(), &asked, &question.id, &frame, now);
            let message = message.map_err(unwritable)?;
            let text = json_text(&body).map_err(unwritable)?;
            asks.push(NewAsk {
                message,
                number,
                body: text,
            });
            waiting.push(PendingAnswer::new(&self.service, id, body));
        }
        let (advance, mut news) = self.drain_events(RunPhase::Between)?;
        let asked = AskInRun { advance, asks };
        let service = Arc::clone(&self.service);
        if let Err(halt) = self.persist(|| service.store.run(asked.clone())).await {
            self.event_buffer.put_back(asked.advance, news);
            return Err(halt);
        }
        self.open.extend(waiting.iter().map(|waiting| waiting.id.clone()));
        news.pending = pending;
        self.broadcast(news);
        asked.asks.iter().for_each(|ask| self.announce(&ask.message));
        Ok(waiting)
    }

    fn run_ask(&self, agent_name: &str, kind: AskKind, resolvers: Vec<Actor>) -> RunAsk {
        RunAsk {
            kind,
            run_id: self.run.id.clone(),
            agent_name: agent_name.to_owned(),
            strategy_name: self.plan.strategy.name.clone(),
            cwd: self.plan.cwd.clone(),
            resolvers,
        }
    }

    fn message(
        &self,
        id: MessageId,
        asked: &RunAsk,
        input_id: &str,
        frame: &EventFrame,
        now: Timestamp,
    ) -> Result<NewMessage, StoreError> {
        let content = ask::content(asked);
        let row = Incoming {
            id,
            agent_id: content.agent.id.clone(),
            kind: Kind::Ask,
            priority: Priority::Normal,
            received_at: now,
            recorded_at: now,
            event: "submitted",
            expires_at: self.service.settings.input_timeout.map(|timeout| now.plus(timeout)),
            idempotency_key: None,
            source: &ask::source(asked, input_id),
            callback: None,
            content: Some(&content),
            wire: frame.text.to_string(),
        };
        row.into_row()
    }

    /// The same announcements as for every submitted message.
    fn announce(&self, message: &NewMessage) {
        self.service.host.announce_ask(message);
        tracing::debug!(id = %message.id, run_id = self.run.id, "run asked a question");
    }

    /// All people who may resolve.
    async fn resolvers(&mut self) -> Result<Vec<Actor>, Halt> {
        let service = Arc::clone(&self.service);
        self.retry_store(|| service.store.run(ListResolvers)).await
    }

    /// Waits for all answers. The inner error says why an answer is missing; the remaining asks are cancelled then.
    pub(crate) async fn answers(
        &mut self,
        waiting: Vec<PendingAnswer>,
        agent_name: &str,
    ) -> Result<Result<Vec<String>, String>, Halt> {
        // No ask is marked done before all are: a restart in between needs the state stored with each.
        let ids: Vec<_> = waiting.iter().map(|waiting| waiting.id.clone()).collect();
        let answers = self.answers_in_turn(waiting, agent_name).await?;
        if answers.is_err() {
            self.cancel_asks().await;
        }
        ids.into_iter().for_each(|id| self.event_buffer.ask_done(id));
        Ok(answers)
    }

    async fn answers_in_turn(
        &mut self,
        waiting: Vec<PendingAnswer>,
        agent_name: &str,
    ) -> Result<Result<Vec<String>, String>, Halt> {
        let mut answers = Vec::with_capacity(waiting.len());
        for mut waiting in waiting {
            let resolution = self.wait(&mut waiting).await?;
            self.open.retain(|open| *open != waiting.id);
            // Covers an answer that arrived before the ask was broadcast.
            self.run.resolved(&waiting.id, resolution.resolved_at);
            match self.read(resolution, agent_name)? {
                Ok(text) => answers.push(text),
                Err(cause) => return Ok(Err(cause)),
            }
        }
        Ok(Ok(answers))
    }

    async fn wait(&mut self, waiting: &mut PendingAnswer) -> Result<Resolution, Halt> {
        let service = Arc::clone(&self.service);
        loop {
            tokio::select! {
                biased;
                resolution = waiting.resolution(&service) => return Ok(resolution),
                Some(command) = self.commands.next() => self.handle_command(command).await?,
            }
        }
    }

    fn read(&self, resolution: Resolution, agent_name: &str) -> Result<Result<String, String>, Halt> {
        match resolution.outcome {
            Outcome::Answered => Ok(match resolution.value {
                Some(Value::String(text)) => Ok(text),
                Some(other) => Ok(other.to_string()),
                None => Ok(String::new()),
            }),
            Outcome::Expired => {
                let waited = self.service.settings.input_timeout.unwrap_or_default().as_millis();
                Ok(Err(format!(
                    "Input request for agent \"{agent_name}\" timed out after {waited} ms"
                )))
            }
            Outcome::Cancelled => Err(Halt::Cancelled(Stopped::ByClient)),
            Outcome::Declined | Outcome::Completed | Outcome::Dismissed => Ok(Err(format!(
                "Input request for agent \"{agent_name}\" was not answered"
            ))),
        }
    }

    /// Cancels all open asks. An answer that came first stays recorded, but is not used.
    pub(crate) async fn cancel_asks(&mut self) {
        self.run.clear_pending();
        let service = Arc::clone(&self.service);
        for id in std::mem::take(&mut self.open) {
            // Retried through every halt: an ask must not stay open for a run that has ended.
            while self.retry_store(|| service.decide(&id, Command::Cancel)).await.is_err() {}
        }
    }
}

fn unwritable(error: StoreError) -> Halt {
    Halt::Failed(error.to_string())
}
