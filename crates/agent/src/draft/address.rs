//! Who may answer. Naming nobody would make a message that no person can answer, so it is no message yet.

use serde_json::Value;

use crate::identity::Identity;

/// Nobody has been named yet.
#[derive(Debug, Clone, Copy)]
pub struct Unaddressed(pub(super) ());

/// Somebody has been named.
#[derive(Debug, Clone)]
pub struct Addressed(Resolvers);

#[derive(Debug, Clone)]
enum Resolvers {
    Named(Vec<String>),
    Myself,
}

impl Addressed {
    pub(super) fn to<T: Into<String>>(names: impl IntoIterator<Item = T>) -> Self {
        Self(Resolvers::Named(names.into_iter().map(Into::into).collect()))
    }

    pub(super) fn to_myself() -> Self {
        Self(Resolvers::Myself)
    }

    /// Written out also where it is the default, so that a reader of the envelope sees who is meant.
    pub(super) fn allowed_resolvers(&self, identity: &Identity) -> Value {
        match &self.0 {
            Resolvers::Named(names) => names.iter().map(String::as_str).collect(),
            Resolvers::Myself => std::iter::once(format!("agent:{}", identity.agent_id)).collect(),
        }
    }
}
