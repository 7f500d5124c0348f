//! POST /v1/hap/cues

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;
use countersign_core::hap::Cue;
use countersign_core::message::Status;
use countersign_protocol::a2h;
use countersign_protocol::id::MessageId;
use countersign_store::model::Applied;
use countersign_store::ops::terminal::{CueOutcome, NewCue, OpenCues, SubmitCue};
use serde::Serialize;
use uuid::Uuid;

use super::given::{Given, Place};
use super::message::{Asked, bounds, new_cue, new_resolution_id, not_yours, too_many, whole};
use super::wait::look;
use crate::app::Hub;
use crate::auth::TerminalCaller;
use crate::body;
use crate::inbox::news::Change;
use crate::problem::Problem;

const MOST_BYTES: usize = 8 * 1024 * 1024;

#[derive(Serialize)]
pub struct Ack {
    id: MessageId,
    status: &'static str,
    /// It was there already.
    attached: bool,
    superseded: Vec<MessageId>,
    /// Cues of this agent that were there before and are still open.
    queued_behind: usize,
    warning: Option<String>,
    /// The page on which a person decides.
    url: String,
}

/// The same words again lead to the same cue, until its answer has been collected.
pub async fn cue(
    State(hub): State<Arc<Hub>>,
    caller: TerminalCaller,
    body: Body,
) -> Result<(StatusCode, Json<Ack>), Problem> {
    hub.rate_limit.check_terminals(&caller).await?;
    let (bytes, hold) = body::read_counted(&hub, &caller.key(), body, MOST_BYTES).await?;
    let size = bytes.len();
    let (wire, agent_id, cue, place) = body::work(size, move || read(&bytes)).await??;
    let terminal = whole(&hub, &caller.person, agent_id, place).await?;
    let asked = Asked {
        now: hub.store.clock().now(),
        wire,
        elsewhere: None,
    };
    let made = move || new_cue(&cue, terminal, caller.person, asked).map(|new| (new, cue));
    let (new, cue) = body::work(size, made).await??;
    // By itself: whoever leaves in the middle may have asked all the same, and everybody concerned is to hear of it.
    let submitted = tokio::spawn(async move {
        let _hold = hold;
        submit(&hub, new, &cue).await
    });
    submitted.await.unwrap_or_else(|error| {
        let id = Uuid::new_v4();
        tracing::error!(%id, %error, "a cue could not be submitted");
        Err(Problem::Unavailable { id })
    })
}

fn read(bytes: &[u8]) -> Result<(String, String, Cue, Place), Problem> {
    let mut given = Given::parse(bytes)?;
    let wire = std::str::from_utf8(bytes).unwrap_or_default().trim().to_owned();
    Ok((wire, given.agent_id()?, given.cue()?, given.place()?))
}

async fn submit(hub: &Hub, mut new: NewCue, cue: &Cue) -> Result<(StatusCode, Json<Ack>), Problem> {
    let id = new.message.id.clone();
    let agent_id = new.message.agent_id.clone();
    let person = new.person.clone();
    let earlier = hub
        .store
        .run(OpenCues {
            agent_id: agent_id.clone(),
        })
        .await?;
    let gone = earlier.iter().filter(|id| hub.terminals.is_gone(id));
    new.gone = gone.map(|id| (id.clone(), new_resolution_id())).collect();
    // Before it can be seen by anybody, so that nobody takes it for one whose process is gone.
    let expected = Expected::new(hub, &id, cue);
    let outcome = hub
        .store
        .run(SubmitCue {
            cue: new,
            most: bounds(hub),
        })
        .await;
    match outcome.inspect_err(|error| hub.may_be_done(error))? {
        CueOutcome::Created { superseded, answered } => {
            expected.keep();
            hub.presence.note(&agent_id, hub.store.clock().now());
            Ok((
                StatusCode::CREATED,
                Json(created(hub, id, cue, earlier.len(), superseded, answered.as_deref())),
            ))
        }
        CueOutcome::Attached(id) => Ok((StatusCode::OK, Json(attached(hub, &person, id, cue, &earlier).await?))),
        CueOutcome::NotYours => Err(not_yours()),
        CueOutcome::TooMany(what) => Err(too_many(what)),
    }
}

/// A cue that is about to be, unless it turns out otherwise.
struct Expected<'h> {
    hub: &'h Hub,
    id: Option<MessageId>,
}

impl<'h> Expected<'h> {
    fn new(hub: &'h Hub, id: &MessageId, cue: &Cue) -> Self {
        hub.terminals.expect(id, cue.kind);
        Self {
            hub,
            id: Some(id.clone()),
        }
    }

    fn keep(mut self) {
        self.id = None;
    }
}

impl Drop for Expected<'_> {
    fn drop(&mut self) {
        if let Some(id) = &self.id {
            self.hub.terminals.take_back(id);
        }
    }
}

fn created(
    hub: &Hub,
    id: MessageId,
    cue: &Cue,
    earlier: usize,
    superseded: Vec<Applied>,
    answered: Option<&Applied>,
) -> Ack {
    hub.metrics.submitted(a2h::Kind::Ask);
    hub.indexer.submitted();
    hub.news.tell(Change::Opened(id.clone()));
    superseded
        .iter()
        .chain(answered)
        .for_each(|applied| hub.announce(applied));
    tracing::debug!(%id, superseded = superseded.len(), answered = answered.is_some(), "cued");
    Ack {
        status: answered
            .map_or(Status::Open, |applied| applied.pulled.state.status())
            .as_str(),
        attached: false,
        queued_behind: earlier.saturating_sub(superseded.len()),
        superseded: superseded.into_iter().map(|applied| applied.pulled.id).collect(),
        warning: cue.warning(),
        url: page(hub, &id),
        id,
    }
}

async fn attached(hub: &Hub, person: &str, id: MessageId, cue: &Cue, earlier: &[MessageId]) -> Result<Ack, Problem> {
    let expected = Expected::new(hub, &id, cue);
    let status = look(hub, person, &id).await?.pulled.state.status();
    let queued_behind = match status {
        Status::Open => {
            expected.keep();
            hub.news.tell(Change::Tracked(id.clone()));
            earlier.iter().take_while(|earlier| **earlier != id).count()
        }
        Status::Delivered | Status::Resolved(_) => 0,
    };
    let status = status.as_str();
    let warning = cue.warning();
    let url = page(hub, &id);
    Ok(Ack {
        status,
        attached: true,
        superseded: Vec::new(),
        queued_behind,
        warning,
        url,
        id,
    })
}

fn page(hub: &Hub, id: &MessageId) -> String {
    format!("{}/inbox/items/{id}", hub.browser_url())
}
