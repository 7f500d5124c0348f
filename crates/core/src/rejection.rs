//! Rejections by the rules. The doors map them to status codes.

use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;

use crate::access::Actor;
use crate::message::{Outcome, Resolution};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// A well-formed message with an invalid field.
    #[error("{field}: {message}")]
    InvalidField { field: String, message: String },
    /// The command does not apply to this kind of message.
    #[error("{0}")]
    NotApplicable(&'static str),
    #[error("{0} may not resolve this message")]
    NotAuthorized(String),
    /// Another command resolved the message first; names its actor and time.
    #[error("the message is already {outcome}, by {actor} at {resolved_at}")]
    AlreadyTerminal {
        id: MessageId,
        outcome: Outcome,
        actor: Actor,
        resolved_at: Timestamp,
    },
    #[error("the message has not reached its expiry")]
    NotDue,
    /// A decision is on hold: its author can still take it back.
    #[error("{} is answering this", by.person_name().unwrap_or(by.as_str()))]
    Held { by: Actor, until: Timestamp },
    #[error("there is no answer to take back")]
    NotHeld,
}

impl Rejection {
    pub fn field(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self::InvalidField {
            field: field.into(),
            message: message.into(),
        }
    }

    pub fn already(id: &MessageId, resolution: &Resolution) -> Self {
        Self::AlreadyTerminal {
            id: id.clone(),
            outcome: resolution.outcome,
            actor: resolution.actor.clone(),
            resolved_at: resolution.resolved_at,
        }
    }
}
