//! Waiting for one answer, also for an ask of an earlier process.

use std::sync::Arc;
use std::time::Duration;

use countersign_core::message::{Resolution, State};
use countersign_protocol::id::MessageId;
use countersign_store::StoreError;
use countersign_store::model::{AgentView, Lookup};
use countersign_store::ops::message::pull::Pull;
use countersign_store::ops::run::StoredAsk;
use countersign_store::waiters::{Waiter, Waiters};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

use crate::follow::pending::PendingAsk;
use crate::service::RunService;

const RETRY_DELAY: Duration = Duration::from_secs(1);
/// Poll interval in case a wake-up is lost; nothing else would wake the run. Jittered, because many asks start
/// together.
const POLL_INTERVAL: Duration = Duration::from_secs(25);
const POLL_JITTER_MILLIS: u128 = 10_000;

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
        let waiter = waiters.register(&id);
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
        self.waiter = waiters.register(&self.id);
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
mod tests {
    use std::cell::Cell;

    use countersign_core::Actor;
    use countersign_core::message::{Outcome, RunSource, Source};
    use countersign_protocol::id::ResolutionId;
    use countersign_protocol::time::Timestamp;
    use futures_util::FutureExt;
    use tokio::time::timeout;

    use super::*;

    fn cancelled(id: &MessageId) -> Lookup<AgentView> {
        let now = Timestamp::from_millis(1);
        let resolution = Resolution {
            id: ResolutionId::from_uuid(Uuid::from_u128(8)),
            outcome: Outcome::Cancelled,
            value: None,
            actor: Actor::human("owner"),
            comment: None,
            resolved_at: now,
            defaulted: false,
            files: Vec::new(),
            edited: false,
            checklist: None,
        };
        Lookup::Present(AgentView {
            id: id.clone(),
            agent_id: "run".to_owned(),
            rev: 2,
            received_at: now,
            expires_at: None,
            state: State::Resolved(resolution),
            source: Source::Runs(RunSource::default()),
            wire: "{}".to_owned(),
        })
    }

    #[tokio::test(start_paused = true)]
    async fn a_dropped_read_is_repeated_at_once() {
        let waiters = Arc::new(Waiters::default());
        let id = MessageId::from_uuid(Uuid::from_u128(7));
        let mut waiting = PendingAnswer::new(&waiters, id.clone(), AskBody::default());
        let reads = Cell::new(0);
        let pull = async |id: MessageId| {
            reads.set(reads.get() + 1);
            tokio::task::yield_now().await;
            Ok(Some(cancelled(&id)))
        };
        waiters.invalidate(&id);
        // As when a command interrupts the wait.
        assert!(waiting.resolution("r", &waiters, &pull).now_or_never().is_none());
        let resolution = timeout(Duration::from_secs(1), waiting.resolution("r", &waiters, &pull)).await;
        assert_eq!(
            resolution.expect("read without another wake-up").outcome,
            Outcome::Cancelled
        );
        assert_eq!(reads.get(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn an_ask_without_a_wake_up_is_polled() {
        let waiters = Arc::new(Waiters::default());
        let id = MessageId::from_uuid(Uuid::from_u128(7));
        let mut waiting = PendingAnswer::new(&waiters, id, AskBody::default());
        let pull = async |id: MessageId| Ok(Some(cancelled(&id)));
        let resolution = timeout(Duration::from_secs(36), waiting.resolution("r", &waiters, &pull)).await;
        assert_eq!(resolution.expect("polled").outcome, Outcome::Cancelled);
    }
}
