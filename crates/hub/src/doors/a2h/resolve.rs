//! POST /v1/messages/{id}/resolve, by an agent or a person.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use countersign_core::access::{Principal, may_resolve};
use countersign_core::limits::check_comment;
use countersign_core::message::FileNote;
use countersign_core::{Command, Matter, Verdict};
use countersign_protocol::a2h::CheckItem;
use countersign_protocol::id::MessageId;
use countersign_protocol::json;
use countersign_store::model::Found;
use countersign_store::ops::pull::{Pull, View};
use http_body::Body as _;
use serde_json::{Map, Value, json};

use crate::app::Hub;
use crate::attachments::{Attached, WITH_FILES};
use crate::auth::AnyCaller;
use crate::body;
use crate::extract::MessagePath;
use crate::problem::Problem;

pub async fn resolve(
    State(hub): State<Arc<Hub>>,
    AnyCaller(principal): AnyCaller,
    MessagePath(id): MessagePath,
    body: Body,
) -> Result<Json<Value>, Problem> {
    if let Principal::Agent { id } = &principal {
        hub.rate_limit.check(id).await?;
    }
    let length = body.size_hint().upper();
    let limit = limit(&hub, &principal, &id, length).await?;
    let (bytes, _hold) = body::read_counted(&hub, principal.actor().as_str(), body, limit).await?;
    let asked = match body::work(bytes.len(), move || parse(&bytes)).await? {
        Ok(asked) => asked,
        Err(problem) => return Err(known_or(&hub, &id, problem).await?),
    };
    let actor = principal.resolver()?;
    let command = Command::Resolve {
        actor,
        verdict: asked.verdict,
        comment: asked.comment,
    };
    let resolution = hub.bring_about_with(&id, command, asked.files).await?;
    Ok(Json(
        json!({"id": id, "status": resolution.outcome, "resolution_id": resolution.id}),
    ))
}

/// Files may come with the answer to an ask that is open-ended, from somebody who may give it. All else is short.
async fn limit(hub: &Hub, principal: &Principal, id: &MessageId, length: Option<u64>) -> Result<usize, Problem> {
    let short = hub.config.limits.max_request_bytes;
    if length.is_some_and(|length| length <= short as u64) {
        return Ok(short);
    }
    let Some(Found::Live(item)) = hub.store.run(View(id.clone())).await? else {
        return Ok(short);
    };
    let content = &item.message.content;
    let is_open_ended = matches!(&content.matter, Matter::Ask(ask) if ask.open_ended);
    let may_answer = principal.resolver().is_ok_and(|actor| may_resolve(content, &actor));
    Ok(if is_open_ended && may_answer {
        short.max(WITH_FILES)
    } else {
        short
    })
}

/// A malformed body about a message that is not there is first of all about a message that is not there.
async fn known_or(hub: &Hub, id: &MessageId, problem: Problem) -> Result<Problem, Problem> {
    Ok(match hub.store.run(Pull(id.clone())).await? {
        Some(Found::Live(_)) => problem,
        Some(Found::Gone { .. }) => Problem::Gone,
        None => Problem::no_message(),
    })
}

struct Asked {
    verdict: Verdict,
    comment: Option<String>,
    files: Vec<Vec<u8>>,
}

fn parse(bytes: &[u8]) -> Result<Asked, Problem> {
    let Value::Object(mut fields) = json::parse(bytes)? else {
        return Err(Problem::Validation {
            field: None,
            message: "send a JSON object".to_owned(),
        });
    };
    let comment = match fields.remove("comment") {
        None | Some(Value::Null) => None,
        Some(Value::String(comment)) => Some(comment),
        Some(_) => return Err(Problem::validation("comment", "comment must be a string")),
    };
    if let Some(comment) = &comment {
        check_comment(comment)?;
    }
    let Attached { notes, bodies } = Attached::read(fields.remove("files"))?;
    Ok(Asked {
        verdict: verdict(&mut fields, notes)?,
        comment,
        files: bodies,
    })
}

/// `value` and files belong to an answer and to nothing else, a checklist to a task.
fn verdict(fields: &mut Map<String, Value>, files: Vec<FileNote>) -> Result<Verdict, Problem> {
    let value = fields.remove("value").filter(|value| !value.is_null());
    let checklist = fields
        .remove("checklist")
        .filter(|list| !list.is_null())
        .map(checklist)
        .transpose()?;
    let resolution = fields.get("resolution").and_then(Value::as_str).unwrap_or_default();
    if resolution != "answered" && value.is_some() {
        return Err(Problem::validation("value", "value goes with resolution answered only"));
    }
    if resolution != "answered" && !files.is_empty() {
        return Err(Problem::validation("files", "files go with resolution answered only"));
    }
    if matches!(resolution, "answered" | "declined") && checklist.is_some() {
        return Err(Problem::validation(
            "checklist",
            "checklist goes with completed or dismissed only",
        ));
    }
    match resolution {
        "answered" => match (value, files.is_empty()) {
            (Some(value), true) => Ok(Verdict::Answered(value)),
            // Files may say enough.
            (value, false) => Ok(Verdict::AnsweredWith {
                value: value.unwrap_or_else(|| "".into()),
                files,
            }),
            (None, true) => Err(Problem::validation("value", "value is needed for resolution answered")),
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
