//! POST /v1/hap/cues

use std::sync::Arc;
use std::time::Instant;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;
use countersign_core::hap::Cue;
use countersign_core::message::Status;
use countersign_protocol::a2h;
use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;
use countersign_store::model::ResolvedMessage;
use countersign_store::ops::terminal::{CueOutcome, NewCue, OpenCues, SubmitCue};
use countersign_telemetry::request::error_id;
use serde::Serialize;

use super::message::{
    CueOrigin, complete_terminal, new_cue, new_resolution_id, not_your_name, quota_exceeded, terminal_quota,
};
use super::request::{TerminalInfo, TerminalRequest};
use super::wait::load_cue;
use crate::Hub;
use crate::cluster::LiveChange;
use crate::http::body;
use crate::http::callers::TerminalCaller;
use crate::messages::Accepted;
use crate::problem::Problem;

const MAX_BODY_BYTES: usize = 8 * 1024 * 1024;

#[derive(Serialize)]
pub struct CueAck {
    id: MessageId,
    status: &'static str,
    /// The cue existed before this request.
    attached: bool,
    superseded: Vec<MessageId>,
    /// Older cues of this agent that are still open.
    queued_behind: usize,
    warning: Option<String>,
    /// The page where a person decides.
    url: String,
}

/// Idempotent: the same text gives the same cue until its answer is collected.
pub async fn cue(
    State(hub): State<Arc<Hub>>,
    caller: TerminalCaller,
    body: Body,
) -> Result<(StatusCode, Json<CueAck>), Problem> {
    hub.auth.request_limiter.check_terminals(caller.key()).await?;
    let (bytes, permit) = body::read_budgeted(&hub, &caller.key(), body, MAX_BODY_BYTES).await?;
    let size = bytes.len();
    let (wire, agent_id, cue, info) = body::offload_if_large(size, move || read(&bytes)).await??;
    let terminal = complete_terminal(&hub, &caller.person, agent_id, info).await?;
    let origin = CueOrigin {
        now: hub.store.clock().now(),
        wire,
        imported_from: None,
    };
    let build = move || new_cue(&cue, terminal, caller.person, origin).map(|new| (new, cue));
    let (new, cue) = body::offload_if_large(size, build).await??;
    // Spawned, so that the submit and its announcements run to completion after a disconnect.
    let submitted = tokio::spawn(async move {
        let _permit = permit;
        submit(&hub, new, &cue).await
    });
    submitted.await.unwrap_or_else(|error| {
        let id = error_id();
        tracing::error!(error_id = %id, %error, "submitting a cue panicked or was aborted");
        Err(Problem::Unavailable { id })
    })
}

fn read(bytes: &[u8]) -> Result<(String, String, Cue, TerminalInfo), Problem> {
    let mut request = TerminalRequest::parse(bytes)?;
    let wire = std::str::from_utf8(bytes).unwrap_or_default().trim().to_owned();
    Ok((wire, request.agent_id()?, request.cue()?, request.terminal_info()?))
}

/// A cue that supersedes one with a held decision waits for the end of the hold: its agent gets the real outcome, and
/// does not learn of the hold.
async fn submit(hub: &Hub, mut new: NewCue, cue: &Cue) -> Result<(StatusCode, Json<CueAck>), Problem> {
    let began = Instant::now();
    loop {
        match try_submit(hub, new, cue).await? {
            Attempt::Done(status, ack) => return Ok((status, Json(ack))),
            Attempt::Held { until, cue: again } => {
                hub.messages.wait_for_release(until, began).await?;
                new = *again;
            }
        }
    }
}

enum Attempt {
    Done(StatusCode, CueAck),
    Held { until: Timestamp, cue: Box<NewCue> },
}

async fn try_submit(hub: &Hub, mut new: NewCue, cue: &Cue) -> Result<Attempt, Problem> {
    let id = new.message.id.clone();
    let agent_id = new.message.agent_id.clone();
    let person = new.person.clone();
    let earlier = hub
        .store
        .run(OpenCues {
            agent_id: agent_id.clone(),
        })
        .await?;
    let gone = earlier.iter().filter(|id| hub.cue_waiters.is_gone(id));
    new.gone = gone.map(|id| (id.clone(), new_resolution_id())).collect();
    // Before the insert, so that the new cue never looks like one whose process is gone.
    let expected = ExpectedWait::new(hub, &id, cue);
    let outcome = hub
        .store
        .run(SubmitCue {
            cue: new,
            quota: terminal_quota(hub),
        })
        .await;
    match outcome.inspect_err(|error| hub.messages.resync_if_unsure(error))? {
        CueOutcome::Created { superseded, answered } => {
            expected.keep();
            hub.background
                .agent_last_seen
                .record(&agent_id, hub.store.clock().now());
            let ack = created(hub, id, cue, earlier.len(), superseded, answered.as_deref());
            Ok(Attempt::Done(StatusCode::CREATED, ack))
        }
        CueOutcome::Attached(id) => {
            let ack = attached(hub, &person, id, cue, &earlier).await?;
            Ok(Attempt::Done(StatusCode::OK, ack))
        }
        CueOutcome::NotYours => Err(not_your_name()),
        CueOutcome::QuotaExceeded(quota) => Err(quota_exceeded(quota)),
        CueOutcome::Held { until, cue } => Ok(Attempt::Held { until, cue }),
    }
}

/// Announces a wait for a cue, and withdraws it on drop unless `keep` is called.
struct ExpectedWait<'h> {
    hub: &'h Hub,
    id: Option<MessageId>,
}

impl<'h> ExpectedWait<'h> {
    fn new(hub: &'h Hub, id: &MessageId, cue: &Cue) -> Self {
        hub.cue_waiters.expect(id, cue.kind);
        Self {
            hub,
            id: Some(id.clone()),
        }
    }

    fn keep(mut self) {
        self.id = None;
    }
}

impl Drop for ExpectedWait<'_> {
    fn drop(&mut self) {
        if let Some(id) = &self.id {
            self.hub.cue_waiters.withdraw(id);
        }
    }
}

fn created(
    hub: &Hub,
    id: MessageId,
    cue: &Cue,
    earlier: usize,
    superseded: Vec<ResolvedMessage>,
    answered: Option<&ResolvedMessage>,
) -> CueAck {
    hub.messages.announce_accepted(&Accepted {
        id: id.clone(),
        kind: a2h::Kind::Ask,
        expires_at: None,
    });
    superseded
        .iter()
        .chain(answered)
        .for_each(|applied| hub.messages.announce(applied));
    tracing::debug!(message_id = %id, superseded = superseded.len(), answered = answered.is_some(), "cue created");
    CueAck {
        status: answered
            .map_or(Status::Open, |applied| applied.view.state.status())
            .as_str(),
        attached: false,
        queued_behind: earlier.saturating_sub(superseded.len()),
        superseded: superseded.into_iter().map(|applied| applied.view.id).collect(),
        warning: cue.warning(),
        url: item_url(hub, &id),
        id,
    }
}

async fn attached(hub: &Hub, person: &str, id: MessageId, cue: &Cue, earlier: &[MessageId]) -> Result<CueAck, Problem> {
    let expected = ExpectedWait::new(hub, &id, cue);
    let status = load_cue(hub, person, &id).await?.view.state.status();
    let queued_behind = match status {
        Status::Open => {
            expected.keep();
            hub.live.publish(LiveChange::Tracked(id.clone()));
            earlier.iter().take_while(|earlier| **earlier != id).count()
        }
        Status::Delivered | Status::Resolved(_) => 0,
    };
    let status = status.as_str();
    let warning = cue.warning();
    let url = item_url(hub, &id);
    Ok(CueAck {
        status,
        attached: true,
        superseded: Vec::new(),
        queued_behind,
        warning,
        url,
        id,
    })
}

fn item_url(hub: &Hub, id: &MessageId) -> String {
    format!("{}/inbox/items/{id}", hub.process.browser_url())
}
