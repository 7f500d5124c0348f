//! Who may answer. Naming nobody would make a message that no person can answer, so it is no message yet.

use serde_json::Value;

use crate::identity::Identity;

/// Nobody has been named yet.
#[derive(Debug, Clone, Copy)]
pub struct Unaddressed(pub(super) ());

/// Somebody has been named.
#[derive(Debug, Clone)]
pub struct Addressed(ResolverList);

#[derive(Debug, Clone)]
enum ResolverList {
    Named(Vec<String>),
    Myself,
}

impl Addressed {
    pub(super) fn to<T: Into<String>>(names: impl IntoIterator<Item = T>) -> Self {
        Self(ResolverList::Named(names.into_iter().map(Into::into).collect()))
    }

    pub(super) fn to_myself() -> Self {
        Self(ResolverList::Myself)
    }

    /// Written out also where it is the default, so that a reader of the envelope sees who is meant.
    pub(super) fn allowed_resolvers(&self, identity: &Identity) -> Value {
        match &self.0 {
            ResolverList::Named(names) => names.iter().map(String::as_str).collect(),
            ResolverList::Myself => std::iter::once(format!("agent:{}", identity.agent_id)).collect(),
        }
    }
}
