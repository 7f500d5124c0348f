//! Asking people. An ask is an ordinary message, stored together with its event. Any surface may resolve it, and the
//! run is woken like a long-poll.

use std::sync::Arc;

use countersign_core::Command;
use countersign_core::message::{Outcome, Resolution};
use countersign_core::runs::{AskKind, RunAsk, ask};
use countersign_protocol::a2h::{Kind, Priority};
use countersign_protocol::id::MessageId;
use countersign_protocol::runs::Event;
use countersign_protocol::time::Timestamp;
use countersign_store::StoreError;
use countersign_store::model::{Incoming, NewMessage, json_text};
use countersign_store::ops::admin::people::ListResolvers;
use countersign_store::ops::message::pull::Pull;
use countersign_store::ops::run::{AskInRun, NewAsk, RunPhase};
use serde_json::Value;
use uuid::Uuid;

use super::pending_answer::{AskBody, PendingAnswer};
use super::{Halt, RunTask, Stopped};
use crate::engine::agents::Answers;
use crate::follow::broadcast::EventFrame;
use crate::follow::pending::PendingAsk;

/// The text of an answer, or the reason why it is missing.
type Answer = Result<String, String>;

/// A question, as people see it and as the protocol sends it.
pub struct RunQuestion {
    pub kind: AskKind,
    pub event: Event,
    /// The id used in the protocol.
    pub id: String,
}

impl RunTask {
    /// Stores the asks and broadcasts them. From then on the run can wait without limit, even across restarts.
    pub(crate) async fn ask(
        &mut self,
        agent_name: &str,
        questions: Vec<RunQuestion>,
        number: u64,
        state: Value,
    ) -> Result<Vec<PendingAnswer>, Halt> {
        let service = Arc::clone(&self.service);
        let resolvers = self.retry_store(|| service.store.run(ListResolvers)).await?;
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
            let asked = RunAsk {
                kind: question.kind,
                run_id: self.run.id.clone(),
                agent_name: agent_name.to_owned(),
                strategy_name: self.plan.strategy.name.clone(),
                cwd: self.plan.cwd.clone(),
                resolvers: resolvers.clone(),
            };
            let message = self.message(id.clone(), &asked, &question.id, &frame, now);
            let state = state.take().unwrap_or_default();
            let body = AskBody { of, state };
            asks.push(NewAsk {
                message: message.map_err(unwritable)?,
                number,
                body: json_text(&body).map_err(unwritable)?,
            });
            waiting.push(PendingAnswer::new(&service.waiters, id, body));
        }
        let ask_in_run = |advance| AskInRun {
            advance,
            asks: asks.clone(),
        };
        let mut update = self.store_buffered_events(RunPhase::Between, ask_in_run).await?;
        self.open.extend(waiting.iter().map(|waiting| waiting.id.clone()));
        update.pending = pending;
        self.broadcast(update);
        for NewAsk { message, .. } in &asks {
            service.host.announce_ask(message);
            tracing::debug!(run_id = self.run.id, message_id = %message.id, "run asked a question");
        }
        Ok(waiting)
    }

    /// The message that people see; its `wire` is the event frame.
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

    /// Waits for all answers. If one is missing, the remaining asks are cancelled.
    pub(crate) async fn wait_for_answers(
        &mut self,
        waiting: Vec<PendingAnswer>,
        agent_name: &str,
    ) -> Result<Answers, Halt> {
        // No ask is marked done before all are: a restart in between needs the state stored with each.
        let ids: Vec<_> = waiting.iter().map(|waiting| waiting.id.clone()).collect();
        let service = Arc::clone(&self.service);
        let mut texts = Vec::with_capacity(ids.len());
        let mut missing = None;
        for mut waiting in waiting {
            let resolution = loop {
                tokio::select! {
                    biased;
                    resolution = waiting.resolution(&self.run.id, &service.waiters, |id| service.store.run(Pull(id))) => {
                        break resolution
                    }
                    Some(command) = self.commands.next() => self.handle_command(command).await?,
                }
            };
            self.open.retain(|open| *open != waiting.id);
            // Covers an answer that arrived before the ask was broadcast.
            self.run.resolved(&waiting.id, resolution.resolved_at);
            match self.answer_of(resolution, agent_name)? {
                Ok(text) => texts.push(text),
                Err(cause) => {
                    self.cancel_asks().await;
                    missing = Some(cause);
                    break;
                }
            }
        }
        ids.into_iter().for_each(|id| self.event_buffer.ask_done(id));
        Ok(missing.map_or(Ok(texts), Err))
    }

    fn answer_of(&self, resolution: Resolution, agent_name: &str) -> Result<Answer, Halt> {
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
            let cancel = || Arc::clone(&service.host).decide(&id, Command::Cancel);
            while self.retry_store(cancel).await.is_err() {}
        }
    }
}

fn unwritable(error: StoreError) -> Halt {
    Halt::Failed(error.to_string())
}
