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

use crate::app::Hub;
use crate::runs::pending::Pending;
use crate::wake::Waiter;

const BEFORE_ANOTHER_LOOK: Duration = Duration::from_secs(1);

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
    /// It was answered before anybody waited.
    known: Option<Box<Resolution>>,
}

impl Waiting {
    /// Before the message can be seen by anybody.
    pub fn new(hub: &Hub, id: MessageId, body: AskBody) -> Self {
        let waiter = hub.wake.register(&id);
        Self { id, body, waiter, known: None }
    }

    /// Can be dropped and called again; the answer is not lost.
    pub async fn resolution(&mut self, hub: &Hub) -> Resolution {
        loop {
            if let Some(known) = &self.known {
                return (**known).clone();
            }
            match self.waiter.rung().await {
                Some(pulled) => self.known = resolved(pulled.state),
                None => Box::pin(self.look(hub)).await,
            }
        }
    }

    /// Woken without being told why. Registers first, then looks.
    async fn look(&mut self, hub: &Hub) {
        self.waiter = hub.wake.register(&self.id);
        loop {
            match hub.store.run(Pull(self.id.clone())).await {
                Ok(Some(Found::Live(pulled))) => return self.known = resolved(pulled.state),
                Ok(Some(Found::Gone { .. }) | None) => std::future::pending().await,
                Err(error) => tracing::warn!(id = %self.id, %error, "an ask of a run could not be looked at"),
            }
            tokio::time::sleep(BEFORE_ANOTHER_LOOK).await;
        }
    }
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
