//! Checks for well-formed messages that a hub would refuse, so that the author learns of it early. Limits that each hub
//! configures are left to the hub.

use countersign_protocol::a2h::limits::{
    MAX_CHECKLIST, MAX_LABELS, MAX_NAME_CHARS, MAX_OPTION_CHARS, MAX_OPTIONS, MAX_RESOLVERS, MAX_TAGS, MAX_TASK_BYTES,
};
use countersign_protocol::a2h::{
    APPROVE, AskRequest, Choice, DENY, Envelope, EnvelopePayload, Mode, Routing, TaskAction, Version,
};
use countersign_protocol::time::Timestamp;
use serde_json::Value;
use url::Url;

use super::form;
use crate::error::Error;

type Checked = Result<(), Error>;

pub(super) fn check(envelope: &Envelope, now: Timestamp) -> Checked {
    check_names(envelope)?;
    if envelope.expires_at.is_some_and(|at| at <= now) {
        return Err(Error::invalid("expires_at", "is in the past: use a time in the future"));
    }
    let Some(routing) = envelope.payload.routing() else {
        return Ok(());
    };
    check_resolvers(routing)?;
    check_callback(routing, envelope.version)?;
    match &envelope.payload {
        EnvelopePayload::Notify => Ok(()),
        EnvelopePayload::Ask(request) => check_request(request),
        EnvelopePayload::Task(action) => check_action(action),
    }
}

fn check_names(envelope: &Envelope) -> Checked {
    let agent = &envelope.agent;
    check_name("agent.id", &agent.id)?;
    check_name("agent.run_id", &agent.run_id)?;
    check_name("agent.project", agent.project.as_deref().unwrap_or_default())?;
    check_count("agent.labels", agent.labels.len(), MAX_LABELS)?;
    for text in agent.labels.iter().flat_map(|(name, value)| [name, value]) {
        check_name("agent.labels", text)?;
    }
    check_count("tags", envelope.tags.len(), MAX_TAGS)?;
    envelope.tags.iter().try_for_each(|tag| check_name("tags", tag))?;
    match envelope.idempotency_key.as_deref() {
        Some("") => Err(Error::invalid(
            "idempotency_key",
            "must not be empty: leave it out to get a fresh one",
        )),
        Some(key) => check_name("idempotency_key", key),
        None => Ok(()),
    }
}

fn check_request(request: &AskRequest) -> Checked {
    let options = request.options.as_deref().unwrap_or_default();
    check_options(options)?;
    if let Some(schema) = &request.schema {
        form::check(schema)?;
    }
    match &request.default_on_expire {
        Some(default) => check_default(request, options, default),
        None => Ok(()),
    }
}

fn check_action(action: &TaskAction) -> Checked {
    check_count("action.checklist", action.checklist.len(), MAX_CHECKLIST)?;
    let texts = [
        ("instructions", Some(&action.instructions)),
        ("verification", action.verification.as_ref()),
    ];
    match texts
        .iter()
        .find(|(_, text)| text.is_some_and(|text| text.len() > MAX_TASK_BYTES))
    {
        Some((key, _)) => Err(Error::invalid(
            format!("action.{key}"),
            format!("must be kept within {MAX_TASK_BYTES} bytes"),
        )),
        None => Ok(()),
    }
}

fn check_options(options: &[Choice]) -> Checked {
    check_count("request.options", options.len(), MAX_OPTIONS)?;
    for (index, option) in options.iter().enumerate() {
        let refuse = |message: &str| Err(Error::invalid(format!("request.options[{index}].value"), message));
        if option.value.is_empty() {
            return refuse("must not be empty");
        }
        if [&option.value, &option.label]
            .iter()
            .any(|text| text.chars().count() > MAX_OPTION_CHARS)
        {
            return refuse(&format!(
                "and its label must be kept within {MAX_OPTION_CHARS} characters each"
            ));
        }
        if options[..index].iter().any(|earlier| earlier.value == option.value) {
            return refuse("is the value of another option too: give each its own");
        }
    }
    Ok(())
}

fn check_default(request: &AskRequest, options: &[Choice], default: &Value) -> Checked {
    let offered: Vec<&str> = match (request.mode, options) {
        (Mode::Input, _) => return form::check_default(request.schema.as_ref(), default),
        (Mode::Confirm, []) => vec![APPROVE, DENY],
        (Mode::Confirm | Mode::Select, options) => options.iter().map(|option| option.value.as_str()).collect(),
    };
    if default.as_str().is_some_and(|default| offered.contains(&default)) {
        return Ok(());
    }
    Err(Error::invalid(
        "request.default_on_expire",
        format!("must be one of: {}", offered.join(", ")),
    ))
}

/// Refuses resolvers that can never match: the hub compares names exactly, so such an ask would stay open unnoticed.
fn check_resolvers(routing: &Routing) -> Checked {
    let field = format!("{}.allowed_resolvers", routing.section);
    let resolvers = routing.allowed_resolvers.as_deref().unwrap_or_default();
    if resolvers.is_empty() {
        return Err(Error::invalid(
            field,
            "must name at least one person, such as human:alice: otherwise no person could answer",
        ));
    }
    check_count(&field, resolvers.len(), MAX_RESOLVERS)?;
    for (index, resolver) in resolvers.iter().enumerate() {
        let field = format!("{field}[{index}]");
        check_name(&field, resolver)?;
        if resolver.contains('*') {
            return Err(Error::invalid(
                field,
                "must name one actor, such as human:alice: there are no wildcards",
            ));
        }
        let name = resolver.split_once(':').map_or("", |(_, name)| name);
        if name.trim() != name || name.is_empty() {
            return Err(Error::invalid(
                field,
                "must have a name without spaces around it, such as human:alice",
            ));
        }
    }
    Ok(())
}

fn check_callback(routing: &Routing, version: Version) -> Checked {
    let Some(callback) = &routing.callback else {
        return Ok(());
    };
    let place = routing.section;
    if version.push_signing().is_none() {
        let message = format!("cannot be signed in version {version}: use 0.3 or later, or poll for the outcome");
        return Err(Error::invalid(format!("{place}.callback"), message));
    }
    let url = callback.url.as_deref().and_then(|url| Url::parse(url).ok());
    if url.is_some_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host()) {
        return Ok(());
    }
    Err(Error::invalid(
        format!("{place}.callback.url"),
        "must be an address that starts with https://",
    ))
}

fn check_name(field: &str, text: &str) -> Checked {
    if text.chars().count() > MAX_NAME_CHARS {
        return Err(Error::invalid(
            field,
            format!("must be kept within {MAX_NAME_CHARS} characters"),
        ));
    }
    Ok(())
}

fn check_count(field: &str, count: usize, max: usize) -> Checked {
    if count > max {
        return Err(Error::invalid(
            field,
            format!("must have at most {max} entries, not {count}"),
        ));
    }
    Ok(())
}
