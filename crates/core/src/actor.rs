//! Actors: `human:…`, `agent:…` or `system:…`, always attested by the hub from a credential.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Actor(String);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an actor is written as human:<id>, agent:<id> or system:<id>")]
pub struct ActorError;

impl Actor {
    pub fn human(name: &str) -> Self {
        Self(format!("human:{name}"))
    }

    pub fn agent(id: &str) -> Self {
        Self(format!("agent:{id}"))
    }

    /// The hub, when it applies the default that the asker declared.
    pub fn default_on_expire() -> Self {
        Self("system:default_on_expire".to_owned())
    }

    /// The hub, when a message without a default expires.
    pub fn expired() -> Self {
        Self("system:expired".to_owned())
    }

    /// The id of an agent; `None` for people and the system.
    pub fn agent_id(&self) -> Option<&str> {
        self.0.strip_prefix("agent:")
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Actor {
    type Err = ActorError;

    fn from_str(text: &str) -> Result<Self, ActorError> {
        let named = ["human:", "agent:", "system:"]
            .iter()
            .any(|kind| text.strip_prefix(kind).is_some_and(|id| !id.is_empty()));
        if named {
            Ok(Self(text.to_owned()))
        } else {
            Err(ActorError)
        }
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
