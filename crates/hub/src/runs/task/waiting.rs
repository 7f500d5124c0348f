//! Waiting for one answer, in this process or after another one.

use std::sync::Arc;
use std::time::Duration;

use countersign_core::message::{Resolution, State};
use countersign_protocol::id::MessageId;
use countersign_store::StoreError;
use countersign_store::model::{Found, Pulled};
use countersign_store::ops::pull::Pull;
use countersign_store::ops::run::FoundAsk;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

use crate::app::Hub;
use crate::runs::pending::Pending;
use crate::wake::{Waiter, Wake};

const BEFORE_ANOTHER_LOOK: Duration = Duration::from_secs(1);
/// Whatever was said or not, so often an ask is looked at: a run has nothing else that would wake it. About so often, because
/// many are asked at once.
const LOOK_EVERY: Duration = Duration::from_secs(25);
const MORE_OR_LESS: u128 = 10_000;

/// What is needed to go on with an answer, wherever it comes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AskBody {
    /// How many were asked together.
    pub of: usize,
    /// Of the agent that asks; with the first of them.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub state: Value,
}

pub struct Waiting {
    pub id: MessageId,
    pub body: AskBody,
    waiter: Waiter,
    /// Somebody rang, or it is time; and it has not been looked at since.
    must_look: bool,
    look_at: Instant,
    /// It was answered before anybody waited.
    known: Option<Box<Resolution>>,
}

impl Waiting {
    /// Before the message can be seen by anybody.
    pub fn new(hub: &Hub, id: MessageId, body: AskBody) -> Self {
        Self::at(&hub.wake, id, body)
    }

    fn at(wake: &Arc<Wake>, id: MessageId, body: AskBody) -> Self {
        let waiter = wake.register(&id);
        Self {
            id,
            body,
            waiter,
            must_look: false,
            look_at: next_look(),
            known: None,
        }
    }

    /// Can be dropped and called again; the answer is not lost.
    pub async fn resolution(&mut self, hub: &Hub) -> Resolution {
        self.resolution_by(&hub.wake, |id| hub.store.run(Pull(id))).await
    }

    async fn resolution_by<F>(&mut self, wake: &Arc<Wake>, pull: impl Fn(MessageId) -> F) -> Resolution
    where
        F: Future<Output = Result<Option<Found<Pulled>>, StoreError>>,
    {
        loop {
            if let Some(known) = &self.known {
                return (**known).clone();
            }
            if self.must_look {
                Box::pin(self.look(wake, &pull)).await;
                continue;
            }
            if let Ok(Some(pulled)) = timeout_at(self.look_at, self.waiter.rung()).await {
                self.known = resolved(pulled.state);
            }
            self.must_look = self.known.is_none();
        }
    }

    /// Woken without being told why. Registers first, then looks; dropped in between, it has to look again.
    async fn look<F>(&mut self, wake: &Arc<Wake>, pull: &impl Fn(MessageId) -> F)
    where
        F: Future<Output = Result<Option<Found<Pulled>>, StoreError>>,
    {
        self.waiter = wake.register(&self.id);
        loop {
            match pull(self.id.clone()).await {
                Ok(Some(Found::Live(pulled))) => {
                    self.known = resolved(pulled.state);
                    (self.must_look, self.look_at) = (false, next_look());
                    return;
                }
                Ok(Some(Found::Gone { .. }) | None) => std::future::pending().await,
                Err(error) => tracing::warn!(id = %self.id, %error, "an ask of a run could not be looked at"),
            }
            tokio::time::sleep(BEFORE_ANOTHER_LOOK).await;
        }
    }
}

fn next_look() -> Instant {
    let more = u64::try_from(Uuid::new_v4().as_u128() % MORE_OR_LESS).unwrap_or(0);
    Instant::now() + LOOK_EVERY + Duration::from_millis(more)
}

fn resolved(state: State) -> Option<Box<Resolution>> {
    match state {
        State::Resolved(resolution) => Some(Box::new(resolution)),
        State::Open | State::Delivered => None,
    }
}

/// Takes up an ask of an earlier process: who waits for it is noted first, and then whether it is still open. Nothing if the
/// message is not kept any more.
pub async fn take_up(hub: &Arc<Hub>, ask: FoundAsk) -> Result<Option<(Waiting, Option<Pending>)>, StoreError> {
    let body: AskBody = serde_json::from_str(&ask.body)?;
    let mut waiting = Waiting::new(hub, ask.message_id, body);
    match hub.store.run(Pull(waiting.id.clone())).await? {
        Some(Found::Live(pulled)) => {
            let pending = still_pending(&pulled);
            waiting.known = resolved(pulled.state);
            Ok(Some((waiting, pending)))
        }
        Some(Found::Gone { .. }) | None => Ok(None),
    }
}

/// The wire of an ask is the frame that told of it.
fn still_pending(pulled: &Pulled) -> Option<Pending> {
    match pulled.state {
        State::Open => Pending::told(pulled.id.clone(), &pulled.wire),
        State::Delivered | State::Resolved(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::collections::BTreeMap;

    use countersign_core::Actor;
    use countersign_core::message::{Door, Outcome, Source};
    use countersign_protocol::id::ResolutionId;
    use countersign_protocol::time::Timestamp;
    use futures_util::FutureExt;
    use tokio::time::timeout;

    use super::*;

    fn cancelled(id: &MessageId) -> Found<Pulled> {
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
        Found::Live(Pulled {
            id: id.clone(),
            agent_id: "run".to_owned(),
            rev: 2,
            received_at: now,
            expires_at: None,
            state: State::Resolved(resolution),
            source: Source {
                door: Door::Runs,
                ids: BTreeMap::new(),
            },
            wire: "{}".to_owned(),
        })
    }

    #[tokio::test(start_paused = true)]
    async fn a_look_that_is_dropped_is_made_again_at_once() {
        let wake = Arc::new(Wake::default());
        let id = MessageId::from_uuid(Uuid::from_u128(7));
        let mut waiting = Waiting::at(&wake, id.clone(), AskBody::default());
        let looks = Cell::new(0);
        let pull = async |id: MessageId| {
            looks.set(looks.get() + 1);
            tokio::task::yield_now().await;
            Ok(Some(cancelled(&id)))
        };
        wake.look(&id);
        // As by mail that comes in the middle of it.
        assert!(waiting.resolution_by(&wake, &pull).now_or_never().is_none());
        let resolution = timeout(Duration::from_secs(1), waiting.resolution_by(&wake, &pull)).await;
        assert_eq!(resolution.expect("nobody rings again").outcome, Outcome::Cancelled);
        assert_eq!(looks.get(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn an_ask_that_nobody_rings_for_is_looked_at_by_itself() {
        let wake = Arc::new(Wake::default());
        let id = MessageId::from_uuid(Uuid::from_u128(7));
        let mut waiting = Waiting::at(&wake, id, AskBody::default());
        let pull = async |id: MessageId| Ok(Some(cancelled(&id)));
        let resolution = timeout(Duration::from_secs(36), waiting.resolution_by(&wake, &pull)).await;
        assert_eq!(resolution.expect("it looks").outcome, Outcome::Cancelled);
    }
}
