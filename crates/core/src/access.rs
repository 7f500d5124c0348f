//! Principals, the identities behind credentials, with their permissions; and actors, the names they act under.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::message::Content;
use crate::rejection::Rejection;

/// `human:…`, `agent:…` or `system:…`, always attested by the hub from a credential.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Actor(String);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an actor is written as human:<id>, agent:<id> or system:<id>")]
pub struct ActorError;

impl Actor {
    /// One of the `allowed_resolvers` of an envelope. The protocol has checked its form.
    pub fn named(actor: String) -> Self {
        Self(actor)
    }

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

    /// The name of a person; `None` for agents and the system.
    pub fn person_name(&self) -> Option<&str> {
        self.0.strip_prefix("human:")
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Actor {
    type Err = ActorError;

    fn from_str(text: &str) -> Result<Self, ActorError> {
        let names = |kind: &&str| text.strip_prefix(kind).is_some_and(|id| !id.is_empty());
        let is_named = ["human:", "agent:", "system:"].iter().any(names);
        is_named.then(|| Self(text.to_owned())).ok_or(ActorError)
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

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
            Self::Agent { .. }
            | Self::Person {
                role: Role::Owner | Role::Resolver,
                ..
            } => Ok(actor),
            Self::Person { .. } | Self::Terminal { .. } => Err(Rejection::NotAuthorized(actor.to_string())),
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

/// Which names new accounts may have: plain ASCII, because a name identifies its account to people, and other scripts
/// have look-alikes and invisible characters.
struct NameRule {
    max_chars: usize,
    separators: &'static [char],
}

const PERSON_NAME: NameRule = NameRule {
    max_chars: 64,
    separators: &['.', '_', '-', '@', '+'],
};
const AGENT_ID: NameRule = NameRule {
    max_chars: 200,
    separators: &['.', '_', '-', '@', '+', '/', ':'],
};

/// A name that breaks its rule; the text names the first wrong character and its place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NameError(String);

impl NameRule {
    fn check(&self, name: &str) -> Result<(), NameError> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || self.separators.contains(&c);
        let wrong = name.chars().enumerate().find(|(_, c)| !is_plain(*c));
        let fault = match (wrong, name.len()) {
            (Some((index, c)), _) => {
                let (number, character) = (index + 1, c.escape_default());
                format!("character {number} is {character}")
            }
            (None, 0) => "it is empty".to_owned(),
            (None, length) if length > self.max_chars => format!("it has {length}"),
            (None, _) => return Ok(()),
        };
        let separators: String = self.separators.iter().flat_map(|c| [' ', *c]).collect();
        Err(NameError(format!(
            "use 1 to {} letters a-z or A-Z, digits or{separators}; {fault}",
            self.max_chars
        )))
    }
}

pub fn check_person_name(name: &str) -> Result<(), NameError> {
    PERSON_NAME.check(name)
}

/// Checks the id of a new agent. Agents added under an earlier rule keep their ids. `#` is reserved: the wire uses it to
/// name a session.
pub fn check_agent_id(id: &str) -> Result<(), NameError> {
    AGENT_ID.check(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_ascii_and_the_wrong_character_is_named() {
        for id in ["bot", "acme/deployer", "team:a.b_c-d@e+f", &"x".repeat(200)] {
            assert_eq!(check_agent_id(id), Ok(()), "{id}");
        }
        let refused = |id: &str| check_agent_id(id).unwrap_err().to_string();
        for (id, fault) in [
            ("", "it is empty"),
            ("two words", "character 4 is  "),
            ("a#b", "character 2 is #"),
            ("b\u{43e}t", r"character 2 is \u{43e}"),
            ("bot\u{200b}", r"character 4 is \u{200b}"),
            ("\u{202e}tob", r"character 1 is \u{202e}"),
            ("b\nt", r"character 2 is \n"),
            (&"x".repeat(201), "it has 201"),
        ] {
            assert!(refused(id).ends_with(fault), "{}", refused(id));
        }
        assert_eq!(
            check_person_name("ann/bob").unwrap_err().to_string(),
            "use 1 to 64 letters a-z or A-Z, digits or . _ - @ +; character 4 is /"
        );
    }

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
