//! POST /v1/messages/{id}/resolve, by an agent or a person.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use countersign_core::access::{Principal, may_resolve};
use countersign_core::limits::check_comment;
use countersign_core::message::{FileNote, Status};
use countersign_core::{Command, Payload, Resolution, Verdict};
use countersign_protocol::a2h::CheckItem;
use countersign_protocol::api::inbox::HeldDecision;
use countersign_protocol::id::MessageId;
use countersign_protocol::json;
use countersign_store::model::Lookup;
use countersign_store::ops::message::pull::{Pull, View};
use http_body::Body as _;
use serde_json::{Map, Value, json};

use crate::Hub;
use crate::http::attachments::{AttachedFiles, MAX_BYTES_WITH_FILES};
use crate::http::body;
use crate::http::callers::AnyCaller;
use crate::http::extract::MessagePath;
use crate::inbox::item::shown_hold;
use crate::messages::PersonDecision;
use crate::problem::Problem;

pub async fn resolve(
    State(hub): State<Arc<Hub>>,
    AnyCaller(principal): AnyCaller,
    MessagePath(id): MessagePath,
    body: Body,
) -> Result<Response, Problem> {
    if let Principal::Agent { id } = &principal {
        hub.auth.request_limiter.check(id).await?;
    }
    let small = hub.config.limits.max_request_bytes;
    let is_small = body.size_hint().upper().is_some_and(|length| length <= small as u64);
    let limit = if is_small || !takes_files(&hub, &principal, &id).await? {
        small
    } else {
        small.max(MAX_BYTES_WITH_FILES)
    };
    let (bytes, _permit) = body::read_budgeted(&hub, principal.actor().as_str(), body, limit).await?;
    let request = match body::offload_if_large(bytes.len(), move || parse(&bytes)).await? {
        Ok(request) => request,
        Err(problem) => return Err(not_found_or(&hub, &id, problem).await?),
    };
    let actor = principal.resolver()?;
    let command = Command::Resolve {
        actor,
        verdict: request.verdict,
        comment: request.comment,
    };
    if request.hold {
        return hold(&hub, &id, command, request.files).await;
    }
    let resolution = hub
        .messages
        .decide_exactly_with_files(&id, command, request.files)
        .await?;
    Ok(resolved(&id, &resolution))
}

fn resolved(id: &MessageId, resolution: &Resolution) -> Response {
    Json(json!({"id": id, "status": resolution.outcome, "resolution_id": resolution.id})).into_response()
}

/// Holds the decision for the undo time of its author. The terminal inbox asks for it; agents have nothing to take back.
async fn hold(hub: &Hub, id: &MessageId, command: Command, files: Vec<Vec<u8>>) -> Result<Response, Problem> {
    if command.is_by_agent() {
        return Err(Problem::validation(
            "hold",
            "only the decision of a person can be held; leave hold out",
        ));
    }
    Ok(match hub.messages.hold_exactly(id, command, files).await? {
        PersonDecision::Resolved(resolution) => resolved(id, &resolution),
        PersonDecision::Held(hold) => {
            let held = HeldDecision {
                id: id.to_string(),
                status: Status::Open.to_string(),
                held: shown_hold(&hold),
            };
            (StatusCode::ACCEPTED, Json(held)).into_response()
        }
    })
}

/// Whether this caller may send files, and so a large body: the ask is open-ended and the caller may answer it.
async fn takes_files(hub: &Hub, principal: &Principal, id: &MessageId) -> Result<bool, Problem> {
    let Some(Lookup::Present(item)) = hub.store.run(View(id.clone())).await? else {
        return Ok(false);
    };
    let content = &item.message.content;
    let is_open_ended = matches!(&content.payload, Payload::Ask(ask) if ask.open_ended);
    let may_answer = principal.resolver().is_ok_and(|actor| may_resolve(content, &actor));
    Ok(is_open_ended && may_answer)
}

/// For a malformed body: a missing message takes precedence over the problem of the body.
async fn not_found_or(hub: &Hub, id: &MessageId, problem: Problem) -> Result<Problem, Problem> {
    Ok(match hub.store.run(Pull(id.clone())).await? {
        Some(Lookup::Present(_)) => problem,
        Some(Lookup::Purged { .. }) => Problem::Gone,
        None => Problem::no_message(),
    })
}

struct ResolveBody {
    verdict: Verdict,
    comment: Option<String>,
    files: Vec<Vec<u8>>,
    hold: bool,
}

fn parse(bytes: &[u8]) -> Result<ResolveBody, Problem> {
    let Value::Object(mut fields) = json::parse(bytes)? else {
        return Err(Problem::malformed("send a JSON object"));
    };
    let comment = match fields.remove("comment") {
        None | Some(Value::Null) => None,
        Some(Value::String(comment)) => Some(comment),
        Some(_) => return Err(Problem::validation("comment", "comment must be a string")),
    };
    if let Some(comment) = &comment {
        check_comment(comment)?;
    }
    let hold = match fields.remove("hold") {
        None | Some(Value::Null) => false,
        Some(Value::Bool(hold)) => hold,
        Some(_) => return Err(Problem::validation("hold", "hold must be true or false")),
    };
    let files = fields.remove("files").map(AttachedFiles::read).transpose()?;
    let AttachedFiles { notes, bodies } = files.unwrap_or_default();
    Ok(ResolveBody {
        verdict: verdict(&mut fields, notes)?,
        comment,
        files: bodies,
        hold,
    })
}

/// `value` and `files` are valid only for answers, `checklist` only for tasks.
fn verdict(fields: &mut Map<String, Value>, files: Vec<FileNote>) -> Result<Verdict, Problem> {
    let value = fields.remove("value").filter(|value| !value.is_null());
    let checklist = fields
        .remove("checklist")
        .filter(|list| !list.is_null())
        .map(checklist)
        .transpose()?;
    let resolution = fields.get("resolution").and_then(Value::as_str).unwrap_or_default();
    if resolution != "answered" && value.is_some() {
        return Err(Problem::validation(
            "value",
            "value is allowed only with resolution answered",
        ));
    }
    if resolution != "answered" && !files.is_empty() {
        return Err(Problem::validation(
            "files",
            "files are allowed only with resolution answered",
        ));
    }
    if matches!(resolution, "answered" | "declined") && checklist.is_some() {
        return Err(Problem::validation(
            "checklist",
            "checklist is allowed only with resolution completed or dismissed",
        ));
    }
    match resolution {
        "answered" => match (value, files.is_empty()) {
            (Some(value), true) => Ok(Verdict::Answered(value)),
            // Files are enough without a text.
            (value, false) => Ok(Verdict::AnsweredWith {
                value: value.unwrap_or_else(|| "".into()),
                files,
            }),
            (None, true) => Err(Problem::validation(
                "value",
                "value is required for resolution answered",
            )),
        },
        "declined" => Ok(Verdict::Declined),
        "completed" => Ok(Verdict::Completed(checklist)),
        "dismissed" => Ok(Verdict::Dismissed(checklist)),
        _ => {
            let message = "resolution must be answered, declined, completed or dismissed";
            Err(Problem::validation("resolution", message))
        }
    }
}

fn checklist(value: Value) -> Result<Vec<CheckItem>, Problem> {
    serde_json::from_value(value)
        .map_err(|_| Problem::validation("checklist", "checklist must be a list of {\"text\", \"done\"}"))
}
