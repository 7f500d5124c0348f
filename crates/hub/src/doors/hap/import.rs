//! POST /v1/hap/import: a cue that was asked elsewhere, before this hub, with what became of it.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use countersign_core::limits::check_comment;
use countersign_core::{Outcome, Resolution};
use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;
use countersign_store::ops::terminal::{ImportCue, Imported};
use serde::Serialize;
use serde_json::{Value, json};

use super::given::Given;
use super::message::{Asked, new_cue, new_resolution_id, not_yours, whole};
use crate::app::Hub;
use crate::attachments::{Attached, WITH_FILES};
use crate::auth::TerminalCaller;
use crate::body;
use crate::inbox::news::Change;
use crate::problem::Problem;

const MAX_KEY_CHARS: usize = 200;
const IMPORTED: &str = "system:imported";

#[derive(Serialize)]
pub struct Ack {
    id: MessageId,
    /// Not when it had been before.
    imported: bool,
}

pub async fn import(State(hub): State<Arc<Hub>>, caller: TerminalCaller, body: Body) -> Result<Json<Ack>, Problem> {
    hub.rate_limit.check_terminals(&caller.person)?;
    let mut given = Given::parse(&body::read(body, WITH_FILES).await?)?;
    let key = request_id(&mut given)?;
    let (agent_id, cue, place) = (given.agent_id()?, given.cue()?, given.place()?);
    let at = past(&hub, "created_at", given.instant("created_at")?)?;
    let (resolution, files) = match given.take("resolution") {
        None => (None, Vec::new()),
        Some(value) => resolution(&hub, at, value).map(|(resolution, files)| (Some(resolution), files))?,
    };
    let terminal = whole(&hub, &caller.person, agent_id, place).await?;
    let wire = json!({
        "request_id": key, "agent_id": terminal.agent_id,
        "kind": cue.kind, "prompt": cue.prompt, "payload": cue.payload,
    });
    let asked = Asked { at, wire: wire.to_string(), key: Some(key), event: "imported" };
    let cue = new_cue(&cue, terminal, caller.person, asked)?;
    let (id, is_open) = (cue.message.id.clone(), resolution.is_none());
    match hub.store.run(ImportCue { cue, resolution, files }).await? {
        Imported::New => {
            hub.indexer.submitted();
            hub.news.tell(if is_open { Change::Opened(id.clone()) } else { Change::Tracked(id.clone()) });
            Ok(Json(Ack { id, imported: true }))
        }
        Imported::Known(id) => Ok(Json(Ack { id, imported: false })),
        Imported::NotYours => Err(not_yours()),
    }
}

fn request_id(given: &mut Given) -> Result<String, Problem> {
    let key = given.needed_text("request_id")?;
    if key.is_empty() || key.chars().count() > MAX_KEY_CHARS {
        return Err(Problem::invalid("request_id", format!("use 1 to {MAX_KEY_CHARS} characters")));
    }
    Ok(key)
}

fn past(hub: &Hub, field: &str, at: Timestamp) -> Result<Timestamp, Problem> {
    if at > hub.store.clock().now() || at.as_millis() < 0 {
        return Err(Problem::invalid(field, "must lie in the past"));
    }
    Ok(at)
}

/// `{status, resolved_at, text?, comment?, files?}`
fn resolution(hub: &Hub, asked_at: Timestamp, value: Value) -> Result<(Resolution, Vec<Vec<u8>>), Problem> {
    let Value::Object(fields) = value else { return Err(Problem::invalid("resolution", "must be an object or null")) };
    let mut given = Given::of(fields);
    let outcome = match given.needed_text("status")?.as_str() {
        "answered" => Outcome::Answered,
        "declined" => Outcome::Declined,
        "cancelled" => Outcome::Cancelled,
        "expired" => Outcome::Expired,
        _ => return Err(Problem::invalid("status", "must be answered, declined, cancelled or expired")),
    };
    let resolved_at = past(hub, "resolved_at", given.instant("resolved_at")?)?;
    let (text, comment) = (given.text("text")?, given.text("comment")?);
    comment.as_deref().map_or(Ok(()), check_comment)?;
    let attached = Attached::read(given.take("files"))?;
    let is_answer = outcome == Outcome::Answered;
    if !is_answer && (text.is_some() || !attached.notes.is_empty()) {
        return Err(Problem::invalid("resolution", "text and files go with answered only"));
    }
    let resolution = Resolution {
        id: new_resolution_id(),
        outcome,
        defaulted: false,
        value: is_answer.then(|| text.unwrap_or_default().into()),
        edited: false,
        // Who it was nobody here has seen, and a terminal cannot vouch for a person.
        actor: IMPORTED.parse().map_err(|_| Problem::invalid("resolution", "has no actor"))?,
        resolved_at: resolved_at.max(asked_at),
        comment,
        checklist: None,
        files: attached.notes,
    };
    Ok((resolution, attached.bodies))
}
