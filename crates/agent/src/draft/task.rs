//! The builder for tasks.

use countersign_protocol::a2h::{Kind, Version};
use countersign_protocol::time::Timestamp;
use serde_json::{Map, Value, json};

use super::address::{Addressed, Unaddressed};
use super::common::{Common, common_setters, outcome_setters, some_list};
use super::{Draft, DraftContext};
use crate::error::Error;
use crate::identity::Identity;

/// A task for a person. It must name who may do it before it can be drafted:
///
/// ```
/// use countersign_agent::{Identity, Task, Timestamp, Version};
/// # fn draft(identity: &Identity, version: Version, now: Timestamp) -> Result<(), countersign_agent::Error> {
/// Task::new("Swap the disk", "Bay 7 of host 12").to(["human:alice"]).draft(identity, version, now)?;
/// # Ok(())
/// # }
/// ```
///
/// ```compile_fail,E0599
/// use countersign_agent::{Identity, Task, Timestamp, Version};
/// # fn draft(identity: &Identity, version: Version, now: Timestamp) -> Result<(), countersign_agent::Error> {
/// Task::new("Swap the disk", "Bay 7 of host 12").draft(identity, version, now)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Task<A> {
    common: Common,
    instructions: String,
    checklist: Vec<String>,
    verification: Option<String>,
    address: A,
}

impl Task<Unaddressed> {
    /// `title` is one line; `instructions` say in Markdown what to do.
    pub fn new(title: impl Into<String>, instructions: impl Into<String>) -> Self {
        Self {
            common: Common::titled(title),
            instructions: instructions.into(),
            checklist: Vec::new(),
            verification: None,
            address: Unaddressed(()),
        }
    }

    /// Who may complete or dismiss it: exact ids such as `human:alice`, no wildcards.
    pub fn to<T: Into<String>>(self, resolvers: impl IntoIterator<Item = T>) -> Task<Addressed> {
        self.addressed(Addressed::to(resolvers))
    }

    /// Only the asking agent itself may complete or dismiss it; no person can.
    pub fn to_myself(self) -> Task<Addressed> {
        self.addressed(Addressed::to_myself())
    }

    fn addressed(self, address: Addressed) -> Task<Addressed> {
        let Self {
            common,
            instructions,
            checklist,
            verification,
            address: Unaddressed(()),
        } = self;
        Task {
            common,
            instructions,
            checklist,
            verification,
            address,
        }
    }
}

impl<A> Task<A> {
    common_setters!();
    outcome_setters!();

    /// Adds checklist items.
    pub fn checklist<T: Into<String>>(mut self, items: impl IntoIterator<Item = T>) -> Self {
        self.checklist.extend(items.into_iter().map(Into::into));
        self
    }

    /// How to verify that the task is done.
    pub fn verification(mut self, verification: impl Into<String>) -> Self {
        self.verification = Some(verification.into());
        self
    }
}

impl Task<Addressed> {
    /// Checks the task as the hub will, and fixes the bytes to send. `version` is one that the hub speaks: see
    /// [`Client::version`](crate::Client::version).
    pub fn draft(&self, identity: &Identity, version: Version, now: Timestamp) -> Result<Draft, Error> {
        let context = DraftContext { identity, version, now };
        context.draft(Kind::Task, &self.common, Some(("action", self.action(identity))))
    }

    fn action(&self, identity: &Identity) -> Map<String, Value> {
        let mut action = Map::new();
        let mut put = |key: &str, value: Option<Value>| value.and_then(|value| action.insert(key.to_owned(), value));
        put("instructions", Some(self.instructions.as_str().into()));
        put(
            "checklist",
            some_list(self.checklist.iter().map(|text| json!({"text": text}))),
        );
        put("verification", self.verification.as_deref().map(Value::from));
        put("allowed_resolvers", Some(self.address.allowed_resolvers(identity)));
        put("callback", self.common.callback.as_ref().map(super::Callback::to_value));
        action
    }
}
