//! The fields that every kind of message shares.

use std::fmt::Write;

use countersign_protocol::a2h::Priority;
use countersign_protocol::time::Timestamp;
use serde_json::{Map, Value, json};

use super::{Callback, DraftContext, Part};
use crate::error::Error;

#[derive(Debug, Clone, Default)]
pub(super) struct Common {
    pub title: String,
    pub body: Option<String>,
    pub priority: Option<Priority>,
    pub tags: Vec<String>,
    pub context: Vec<Part>,
    pub sensitive: bool,
    pub client_ref: Option<String>,
    pub key: Option<String>,
    pub expires_at: Option<Timestamp>,
    pub state: Option<Value>,
    pub callback: Option<Callback>,
}

impl Common {
    pub fn titled(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            ..Self::default()
        }
    }

    /// The top-level fields of the envelope. The callback is not among them: it belongs to the request or action.
    pub fn fields(&self, context: DraftContext<'_>) -> Result<Map<String, Value>, Error> {
        let mut fields = Map::new();
        let mut put = |key: &str, value: Value| fields.insert(key.to_owned(), value);
        put(context.version.family.version_key(), context.version.text().into());
        put("created_at", instant("created_at", context.now)?);
        put("agent", json!(context.identity));
        put("title", self.title.as_str().into());
        let optional = [
            ("body", self.body.as_deref().map(Value::from)),
            ("priority", self.priority.map(|priority| priority.as_str().into())),
            ("tags", some_list(self.tags.iter().map(|tag| tag.as_str().into()))),
            ("context", some_list(self.context.iter().map(Part::to_value))),
            ("sensitive", self.sensitive.then_some(Value::Bool(true))),
            ("client_ref", self.client_ref.as_deref().map(Value::from)),
            (
                "expires_at",
                self.expires_at.map(|at| instant("expires_at", at)).transpose()?,
            ),
            ("state", self.state.clone()),
        ];
        for (key, value) in optional {
            if let Some(value) = value {
                put(key, value);
            }
        }
        Ok(fields)
    }
}

pub(super) fn some_list(items: impl ExactSizeIterator<Item = Value>) -> Option<Value> {
    (items.len() > 0).then(|| items.collect())
}

/// Formats an instant; fails outside the range of RFC 3339.
fn instant(field: &str, at: Timestamp) -> Result<Value, Error> {
    let mut text = String::new();
    match write!(text, "{at}") {
        Ok(()) => Ok(text.into()),
        Err(_) => Err(Error::invalid(field, "must lie before the year 10000")),
    }
}

/// The setters of `Common`, for a builder with a field `common`.
macro_rules! common_setters {
    () => {
        /// Markdown for the person; the title is one line.
        pub fn body(mut self, body: impl Into<String>) -> Self {
            self.common.body = Some(body.into());
            self
        }

        /// How urgent the message is.
        pub fn priority(mut self, priority: countersign_protocol::a2h::Priority) -> Self {
            self.common.priority = Some(priority);
            self
        }

        /// Adds a tag.
        pub fn tag(mut self, tag: impl Into<String>) -> Self {
            self.common.tags.push(tag.into());
            self
        }

        /// Adds a part for the person to look at before deciding.
        pub fn context(mut self, part: $crate::draft::Part) -> Self {
            self.common.context.push(part);
            self
        }

        /// Keeps the content out of logs and exports.
        pub fn sensitive(mut self, sensitive: bool) -> Self {
            self.common.sensitive = sensitive;
            self
        }

        /// A label for the agent's own use; people do not see it, and it plays no part in deduplication.
        pub fn client_ref(mut self, client_ref: impl Into<String>) -> Self {
            self.common.client_ref = Some(client_ref.into());
            self
        }

        /// The idempotency key; random by default.
        pub fn key(mut self, idempotency_key: impl Into<String>) -> Self {
            self.common.key = Some(idempotency_key.into());
            self
        }
    };
}

/// The setters of messages that have an outcome: asks and tasks.
macro_rules! outcome_setters {
    () => {
        /// After this time no person can answer, and the outcome is [`Outcome::Expired`](crate::Outcome::Expired).
        pub fn expires_at(mut self, at: countersign_protocol::time::Timestamp) -> Self {
            self.common.expires_at = Some(at);
            self
        }

        /// Where the hub pushes the outcome; without a callback the agent polls.
        pub fn callback(mut self, callback: $crate::draft::Callback) -> Self {
            self.common.callback = Some(callback);
            self
        }

        /// An object that comes back unchanged with the outcome. Seal it if the hub must not read or change it.
        pub fn state(mut self, state: serde_json::Value) -> Self {
            self.common.state = Some(state);
            self
        }
    };
}

pub(super) use {common_setters, outcome_setters};
