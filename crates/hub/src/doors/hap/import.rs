//! POST /v1/hap/import: a cue that was asked elsewhere, before this hub, with what became of it.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use countersign_core::hap::Cue;
use countersign_core::limits::check_comment;
use countersign_core::{Outcome, Resolution};
use countersign_protocol::hap::Payload;
use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;
use countersign_store::ops::terminal::{ImportCue, Imported};
use serde::Serialize;
use serde_json::{Value, json};

use super::given::{Given, Place};
use super::message::{Asked, Elsewhere, bounds, new_cue, new_resolution_id, not_yours, too_many, whole};
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
    hub.rate_limit.check_terminals(&caller).await?;
    let (bytes, _hold) = body::read_counted(&hub, &caller.key(), body, WITH_FILES).await?;
    let size = bytes.len();
    let now = hub.store.clock().now();
    let Old {
        agent_id,
        place,
        cue,
        elsewhere,
        ended,
    } = body::work(size, move || Old::read(&bytes, now)).await??;
    let terminal = whole(&hub, &caller.person, agent_id, place).await?;
    let kind = cue.kind;
    let at = elsewhere.at;
    let made = move || {
        let wire = json!({
            "request_id": elsewhere.key, "agent_id": terminal.agent_id,
            "kind": cue.kind, "prompt": cue.prompt, "payload": cue.payload,
        });
        let asked = Asked {
            now,
            wire: wire.to_string(),
            elsewhere: Some(elsewhere),
        };
        new_cue(&cue, terminal, caller.person, asked)
    };
    let cue = body::work(size, made).await??;
    let id = cue.message.id.clone();
    let is_open = ended.resolution.is_none();
    let Ended {
        resolution,
        files,
        collected,
    } = ended;
    match hub
        .store
        .run(ImportCue {
            cue,
            most: bounds(&hub),
            resolution,
            files,
            collected,
        })
        .await?
    {
        Imported::New => {
            hub.indexer.submitted();
            if is_open {
                // Whoever asked it waits elsewhere, if at all.
                hub.terminals.missing(&id, kind, at);
            }
            hub.news.tell(if is_open {
                Change::Opened(id.clone())
            } else {
                Change::Tracked(id.clone())
            });
            Ok(Json(Ack { id, imported: true }))
        }
        Imported::Known(id) => Ok(Json(Ack { id, imported: false })),
        Imported::NotYours => Err(not_yours()),
        Imported::TooMany(what) => Err(too_many(what)),
    }
}

/// As it was elsewhere.
struct Old {
    agent_id: String,
    place: Place,
    cue: Cue,
    elsewhere: Elsewhere,
    ended: Ended,
}

impl Old {
    fn read(bytes: &[u8], now: Timestamp) -> Result<Self, Problem> {
        let mut given = Given::parse(bytes)?;
        let key = request_id(&mut given)?;
        let agent_id = given.agent_id()?;
        let cue = given.cue()?;
        let place = given.place()?;
        let at = past(now, "created_at", given.instant("created_at")?)?;
        let ended = given
            .take("resolution")
            .map(|value| Ended::read(&cue, now, at, value))
            .transpose()?;
        Ok(Self {
            agent_id,
            place,
            cue,
            elsewhere: Elsewhere { at, key },
            ended: ended.unwrap_or_default(),
        })
    }
}

fn request_id(given: &mut Given) -> Result<String, Problem> {
    let key = given.needed_text("request_id")?;
    if key.is_empty() || key.chars().count() > MAX_KEY_CHARS {
        return Err(Problem::invalid(
            "request_id",
            format!("use 1 to {MAX_KEY_CHARS} characters"),
        ));
    }
    Ok(key)
}

fn past(now: Timestamp, field: &str, at: Timestamp) -> Result<Timestamp, Problem> {
    if at > now || at.as_millis() < 0 {
        return Err(Problem::invalid(field, "must lie in the past"));
    }
    Ok(at)
}

/// What became of it, if anything did.
#[derive(Default)]
struct Ended {
    resolution: Option<Resolution>,
    files: Vec<Vec<u8>>,
    /// Its agent has had the answer.
    collected: bool,
}

impl Ended {
    /// `{status, resolved_at, text?, comment?, files?, collected?}`
    fn read(cue: &Cue, now: Timestamp, asked_at: Timestamp, value: Value) -> Result<Self, Problem> {
        let Value::Object(fields) = value else {
            return Err(Problem::invalid("resolution", "must be an object or null"));
        };
        let mut given = Given::of(fields);
        let collected = match given.take("collected") {
            None => true,
            Some(Value::Bool(collected)) => collected,
            Some(_) => return Err(Problem::invalid("collected", "must be true or false")),
        };
        let (resolution, files) = resolution(cue, now, asked_at, given)?;
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
    asked_at: Timestamp,
    mut given: Given,
) -> Result<(Resolution, Vec<Vec<u8>>), Problem> {
    let outcome = match given.needed_text("status")?.as_str() {
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
    let resolved_at = past(now, "resolved_at", given.instant("resolved_at")?)?;
    let text = given.text("text")?;
    let comment = given.text("comment")?;
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
        // A terminal can say what somebody wrote, and not what somebody pressed.
        edited: is_answer && !matches!(cue.read_payload(), None | Some(Payload::Unknown { .. })),
        // Who it was nobody here has seen, and a terminal cannot vouch for a person.
        actor: IMPORTED
            .parse()
            .map_err(|_| Problem::invalid("resolution", "has no actor"))?,
        resolved_at: resolved_at.max(asked_at),
        comment,
        checklist: None,
        files: attached.notes,
    };
    Ok((resolution, attached.bodies))
}
