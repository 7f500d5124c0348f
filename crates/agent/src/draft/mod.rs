//! Message builders, which produce only drafts that a hub accepts.

mod address;
mod ask;
mod common;
mod form;
mod notify;
mod part;
mod rules;
mod task;

use std::fmt;

use countersign_protocol::a2h::{Envelope, Kind, Version};
use countersign_protocol::json;
use countersign_protocol::time::Timestamp;
use serde_json::{Map, Value};
use uuid::Uuid;

pub use address::{Addressed, Unaddressed};
pub use ask::Ask;
use common::Common;
pub use form::{TEXT_FIELD, text_schema};
pub use notify::Notify;
pub use part::{Callback, Choice, Part};
pub use task::Task;

use crate::error::Error;
use crate::identity::Identity;

/// A message as the exact bytes to send. Every attempt sends the same bytes: a fresh `created_at` would make it a
/// different message.
#[derive(Clone, PartialEq, Eq)]
pub struct Draft {
    idempotency_key: String,
    agent_id: String,
    kind: Kind,
    bytes: Vec<u8>,
}

impl Draft {
    /// Identifies the message: a hub accepts one message per agent and key.
    pub fn idempotency_key(&self) -> &str {
        &self.idempotency_key
    }

    /// Ask, notify or task.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The agent that the message is from.
    pub fn agent_id(&self) -> &str {
        &self.agent_id
    }

    /// The envelope, as JSON.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// The content stays out of logs, because it may be sensitive.
impl fmt::Debug for Draft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Draft")
            .field("kind", &self.kind)
            .field("agent_id", &self.agent_id)
            .field("idempotency_key", &self.idempotency_key)
            .finish_non_exhaustive()
    }
}

/// The author, protocol version and time of a draft.
#[derive(Clone, Copy)]
struct DraftContext<'a> {
    identity: &'a Identity,
    version: Version,
    now: Timestamp,
}

impl DraftContext<'_> {
    /// The last step of every builder: the bytes are parsed and checked as the hub will do it.
    fn draft(self, kind: Kind, common: &Common, payload: Option<(&str, Map<String, Value>)>) -> Result<Draft, Error> {
        let key = common.key.clone().unwrap_or_else(|| format!("idem_{}", Uuid::new_v4()));
        let mut fields = common.fields(self)?;
        fields.insert("type".to_owned(), kind.as_str().into());
        fields.insert("idempotency_key".to_owned(), key.as_str().into());
        if let Some((name, payload)) = payload {
            fields.insert(name.to_owned(), Value::Object(payload));
        }
        let bytes = Value::Object(fields).to_string().into_bytes();
        let parsed = json::parse(&bytes).map_err(|error| Error::invalid("envelope", format!("is {error}")))?;
        rules::check(&Envelope::from_value(parsed)?, self.now)?;
        Ok(Draft {
            idempotency_key: key,
            agent_id: self.identity.agent_id.clone(),
            kind,
            bytes,
        })
    }
}

#[cfg(test)]
mod tests;
