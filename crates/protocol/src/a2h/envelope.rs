//! The envelope of a notify, an ask or a task. Only its shape is checked here; `core` checks the meaning of the fields.

use std::collections::BTreeMap;

use aws_lc_rs::digest;
use serde::Serialize;
use serde_json::Value;

use super::family::Version;
use super::fields::{FieldPath, FieldReader};
use super::part;
use super::request::{AskRequest, Routing, TaskAction};
use super::wire_enum::wire_enum;
use crate::jcs;
use crate::time::Timestamp;

const MAX_TITLE_CHARS: usize = 200;
pub const RUNTIMES: [&str; 6] = ["github-actions", "cli", "cloud", "desktop", "openclaw", "other"];

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EnvelopeError {
    /// `field` is a path such as `request.options[1].value`; it is empty for the envelope as a whole.
    #[error("{}{message}", subject(.field))]
    Invalid { field: String, message: String },
    #[error("{message}")]
    VersionNotSupported { message: String },
}

impl EnvelopeError {
    pub fn invalid(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Invalid {
            field: field.into(),
            message: message.into(),
        }
    }
}

fn subject(field: &str) -> String {
    if field.is_empty() {
        "the envelope ".to_owned()
    } else {
        format!("`{field}` ")
    }
}

wire_enum!(Kind { Notify = "notify", Ask = "ask", Task = "task" });

wire_enum!(
    /// Ordered: the most urgent is the greatest.
    Priority { Low = "low", Normal = "normal", High = "high", Urgent = "urgent" }
);

#[derive(Debug, Clone, PartialEq)]
pub struct Envelope {
    pub version: Version,
    /// From the agent's clock; shown, but never trusted.
    pub created_at: String,
    pub agent: Agent,
    /// The agent that is addressed instead of people, unchecked. From MA2H 0.5 on.
    pub to: Option<Value>,
    /// The session of the submitting agent, unchecked. From MA2H 0.5 on.
    pub session: Option<Value>,
    pub title: String,
    pub body: Option<String>,
    pub priority: Priority,
    pub tags: Vec<String>,
    /// Well-formed parts in their original form.
    pub context: Vec<Value>,
    /// The state itself is not parsed: it goes back to the agent as the original text.
    pub has_state: bool,
    pub client_ref: Option<String>,
    pub idempotency_key: Option<String>,
    pub expires_at: Option<Timestamp>,
    pub sensitive: bool,
    pub payload: EnvelopePayload,
}

#[derive(Debug, Clone, PartialEq)]
pub enum EnvelopePayload {
    Notify,
    Ask(AskRequest),
    Task(TaskAction),
}

impl EnvelopePayload {
    pub fn kind(&self) -> Kind {
        match self {
            Self::Notify => Kind::Notify,
            Self::Ask(_) => Kind::Ask,
            Self::Task(_) => Kind::Task,
        }
    }

    pub fn routing(&self) -> Option<&Routing> {
        match self {
            Self::Notify => None,
            Self::Ask(request) => Some(&request.routing),
            Self::Task(action) => Some(&action.routing),
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
pub struct Agent {
    pub id: String,
    pub run_id: String,
    pub runtime: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

impl Envelope {
    /// The version is checked first, to distinguish a later protocol from a broken envelope.
    pub fn from_value(value: Value) -> Result<Self, EnvelopeError> {
        let Value::Object(entries) = &value else {
            return Err(EnvelopeError::invalid("", "must be a JSON object"));
        };
        let version = Version::from_envelope(entries)?;
        let mut fields = FieldReader::of(value, FieldPath::Root)?;
        let kind = fields.required_word("type")?;
        let missing = |key| EnvelopeError::invalid(key, format!("is missing: every {kind} needs it"));
        let section = match kind {
            Kind::Notify => Value::Null,
            Kind::Ask => fields.any("request").ok_or_else(|| missing("request"))?,
            Kind::Task => fields.any("action").ok_or_else(|| missing("action"))?,
        };
        if kind != Kind::Notify && !fields.has("idempotency_key") {
            return Err(missing("idempotency_key"));
        }
        if let Some(foreign) = ["request", "action"].into_iter().find(|key| fields.has(key)) {
            return Err(fields.invalid(foreign, format!("must not be part of a {kind}: leave it out")));
        }
        let created_at = created_at(&mut fields)?;
        let (agent, session) = agent(&mut fields)?;
        Ok(Self {
            version,
            created_at,
            agent,
            to: fields.any("to"),
            session,
            title: title(&mut fields)?,
            body: fields.text("body")?,
            priority: fields.word("priority")?.unwrap_or(Priority::Normal),
            tags: fields.texts("tags")?.unwrap_or_default(),
            context: fields.list("context", part::checked)?.unwrap_or_default(),
            has_state: fields.object_value("state")?.is_some(),
            client_ref: fields.text("client_ref")?,
            idempotency_key: fields.text("idempotency_key")?,
            expires_at: fields.instant("expires_at")?.map(|(_, instant)| instant),
            sensitive: fields.flag("sensitive")?.unwrap_or(false),
            payload: match kind {
                Kind::Notify => EnvelopePayload::Notify,
                Kind::Ask => EnvelopePayload::Ask(AskRequest::read(section, version)?),
                Kind::Task => EnvelopePayload::Task(TaskAction::read(section)?),
            },
        })
    }
}

fn created_at(fields: &mut FieldReader<'_>) -> Result<String, EnvelopeError> {
    let found = fields.instant("created_at")?;
    fields.required("created_at", found).map(|(text, _)| text)
}

fn title(fields: &mut FieldReader<'_>) -> Result<String, EnvelopeError> {
    let title = fields.required_name("title")?;
    // The byte length is an upper bound of the character count, so a short title is not counted.
    if title.len() > MAX_TITLE_CHARS && title.chars().count() > MAX_TITLE_CHARS {
        let message = format!("must not be longer than {MAX_TITLE_CHARS} characters: put the rest into `body`");
        return Err(fields.invalid("title", message));
    }
    Ok(title)
}

/// The agent and its session.
fn agent(fields: &mut FieldReader<'_>) -> Result<(Agent, Option<Value>), EnvelopeError> {
    let found = fields.object("agent", |mut agent| {
        let session = agent.any("session");
        let agent = Agent {
            id: agent.required_name("id")?,
            run_id: agent.required_name("run_id")?,
            runtime: runtime(&mut agent)?,
            project: agent.text("project")?,
            labels: agent.object("labels", labels)?.unwrap_or_default(),
        };
        Ok((agent, session))
    })?;
    fields.required("agent", found)
}

fn runtime(agent: &mut FieldReader<'_>) -> Result<String, EnvelopeError> {
    let runtime = agent.required_text("runtime")?;
    if RUNTIMES.contains(&runtime.as_str()) {
        return Ok(runtime);
    }
    Err(agent.invalid("runtime", format!("must be one of {}", RUNTIMES.join(", "))))
}

fn labels(labels: FieldReader<'_>) -> Result<BTreeMap<String, String>, EnvelopeError> {
    let place = labels.place;
    let label = |(key, value): (String, Value)| {
        let text = FieldPath::Key(&place, &key).text(value)?;
        Ok((key, text))
    };
    labels.rest().into_iter().map(label).collect()
}

/// The digest that distinguishes a repeated submission from a different one under the same idempotency key. The run id
/// is excluded: an agent may repeat a submission in a new run.
pub fn payload_hash(value: &Value) -> [u8; 32] {
    let mut canonical = Vec::with_capacity(1024);
    match value {
        Value::Object(entries) => jcs::write_object(entries, &mut canonical, |key, value, out| match value {
            Value::Object(agent) if key == "agent" => write_agent(agent, out),
            other => jcs::write(other, out),
        }),
        other => jcs::write(other, &mut canonical),
    }
    let mut hash = [0; 32];
    hash.copy_from_slice(digest::digest(&digest::SHA256, &canonical).as_ref());
    hash
}

fn write_agent(agent: &serde_json::Map<String, Value>, out: &mut Vec<u8>) {
    let kept = agent
        .iter()
        .filter(|(key, _)| !matches!(key.as_str(), "run_id" | "session"));
    jcs::write_entries(kept, out, |_, value, out| jcs::write(value, out));
}
