//! Builds the parts of a message from the command line.

use anyhow::{Context, Result, bail};
use countersign_agent::{Identity, Part, sealed_state};
use countersign_protocol::json;
use serde_json::Value;

use super::input::Inputs;
use crate::args::ContentArgs;
use crate::commands::agent_commands::credentials::session::AgentSession;
use crate::commands::agent_commands::variable;

/// The hub's default limits; a hub configured with lower ones refuses the message.
pub const MAX_BODY_BYTES: u64 = 64 * 1024;
const MAX_PART_BYTES: u64 = 256 * 1024;
const MAX_STATE_BYTES: u64 = 256 * 1024;
const SEAL_PREFIXES: [&str; 3] = ["A2HSEALv1.", "MA2HSEALv1.", "CSEALv2."];

/// Sets the fields common to all kinds of messages; the three builders share setters but no trait.
macro_rules! with_content {
    ($builder:expr, $content:expr, $inputs:expr) => {{
        let (content, inputs): (&crate::args::ContentArgs, &mut super::compose::input::Inputs) = ($content, $inputs);
        let mut builder = $builder.sensitive(content.sensitive);
        if let Some(body) = super::compose::content::body(content, inputs)? {
            builder = builder.body(body);
        }
        for part in super::compose::content::context(content, inputs)? {
            builder = builder.context(part);
        }
        if let Some(priority) = content.priority {
            builder = builder.priority(priority);
        }
        for tag in &content.tags {
            builder = builder.tag(tag);
        }
        if let Some(key) = &content.key {
            builder = builder.key(key);
        }
        builder
    }};
}

/// Sets the fields of messages that need a resolution.
macro_rules! with_request {
    ($builder:expr, $request:expr, $inputs:expr, $now:expr) => {{
        let (request, inputs): (&crate::args::RequestArgs, &mut super::compose::input::Inputs) = ($request, $inputs);
        let mut builder = $builder;
        if let Some(when) = request.expires {
            builder = builder.expires_at(when.from($now));
        }
        if let Some(url) = &request.callback {
            builder = builder.callback(countersign_agent::Callback {
                url: url.clone(),
                auth: request.callback_auth.clone(),
            });
        }
        if let Some(source) = &request.state {
            builder = builder.state(super::compose::content::state(source, inputs)?);
        }
        builder
    }};
}

pub(crate) use {with_content, with_request};

pub fn body(content: &ContentArgs, inputs: &mut Inputs) -> Result<Option<String>> {
    match &content.body_file {
        Some(source) => inputs.text("--body-file", source, MAX_BODY_BYTES).map(Some),
        None => Ok(content.body.clone()),
    }
}

pub fn context(content: &ContentArgs, inputs: &mut Inputs) -> Result<Vec<Part>> {
    content.context.iter().map(|source| part(source, inputs)).collect()
}

fn part(source: &str, inputs: &mut Inputs) -> Result<Part> {
    if source.contains("://") {
        return Ok(Part::File {
            uri: source.to_owned(),
            name: None,
            mime_type: None,
        });
    }
    if source.ends_with(".json") {
        return inputs.object("--context", source, MAX_PART_BYTES).map(Part::Data);
    }
    let bytes = inputs.bytes("--context", source, MAX_PART_BYTES)?;
    let hint = || format!("--context {source}: is not text: give a text file, or the address of a file as https://…");
    String::from_utf8(bytes).ok().map(Part::Text).with_context(hint)
}

/// A JSON object, or the output of `seal`.
pub fn state(source: &str, inputs: &mut Inputs) -> Result<Value> {
    let text = inputs.text("--state", source, MAX_STATE_BYTES)?;
    if is_sealed(&text) {
        return Ok(sealed_state(text.trim()));
    }
    match json::parse(text.as_bytes()).with_context(|| format!("--state {source}"))? {
        Value::Object(object) => Ok(Value::Object(object)),
        _ => bail!("--state {source}: must hold a JSON object, or what `countersign seal` printed"),
    }
}

pub fn is_sealed(text: &str) -> bool {
    SEAL_PREFIXES.iter().any(|prefix| text.trim_start().starts_with(prefix))
}

pub fn identity(content: &ContentArgs, session: &AgentSession) -> Identity {
    let mut identity = Identity::new(&session.agent_id);
    if let Some(run) = &content.run {
        identity.run_id = run.clone();
    }
    if let Some(runtime) = &content.runtime {
        identity.runtime = runtime.clone();
    } else if variable("GITHUB_ACTIONS").as_deref() == Some("true") {
        identity.runtime = "github-actions".to_owned();
    }
    identity.project = content.project.clone();
    identity
}
