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
use crate::wake::Waiter;

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
        let waiter = hub.wake.register(&id);
        Self { id, body, waiter, must_look: false, look_at: next_look(), known: None }
    }

    /// Can be dropped and called again; the answer is not lost.
    pub async fn resolution(&mut self, hub: &Hub) -> Resolution {
        loop {
            if let Some(known) = &self.known {
                return (**known).clone();
            }
            if self.must_look {
                Box::pin(self.look(hub)).await;
                continue;
            }
            if let Ok(Some(pulled)) = timeout_at(self.look_at, self.waiter.rung()).await {
                self.known = resolved(pulled.state);
            }
            self.must_look = self.known.is_none();
        }
    }

    /// Woken without being told why. Registers first, then looks; dropped in between, it has to look again.
    async fn look(&mut self, hub: &Hub) {
        self.waiter = hub.wake.register(&self.id);
        loop {
            match hub.store.run(Pull(self.id.clone())).await {
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
    use countersign_core::audit::Entry;
    use countersign_core::message::{Outcome, inbox_rank};
    use countersign_core::runs::{AskKind, RunAsk, ask};
    use countersign_core::{Actor, Command};
    use countersign_protocol::a2h::{Kind, Priority};
    use countersign_protocol::id::ResolutionId;
    use countersign_protocol::time::Timestamp;
    use countersign_store::model::{Application, NewMessage, Proposal, SignatureAlg, Submission, json_text};
    use countersign_store::ops::admin::agents::AddAgent;
    use countersign_store::ops::apply::Apply;
    use countersign_store::ops::submit::Submit;
    use futures_util::FutureExt;
    use tokio::time::timeout;

    use super::*;
    use crate::testing;

    fn message(id: &MessageId) -> NewMessage {
        let asked = RunAsk {
            kind: AskKind::Input { prompt: None },
            run_id: "run".to_owned(),
            agent_name: "user".to_owned(),
            strategy_name: "talk".to_owned(),
            cwd: "/".to_owned(),
            resolvers: vec![Actor::human("owner")],
        };
        let (content, at) = (ask::content(&asked), Timestamp::from_millis(1));
        NewMessage {
            kind: Kind::Ask,
            rank: inbox_rank(Priority::Normal),
            received_at: at,
            expires_at: None,
            idempotency_key: None,
            source: json_text(&ask::source(&asked, "input")).unwrap(),
            callback: None,
            audit: Entry {
                subject: id.to_string(),
                at,
                actor: "agent".to_owned(),
                event: "submitted".to_owned(),
                content_sha256: None,
                resolution_sha256: None,
                prev_hash: None,
            },
            agent_id: content.agent.id.clone(),
            content: Some(json_text(&content).unwrap()),
            wire: "{}".to_owned(),
            id: id.clone(),
        }
    }

    async fn asked(hub: &Hub, id: &MessageId) {
        let message = message(id);
        let agent = AddAgent {
            id: message.agent_id.clone(),
            signature_alg: SignatureAlg::HmacSha256,
            token_hash: [7; 32],
            signing_key: String::new(),
            actor: "test".to_owned(),
        };
        assert!(hub.store.run(agent).await.unwrap());
        let submission = hub.store.run(Submit { message, max_open: i64::MAX }).await.unwrap();
        assert_eq!(submission, Submission::Created);
    }

    #[tokio::test]
    async fn a_look_that_is_dropped_is_made_again() {
        let (hub, id) = (testing::hub(), MessageId::from_uuid(Uuid::from_u128(7)));
        asked(&hub, &id).await;
        let mut waiting = Waiting::new(&hub, id.clone(), AskBody::default());
        let resolution_id = ResolutionId::from_uuid(Uuid::from_u128(8));
        let cancel = Proposal { message_id: id.clone(), command: Command::Cancel, resolution_id, files: Vec::new() };
        assert!(matches!(hub.store.run(Apply(cancel)).await.unwrap(), Application::Resolved(_)));
        hub.wake.look(&id);
        // As by mail that comes in the middle of it.
        let _ = waiting.resolution(&hub).now_or_never();
        let resolution = timeout(Duration::from_secs(5), waiting.resolution(&hub)).await.expect("it looks again");
        assert_eq!(resolution.outcome, Outcome::Cancelled);
    }
}
