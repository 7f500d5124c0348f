//! POST /v1/hap/import: a cue of the original program, with its resolution if it has one.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use countersign_core::hap::Cue;
use countersign_core::limits::check_comment;
use countersign_core::{Outcome, Resolution};
use countersign_protocol::hap::CuePayload;
use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;
use countersign_store::ops::terminal::{ImportCue, ImportOutcome};
use serde::Serialize;
use serde_json::{Value, json};

use super::message::{
    CueOrigin, ImportSource, complete_terminal, new_cue, new_resolution_id, not_your_name, quota_exceeded,
    terminal_quota,
};
use super::request::{TerminalInfo, TerminalRequest};
use crate::Hub;
use crate::cluster::LiveChange;
use crate::http::attachments::{AttachedFiles, MAX_BYTES_WITH_FILES};
use crate::http::body;
use crate::http::callers::TerminalCaller;
use crate::problem::Problem;

const MAX_KEY_CHARS: usize = 200;
const IMPORT_ACTOR: &str = "system:imported";

#[derive(Serialize)]
pub struct ImportAck {
    id: MessageId,
    /// False when this cue was imported before.
    imported: bool,
}

pub async fn import(
    State(hub): State<Arc<Hub>>,
    caller: TerminalCaller,
    body: Body,
) -> Result<Json<ImportAck>, Problem> {
    hub.auth.request_limiter.check_terminals(caller.key()).await?;
    let (bytes, _permit) = body::read_budgeted(&hub, &caller.key(), body, MAX_BYTES_WITH_FILES).await?;
    let size = bytes.len();
    let now = hub.store.clock().now();
    let ImportRequest {
        agent_id,
        info,
        cue,
        source,
        ended,
    } = body::offload_if_large(size, move || ImportRequest::read(&bytes, now)).await??;
    let terminal = complete_terminal(&hub, &caller.person, agent_id, info).await?;
    let kind = cue.kind;
    let at = source.at;
    let build = move || {
        let wire = json!({
            "request_id": source.key, "agent_id": terminal.agent_id,
            "kind": cue.kind, "prompt": cue.prompt, "payload": cue.payload,
        });
        let origin = CueOrigin {
            now,
            wire: wire.to_string(),
            imported_from: Some(source),
        };
        new_cue(&cue, terminal, caller.person, origin)
    };
    let cue = body::offload_if_large(size, build).await??;
    let id = cue.message.id.clone();
    let is_open = ended.resolution.is_none();
    let ImportedResolution {
        resolution,
        files,
        collected,
    } = ended;
    match hub
        .store
        .run(ImportCue {
            cue,
            quota: terminal_quota(&hub),
            resolution,
            files,
            collected,
        })
        .await?
    {
        ImportOutcome::New => {
            hub.background.indexer.note_submitted();
            if is_open {
                // Its process, if any, waits at the original program.
                hub.cue_waiters.add_gone(&id, kind, at);
            }
            hub.live.publish(if is_open {
                LiveChange::Opened(id.clone())
            } else {
                LiveChange::Tracked(id.clone())
            });
            Ok(Json(ImportAck { id, imported: true }))
        }
        ImportOutcome::Known(id) => Ok(Json(ImportAck { id, imported: false })),
        ImportOutcome::NotYours => Err(not_your_name()),
        ImportOutcome::QuotaExceeded(quota) => Err(quota_exceeded(quota)),
    }
}

/// The cue as the original program had it.
struct ImportRequest {
    agent_id: String,
    info: TerminalInfo,
    cue: Cue,
    source: ImportSource,
    ended: ImportedResolution,
}

impl ImportRequest {
    fn read(bytes: &[u8], now: Timestamp) -> Result<Self, Problem> {
        let mut request = TerminalRequest::parse(bytes)?;
        let key = request_id(&mut request)?;
        let agent_id = request.agent_id()?;
        let cue = request.cue()?;
        let info = request.terminal_info()?;
        let at = check_past(now, "created_at", request.timestamp("created_at")?)?;
        let ended = request
            .take("resolution")
            .map(|value| ImportedResolution::read(&cue, now, at, value))
            .transpose()?;
        Ok(Self {
            agent_id,
            info,
            cue,
            source: ImportSource { at, key },
            ended: ended.unwrap_or_default(),
        })
    }
}

fn request_id(request: &mut TerminalRequest) -> Result<String, Problem> {
    let key = request.required_text("request_id")?;
    if key.is_empty() || key.chars().count() > MAX_KEY_CHARS {
        return Err(Problem::invalid(
            "request_id",
            format!("use 1 to {MAX_KEY_CHARS} characters"),
        ));
    }
    Ok(key)
}

fn check_past(now: Timestamp, field: &str, at: Timestamp) -> Result<Timestamp, Problem> {
    if at > now || at.as_millis() < 0 {
        return Err(Problem::invalid(field, "must be in the past"));
    }
    Ok(at)
}

/// The resolution at the original program; empty while the cue is open.
#[derive(Default)]
struct ImportedResolution {
    resolution: Option<Resolution>,
    files: Vec<Vec<u8>>,
    /// The agent has collected the answer.
    collected: bool,
}

impl ImportedResolution {
    /// `{status, resolved_at, text?, comment?, files?, collected?}`
    fn read(cue: &Cue, now: Timestamp, created_at: Timestamp, value: Value) -> Result<Self, Problem> {
        let Value::Object(fields) = value else {
            return Err(Problem::invalid("resolution", "must be an object or null"));
        };
        let mut request = TerminalRequest::from_fields(fields);
        let collected = match request.take("collected") {
            None => true,
            Some(Value::Bool(collected)) => collected,
            Some(_) => return Err(Problem::invalid("collected", "must be true or false")),
        };
        let (resolution, files) = resolution(cue, now, created_at, request)?;
        Ok(Self {
            resolution: Some(resolution),
            files,
            collected,
        })
    }
}

fn resolution(
    cue: &Cue,
    now: Timestamp,
    created_at: Timestamp,
    mut request: TerminalRequest,
) -> Result<(Resolution, Vec<Vec<u8>>), Problem> {
    let outcome = match request.required_text("status")?.as_str() {
        "answered" => Outcome::Answered,
        "declined" => Outcome::Declined,
        "cancelled" => Outcome::Cancelled,
        "expired" => Outcome::Expired,
        _ => {
            return Err(Problem::invalid(
                "status",
                "must be answered, declined, cancelled or expired",
            ));
        }
    };
    let resolved_at = check_past(now, "resolved_at", request.timestamp("resolved_at")?)?;
    let text = request.text("text")?;
    let comment = request.text("comment")?;
    comment.as_deref().map_or(Ok(()), check_comment)?;
    let attached = request.take("files").map(AttachedFiles::read).transpose()?;
    let attached = attached.unwrap_or_default();
    let is_answer = outcome == Outcome::Answered;
    if !is_answer && (text.is_some() || !attached.notes.is_empty()) {
        return Err(Problem::invalid(
            "resolution",
            "text and files are allowed only with status answered",
        ));
    }
    let resolution = Resolution {
        id: new_resolution_id(),
        outcome,
        defaulted: false,
        value: is_answer.then(|| text.unwrap_or_default().into()),
        // A terminal knows the text of an answer, but not which choice was pressed.
        edited: is_answer && !matches!(cue.read_payload(), None | Some(CuePayload::Unknown { .. })),
        // A system actor: the hub did not see the person, and a terminal cannot vouch for one.
        actor: IMPORT_ACTOR
            .parse()
            .map_err(|_| Problem::invalid("resolution", "has an invalid actor"))?,
        resolved_at: resolved_at.max(created_at),
        comment,
        checklist: None,
        files: attached.notes,
    };
    Ok((resolution, attached.bodies))
}
