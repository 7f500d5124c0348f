//! Asking people, and waiting for their answers, also for asks of an earlier process. An ask is an ordinary message, stored
//! together with its event. Any surface may resolve it, and the run is woken like a long-poll.

use std::sync::Arc;
use std::time::Duration;

use countersign_core::message::{Outcome, Resolution, RunSource, Source, State};
use countersign_core::runs::{AskKind, RunAsk, ask};
use countersign_core::{Actor, Command};
use countersign_protocol::a2h::{Kind, Priority};
use countersign_protocol::id::MessageId;
use countersign_store::StoreError;
use countersign_store::model::{AgentView, Incoming, Lookup, NewMessage, json_text};
use countersign_store::ops::admin::people::ListResolvers;
use countersign_store::ops::message::pull::Pull;
use countersign_store::ops::run::{AskInRun, NewAsk, RunPhase, StoredAsk};
use countersign_store::waiters::{Waiter, WaiterKind, Waiters};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

use super::{Halt, RunTask, Stopped};
use crate::engine::agents::Answers;
use crate::follow::pending::{PendingAsk, PendingKind};
use crate::service::RunService;

const RETRY_DELAY: Duration = Duration::from_secs(1);
/// Poll interval in case a wake-up is lost; nothing else would wake the run. Jittered, because many asks start
/// together.
const POLL_INTERVAL: Duration = Duration::from_secs(25);
const POLL_JITTER_MILLIS: u128 = 10_000;

/// The text of an answer, or the reason why it is missing.
type Answer = Result<String, String>;

impl RunTask {
    /// Stores the asks and broadcasts them. From then on the run can wait without limit, even across restarts.
    pub(crate) async fn ask(
        &mut self,
        agent_name: &str,
        questions: Vec<AskKind>,
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
            let id = Uuid::new_v4().to_string();
            let asked = PendingAsk {
                message_id: MessageId::from_uuid(Uuid::now_v7()),
                kind: PendingKind::of(&question),
                agent_name: agent_name.to_owned(),
                prompt: question.prompt().map(str::to_owned),
                ts: now,
                frame: self.event_buffer.add(&question.event(agent_name, &id), now),
                id,
            };
            let state = state.take().unwrap_or_default();
            let body = AskBody { of, state };
            asks.push(NewAsk {
                message: self.message(&asked, question, resolvers.clone()).map_err(unwritable)?,
                number,
                body: json_text(&body).map_err(unwritable)?,
            });
            waiting.push(PendingAnswer::new(&service.waiters, asked.message_id.clone(), body));
            pending.push(asked);
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
    fn message(&self, asked: &PendingAsk, kind: AskKind, resolvers: Vec<Actor>) -> Result<NewMessage, StoreError> {
        let strategy_name = &self.plan.strategy.name;
        let source = Source::Runs(RunSource {
            agent_name: asked.agent_name.clone(),
            ask: asked.kind.as_str().to_owned(),
            input_id: asked.id.clone(),
            run_id: self.run.id.clone(),
            strategy: strategy_name.clone(),
        });
        let content = ask::content(&RunAsk {
            kind,
            run_id: self.run.id.clone(),
            agent_name: asked.agent_name.clone(),
            strategy_name: strategy_name.clone(),
            cwd: self.plan.cwd.clone(),
            resolvers,
        });
        let row = Incoming {
            id: asked.message_id.clone(),
            agent_id: content.agent.id.clone(),
            kind: Kind::Ask,
            priority: Priority::Normal,
            received_at: asked.ts,
            recorded_at: asked.ts,
            event: "submitted",
            expires_at: self
                .service
                .settings
                .input_timeout
                .map(|timeout| asked.ts.plus(timeout)),
            idempotency_key: None,
            source: &source,
            callback: None,
            content: Some(&content),
            wire: asked.frame.text.to_string(),
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

/// The state needed to resume with the answer, also in another process.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AskBody {
    /// Number of asks in the same batch.
    pub of: usize,
    /// State of the asking agent; stored with the first ask of a batch.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub state: Value,
}

pub struct PendingAnswer {
    pub id: MessageId,
    pub body: AskBody,
    waiter: Waiter,
    /// Woken or due, and not read from the store since.
    must_reload: bool,
    reload_at: Instant,
    /// The resolution, once known.
    resolved: Option<Box<Resolution>>,
}

impl PendingAnswer {
    /// Registers the waiter. Call this before the message is committed.
    pub fn new(waiters: &Arc<Waiters>, id: MessageId, body: AskBody) -> Self {
        let waiter = waiters.register(&id, WaiterKind::Run);
        Self {
            id,
            body,
            waiter,
            must_reload: false,
            reload_at: next_reload(),
            resolved: None,
        }
    }

    /// Cancel-safe: it can be dropped and called again without losing the answer.
    pub async fn resolution<F>(
        &mut self,
        run_id: &str,
        waiters: &Arc<Waiters>,
        pull: impl Fn(MessageId) -> F,
    ) -> Resolution
    where
        F: Future<Output = Result<Option<Lookup<AgentView>>, StoreError>>,
    {
        loop {
            if let Some(resolved) = &self.resolved {
                return (**resolved).clone();
            }
            if self.must_reload {
                Box::pin(self.look(run_id, waiters, &pull)).await;
                continue;
            }
            if let Ok(Some(view)) = timeout_at(self.reload_at, self.waiter.woken()).await {
                self.resolved = resolved(view.state);
            }
            self.must_reload = self.resolved.is_none();
        }
    }

    /// Reads the message after a wake-up without a resolution. Registers first, then reads; if dropped in between, it
    /// reads again.
    async fn look<F>(&mut self, run_id: &str, waiters: &Arc<Waiters>, pull: &impl Fn(MessageId) -> F)
    where
        F: Future<Output = Result<Option<Lookup<AgentView>>, StoreError>>,
    {
        self.waiter = waiters.register(&self.id, WaiterKind::Run);
        loop {
            match pull(self.id.clone()).await {
                Ok(Some(Lookup::Present(view))) => {
                    self.resolved = resolved(view.state);
                    (self.must_reload, self.reload_at) = (false, next_reload());
                    return;
                }
                Ok(Some(Lookup::Purged { .. }) | None) => std::future::pending().await,
                // The store has logged it once; people have to repair it.
                Err(error) if error.is_damage() => tokio::time::sleep(POLL_INTERVAL).await,
                Err(error) => {
                    tracing::warn!(run_id, message_id = %self.id, %error, "reading an ask of a run failed; retrying");
                    tokio::time::sleep(RETRY_DELAY).await;
                }
            }
        }
    }
}

fn next_reload() -> Instant {
    let more = u64::try_from(Uuid::new_v4().as_u128() % POLL_JITTER_MILLIS).unwrap_or(0);
    Instant::now() + POLL_INTERVAL + Duration::from_millis(more)
}

fn resolved(state: State) -> Option<Box<Resolution>> {
    match state {
        State::Resolved(resolution) => Some(Box::new(resolution)),
        State::Open | State::Delivered => None,
    }
}

/// Restores an ask of an earlier process: registers the waiter first, then reads the state. Returns `None` if the
/// message is no longer stored.
pub async fn restore_ask(
    service: &Arc<RunService>,
    ask: StoredAsk,
) -> Result<Option<(PendingAnswer, Option<PendingAsk>)>, StoreError> {
    let body: AskBody = serde_json::from_str(&ask.body)?;
    let mut waiting = PendingAnswer::new(&service.waiters, ask.message_id, body);
    match service.store.run(Pull(waiting.id.clone())).await? {
        Some(Lookup::Present(view)) => {
            let pending = still_pending(&view);
            waiting.resolved = resolved(view.state);
            Ok(Some((waiting, pending)))
        }
        Some(Lookup::Purged { .. }) | None => Ok(None),
    }
}

/// The stored `wire` of an ask is its event frame.
fn still_pending(view: &AgentView) -> Option<PendingAsk> {
    match view.state {
        State::Open => PendingAsk::from_frame(view.id.clone(), &view.wire),
        State::Delivered | State::Resolved(_) => None,
    }
}

#[cfg(test)]
mod tests;
