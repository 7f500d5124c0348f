//! GET /v1/hap/cues/{id}, with long-poll. An open connection shows that a process waits for the cue.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use countersign_core::State as MessageState;
use countersign_protocol::hap::CueKind;
use countersign_protocol::id::MessageId;
use countersign_store::ops::terminal::{FindCue, FoundCue};
use countersign_store::waiters::WaiterKind;
use serde::Deserialize;
use serde_json::Value;

use super::reply;
use crate::Hub;
use crate::http::callers::TerminalCaller;
use crate::http::extract::{MessagePath, Params, parse_wait};
use crate::http::long_poll::{Polled, long_poll};
use crate::messages::cue_waiters::{WaitGuard, cue_kind};
use crate::problem::Problem;

#[derive(Debug, Deserialize)]
pub struct WaitQuery {
    wait: Option<String>,
}

pub async fn wait(
    State(hub): State<Arc<Hub>>,
    caller: TerminalCaller,
    MessagePath(id): MessagePath,
    Params(query): Params<WaitQuery>,
) -> Result<Json<Value>, Problem> {
    let wait = parse_wait(query.wait.as_deref())?;
    drop(query);
    let found = if wait.is_zero() {
        load_cue(&hub, &caller.person, &id).await?
    } else {
        let _permit = hub.limits.terminal_waits.acquire(&caller.person)?;
        let mut polled = PolledCue {
            hub: &hub,
            caller: &caller,
            id: &id,
            guard: None,
        };
        let found = long_poll(&hub, &id, wait, &mut polled).await;
        if let Some(guard) = polled.guard {
            guard.finish();
        }
        found?
    };
    if !matches!(found.view.state, MessageState::Open) {
        // The cue may be resolved before the wait began.
        hub.cue_waiters.mark_handed_over(&id);
    }
    Ok(Json(reply::to_json(&found)))
}

/// A cue of this person. The message of a wake-up lacks fields of a cue, so the cue is read again.
struct PolledCue<'p> {
    hub: &'p Hub,
    caller: &'p TerminalCaller,
    id: &'p MessageId,
    /// Records that a process waits. Dropped without `finish`, it records that the client has disconnected.
    guard: Option<WaitGuard>,
}

impl Polled for PolledCue<'_> {
    const WAITER: WaiterKind = WaiterKind::Terminal;
    type Found = Box<FoundCue>;

    async fn read(&mut self) -> Result<Box<FoundCue>, Problem> {
        load_cue(self.hub, &self.caller.person, self.id).await
    }

    fn is_open(found: &Box<FoundCue>) -> bool {
        matches!(found.view.state, MessageState::Open)
    }

    async fn recheck(&self) -> Result<(), Problem> {
        self.caller.recheck(self.hub).await
    }

    fn begin_wait(&mut self, found: &Box<FoundCue>) {
        let kind = || cue_kind(&found.view.source).unwrap_or(CueKind::Cue);
        self.guard
            .get_or_insert_with(|| self.hub.cue_waiters.start_wait(self.id, kind()));
    }
}

/// Another person's cue gives the same 404 as a missing one.
pub async fn load_cue(hub: &Hub, person: &str, id: &MessageId) -> Result<Box<FoundCue>, Problem> {
    let found = hub
        .store
        .run(FindCue {
            id: id.clone(),
            person: person.to_owned(),
        })
        .await?;
    let found = found.ok_or_else(Problem::no_message)?;
    hub.background
        .agent_last_seen
        .record(&found.view.agent_id, hub.store.clock().now());
    Ok(Box::new(found))
}
