//! Principals: the identity behind a credential, and its permissions.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::message::Content;
use crate::rejection::Rejection;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Principal {
    Agent {
        id: String,
    },
    Person {
        name: String,
        role: Role,
    },
    /// The terminals of a person, where agents run: they may ask that person, but not act on the person's behalf.
    Terminal {
        person: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Administers the hub, and resolves messages that name them.
    Owner,
    Resolver,
    /// Read-only access.
    Viewer,
}

impl Role {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Resolver => "resolver",
            Self::Viewer => "viewer",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a role is owner, resolver or viewer")]
pub struct RoleError;

impl FromStr for Role {
    type Err = RoleError;

    fn from_str(text: &str) -> Result<Self, RoleError> {
        [Self::Owner, Self::Resolver, Self::Viewer]
            .into_iter()
            .find(|role| role.as_str() == text)
            .ok_or(RoleError)
    }
}

impl Principal {
    pub fn actor(&self) -> Actor {
        match self {
            Self::Agent { id } => Actor::agent(id),
            Self::Person { name, .. } => Actor::human(name),
            // The token does not say which agent acts; the request does.
            Self::Terminal { .. } => Actor::agent("terminal"),
        }
    }

    /// The actor for resolving messages; a rejection if this principal may not resolve at all.
    pub fn resolver(&self) -> Result<Actor, Rejection> {
        let actor = self.actor();
        match self {
            Self::Person { role: Role::Viewer, .. } | Self::Terminal { .. } => {
                Err(Rejection::NotAuthorized(actor.to_string()))
            }
            Self::Agent { .. }
            | Self::Person {
                role: Role::Owner | Role::Resolver,
                ..
            } => Ok(actor),
        }
    }

    pub fn is_owner(&self) -> bool {
        matches!(self, Self::Person { role: Role::Owner, .. })
    }
}

/// Exact match only: no wildcards, no implied resolvers.
pub fn may_resolve(content: &Content, actor: &Actor) -> bool {
    content.resolvers.contains(actor)
}

/// Names of people: short and plain, because they appear in actors, tables and URLs.
pub fn is_person_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'@' | b'+'))
}

/// Ids of agents: visible characters without spaces. `#` is reserved: the wire uses it to name a session.
pub fn is_agent_id(id: &str) -> bool {
    (1..=200).contains(&id.len()) && id.chars().all(|c| !c.is_control() && !c.is_whitespace() && c != '#')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_may_not_resolve_on_behalf_of_its_person() {
        let terminal = Principal::Terminal {
            person: "olga".to_owned(),
        };
        assert_ne!(terminal.actor(), Actor::human("olga"));
        assert_eq!(
            terminal.resolver(),
            Err(Rejection::NotAuthorized("agent:terminal".to_owned()))
        );
        assert!(!terminal.is_owner());
    }
}
