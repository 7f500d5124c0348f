//! GET /v1/hap/cues/{id}, with long-poll. An open connection shows that a process waits for the cue.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use countersign_core::State as MessageState;
use countersign_protocol::hap::CueKind;
use countersign_protocol::id::MessageId;
use countersign_store::ops::terminal::{FindCue, FoundCue};
use countersign_store::waiters::STORE_RETRY_DELAY;
use serde::Deserialize;
use serde_json::Value;
use tokio::time::Instant;

use super::reply;
use crate::Hub;
use crate::http::callers::TerminalCaller;
use crate::http::extract::{MessagePath, Params, parse_wait};
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
        wait_until_resolved(&hub, &caller, &id, wait).await?
    };
    if !matches!(found.pulled.state, MessageState::Open) {
        // The cue may be resolved before the wait began.
        hub.cue_waiters.mark_handed_over(&id);
    }
    Ok(Json(reply::to_json(&found)))
}

async fn wait_until_resolved(
    hub: &Arc<Hub>,
    caller: &TerminalCaller,
    id: &MessageId,
    wait: Duration,
) -> Result<Box<FoundCue>, Problem> {
    let mut guard = None;
    // If this future is dropped here, the client has disconnected, and dropping `guard` records that.
    let found = wait_guarded(hub, caller, id, wait, &mut guard).await;
    if let Some(guard) = guard {
        guard.finish();
    }
    found
}

/// Long-poll: registers first and then reads, so that no resolution is missed in between. The message of the wake-up
/// lacks fields of a cue, so the cue is read again.
async fn wait_guarded(
    hub: &Arc<Hub>,
    caller: &TerminalCaller,
    id: &MessageId,
    wait: Duration,
    guard: &mut Option<WaitGuard>,
) -> Result<Box<FoundCue>, Problem> {
    let deadline = Instant::now() + wait;
    let mut stopping = hub.process.stopping.clone();
    let mut revocations = hub.auth.credentials.revocations();
    loop {
        let mut waiter = hub.messages.waiters.register(id);
        let found = match load_cue(hub, &caller.person, id).await {
            // A long-poll continues while the store is unavailable.
            Err(Problem::Unavailable { .. }) if guard.is_some() && Instant::now() < deadline && !*stopping.borrow() => {
                tokio::time::sleep(STORE_RETRY_DELAY).await;
                continue;
            }
            loaded => loaded?,
        };
        if !matches!(found.pulled.state, MessageState::Open) || *stopping.borrow() || Instant::now() >= deadline {
            return Ok(found);
        }
        if guard.is_none() {
            let kind = cue_kind(&found.pulled.source).unwrap_or(CueKind::Cue);
            *guard = Some(hub.cue_waiters.start_wait(id, kind));
        }
        drop(found);
        tokio::select! {
            // Biased: a revoked credential must not receive a later answer.
            biased;
            _ = revocations.changed() => caller.recheck(hub).await?,
            _ = waiter.woken() => {}
            () = tokio::time::sleep_until(deadline) => {}
            _ = stopping.changed() => {}
        }
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
        .record(&found.pulled.agent_id, hub.store.clock().now());
    Ok(Box::new(found))
}
