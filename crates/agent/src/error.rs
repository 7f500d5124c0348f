//! Errors between an agent and its hub.

use countersign_protocol::a2h::api_error::with_field;
use countersign_protocol::a2h::{ApiError, EnvelopeError};

use crate::journal::JournalError;

/// The texts of a refusal are untrusted and end up on a terminal or in a log.
const MAX_ERROR_CHARS: usize = 1000;

/// Why a call to the hub failed. The text is for people.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The hub refused the request.
    #[error("{} ({code})", with_field(.field.as_deref(), .message))]
    Refused {
        /// The HTTP status.
        status: u16,
        /// A stable code for programs, such as `rate_limited`.
        code: String,
        /// The reason in words.
        message: String,
        /// The faulty field of the envelope.
        field: Option<String>,
    },
    /// The hub gave no reply in time; the request may have arrived.
    #[error("{0}")]
    Unreachable(String),
    /// The response is not one that a hub sends.
    #[error("unexpected response from the hub: {0}")]
    UnexpectedResponse(String),
    /// The caller's input is invalid; nothing was sent.
    #[error("`{field}` {message}")]
    Invalid {
        /// The name of the field, with dots between levels.
        field: String,
        /// The reason, to be read after the name.
        message: String,
    },
    /// The key belongs to a message with other content.
    #[error("this idempotency key was already used for another message: use a new key, or wait for the first message")]
    Conflict,
    /// The journal failed, before or after the call.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The hub knew the message once.
    #[error("the message was deleted at the end of its retention period")]
    Gone,
    /// The id is unknown, or the message is from another agent.
    #[error("the hub has no such message from this agent: check the id, the agent and the hub's address")]
    NotFound,
}

impl Error {
    pub(crate) fn invalid(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Invalid {
            field: field.into(),
            message: message.into(),
        }
    }

    pub(crate) fn unexpected(text: impl Into<String>) -> Self {
        Self::UnexpectedResponse(text.into())
    }

    /// The hub's reason for a refusal; without one, an unexpected response.
    pub(crate) fn refused(status: u16, body: &[u8]) -> Self {
        let Some(error) = ApiError::read(body) else {
            return Self::UnexpectedResponse(format!(
                "status {status} without a reason; is this the address of a hub?"
            ));
        };
        Self::Refused {
            status,
            code: plain(&error.code),
            message: plain(&error.message),
            field: error.field.as_deref().map(plain),
        }
    }
}

impl From<EnvelopeError> for Error {
    fn from(error: EnvelopeError) -> Self {
        match error {
            EnvelopeError::Invalid { field, message } if field.is_empty() => Self::invalid("envelope", message),
            EnvelopeError::Invalid { field, message } => Self::invalid(field, message),
            EnvelopeError::VersionNotSupported { message } => Self::invalid("version", message),
        }
    }
}

/// Truncates the text and replaces control characters, which could move a terminal's cursor.
fn plain(text: &str) -> String {
    let kept = text.chars().take(MAX_ERROR_CHARS);
    kept.map(|character| if character.is_control() { ' ' } else { character })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(body: &str) -> String {
        Error::refused(422, body.as_bytes()).to_string()
    }

    #[test]
    fn a_refusal_names_its_code_and_the_field_once() {
        let fielded = r#"{"error":{"code":"invalid_field","message":"too long","field":"body"}}"#;
        assert_eq!(refused(fielded), "body: too long (invalid_field)");
        let named = r#"{"error":{"code":"invalid_field","message":"body: too long","field":"body"}}"#;
        assert_eq!(refused(named), "body: too long (invalid_field)");
    }

    #[test]
    fn a_refusal_without_a_reason_names_the_status_and_control_characters_are_removed() {
        assert!(refused("<html>").contains("422"));
        let painted = r#"{"error":{"code":"x","message":"\u001b[2Jgone"}}"#;
        assert_eq!(refused(painted), " [2Jgone (x)");
        let long = format!(r#"{{"error":{{"code":"x","message":"{}"}}}}"#, "a".repeat(5000));
        assert_eq!(refused(&long).len(), MAX_ERROR_CHARS + " (x)".len());
    }
}
