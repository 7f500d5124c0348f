//! GET /v1/hap/cues/{id}, with long-poll. The connection says that somebody is there.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use countersign_core::State as MessageState;
use countersign_protocol::hap::Kind;
use countersign_protocol::id::MessageId;
use countersign_store::ops::terminal::{FindCue, FoundCue};
use serde::Deserialize;
use serde_json::Value;
use tokio::time::Instant;

use super::reply;
use crate::app::Hub;
use crate::auth::TerminalCaller;
use crate::extract::{MessagePath, Params, wait_of};
use crate::problem::Problem;
use crate::terminals::{Held, cue_kind};
use crate::wake::BEFORE_ANOTHER_LOOK;

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
    let wait = wait_of(query.wait.as_deref())?;
    drop(query);
    let found = if wait.is_zero() {
        look(&hub, &caller.person, &id).await?
    } else {
        let _seat = hub.waits.take(&caller.person)?;
        look_until_resolved(&hub, &caller, &id, wait).await?
    };
    if !matches!(found.pulled.state, MessageState::Open) {
        // It may have been resolved before it was held.
        hub.terminals.hand(&id);
    }
    Ok(Json(reply::shown(&found)))
}

async fn look_until_resolved(
    hub: &Arc<Hub>,
    caller: &TerminalCaller,
    id: &MessageId,
    wait: Duration,
) -> Result<Box<FoundCue>, Problem> {
    let mut held = None;
    // Dropped in here, because the other end has gone, `held` says so.
    let found = look_while_held(hub, caller, id, wait, &mut held).await;
    if let Some(held) = held {
        held.finish();
    }
    found
}

/// Registers first and looks then, so that no resolution falls between the two. What comes with the wake-up has not all that
/// is needed here, so it is looked at again.
async fn look_while_held(
    hub: &Arc<Hub>,
    caller: &TerminalCaller,
    id: &MessageId,
    wait: Duration,
    held: &mut Option<Held>,
) -> Result<Box<FoundCue>, Problem> {
    let deadline = Instant::now() + wait;
    let mut stopping = hub.stopping.clone();
    let mut endings = hub.credentials.endings();
    loop {
        let mut waiter = hub.wake.register(id);
        let found = match look(hub, &caller.person, id).await {
            // Whoever waits already goes on waiting while the store is away.
            Err(Problem::Unavailable { .. }) if held.is_some() && Instant::now() < deadline && !*stopping.borrow() => {
                tokio::time::sleep(BEFORE_ANOTHER_LOOK).await;
                continue;
            }
            looked => looked?,
        };
        if !matches!(found.pulled.state, MessageState::Open) || *stopping.borrow() || Instant::now() >= deadline {
            return Ok(found);
        }
        if held.is_none() {
            let kind = cue_kind(&found.pulled.source).unwrap_or(Kind::Cue);
            *held = Some(hub.terminals.hold(id, kind));
        }
        drop(found);
        tokio::select! {
            // In this order: whoever may not hear any more hears nothing that came after.
            biased;
            _ = endings.changed() => caller.check_again(hub).await?,
            _ = waiter.rung() => {}
            () = tokio::time::sleep_until(deadline) => {}
            _ = stopping.changed() => {}
        }
    }
}

/// A cue of somebody else looks like none at all.
pub async fn look(hub: &Hub, person: &str, id: &MessageId) -> Result<Box<FoundCue>, Problem> {
    let found = hub
        .store
        .run(FindCue {
            id: id.clone(),
            person: person.to_owned(),
        })
        .await?;
    let found = found.ok_or_else(Problem::no_message)?;
    hub.presence.note(&found.pulled.agent_id, hub.store.clock().now());
    Ok(Box::new(found))
}
