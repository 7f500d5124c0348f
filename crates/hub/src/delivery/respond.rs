//! The A2H Response for an agent: the same text for pull and push, and for every retry.

use countersign_core::Outcome;
use countersign_core::message::{A2hSource, Resolution, Source};
use countersign_protocol::a2h::{Family, Response, Version, payload_sha256};
use countersign_protocol::json;
use countersign_store::StoreError;
use countersign_store::model::AgentView;
use serde_json::{Map, Value};

fn unreadable(what: &str) -> StoreError {
    StoreError::Corrupt(format!("a stored message has no readable {what}"))
}

/// The protocol family and version of the submit; the Response uses the same.
pub fn version_of(source: &Source) -> Result<Version, StoreError> {
    let source = a2h(source)?;
    let family = Family::ALL.into_iter().find(|family| family.name() == source.family);
    let family = family.ok_or_else(|| unreadable("family"))?;
    Version::parse(family, &source.version).map_err(|_| unreadable("version"))
}

fn a2h(source: &Source) -> Result<&A2hSource, StoreError> {
    match source {
        Source::A2h(source) => Ok(source),
        Source::Hap(_) | Source::Runs(_) => Err(unreadable("family")),
    }
}

/// The inner `response` object. Present also for an expiry without a default, because the signature needs its
/// `resolved_at`.
pub fn inner(resolution: &Resolution) -> Value {
    let mut fields = Map::new();
    if let Some(value) = &resolution.value {
        fields.insert("value".to_owned(), value.clone());
    }
    if resolution.outcome == Outcome::Answered {
        fields.insert("edited".to_owned(), resolution.edited.into());
    }
    fields.insert("actor".to_owned(), resolution.actor.as_str().into());
    fields.insert("resolved_at".to_owned(), resolution.resolved_at.to_string().into());
    if let Some(comment) = &resolution.comment {
        fields.insert("comment".to_owned(), comment.as_str().into());
    }
    if let Some(checklist) = &resolution.checklist {
        let items = checklist
            .iter()
            .map(|item| serde_json::json!({"text": item.text, "done": item.done}));
        fields.insert("checklist".to_owned(), items.collect());
    }
    Value::Object(fields)
}

/// The whole Response envelope, with `state` spliced in byte for byte as the agent sent it.
pub fn text(pulled: &AgentView, resolution: &Resolution) -> Result<String, StoreError> {
    compose(pulled, resolution).map_err(|error| error.in_message(pulled.id.as_str()))
}

fn compose(pulled: &AgentView, resolution: &Resolution) -> Result<String, StoreError> {
    let response = Response {
        version: version_of(&pulled.source)?,
        in_reply_to: &pulled.id,
        resolution_id: &resolution.id,
        agent_id: &pulled.agent_id,
        run_id: &a2h(&pulled.source)?.run_id,
        resolution: resolution.outcome.as_str(),
        defaulted: resolution.defaulted,
        response: &inner(resolution),
        state: state(pulled)?,
    };
    Ok(response.to_json())
}

/// The payload digest of the 0.3 signature, over the answer and the state as delivered.
pub fn payload_digest(pulled: &AgentView, resolution: &Resolution) -> Result<String, StoreError> {
    let state = state(pulled)?.map(serde_json::from_str::<Value>).transpose()?;
    Ok(payload_sha256(Some(&inner(resolution)), state.as_ref()))
}

fn state(pulled: &AgentView) -> Result<Option<&str>, StoreError> {
    json::raw_field(&pulled.wire, "state").map_err(|_| unreadable("state"))
}
