//! The allowed resolvers, as a type state: without them no person could answer, so the message cannot be drafted yet.

use serde_json::Value;

use crate::identity::Identity;

/// Type state of a message without resolvers.
#[derive(Debug, Clone, Copy)]
pub struct Unaddressed(pub(super) ());

/// Type state of a message with resolvers.
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

    /// Always explicit, even for the default, so that the envelope shows who may answer.
    pub(super) fn allowed_resolvers(&self, identity: &Identity) -> Value {
        match &self.0 {
            ResolverList::Named(names) => names.iter().map(String::as_str).collect(),
            ResolverList::Myself => std::iter::once(format!("agent:{}", identity.agent_id)).collect(),
        }
    }
}
