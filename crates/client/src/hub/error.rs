//! Errors between a client and the hub, worded for the person at the terminal.

use std::error::Error;

use countersign_protocol::a2h::ApiError;
use countersign_protocol::a2h::api_error::with_field;
use reqwest::StatusCode;

use super::{AddressSource, HubLocation};
use crate::address::LocateError;

#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The hub refused the request.
    #[error("{message} ({code})")]
    Refused {
        status: StatusCode,
        code: String,
        message: String,
        field: Option<String>,
    },
    #[error("{0}")]
    Unreachable(String),
    /// The reply is not one that a hub sends.
    #[error("unexpected reply from the hub: {0}")]
    UnexpectedResponse(String),
}

impl ClientError {
    pub(super) fn refused(status: StatusCode, body: &[u8]) -> Self {
        let Some(error) = ApiError::read(body) else {
            return Self::unexpected(format!(
                "status {status} without a reason; is this the address of a hub?"
            ));
        };
        let mut message = with_field(error.field.as_deref(), &error.message);
        if let Some(id) = error.id {
            message = format!("{message}; the hub's log has the cause under {id}");
        }
        Self::Refused {
            status,
            code: error.code,
            message,
            field: error.field,
        }
    }

    pub(super) fn unexpected(text: String) -> Self {
        Self::UnexpectedResponse(text)
    }

    pub(super) fn unreachable(error: &reqwest::Error, location: &HubLocation) -> Self {
        if let (true, AddressSource::DataDirectory(data)) = (is_connection_refused(error), &location.source) {
            return Self::Unreachable(LocateError::NoHub(data.clone()).to_string());
        }
        let reason = if error.is_timeout() {
            "it took too long".to_owned()
        } else {
            root_cause(error)
        };
        Self::Unreachable(format!(
            "the hub at {} cannot be reached: {reason}",
            location.shown_url()
        ))
    }

    pub fn has_code(&self, wanted: &str) -> bool {
        matches!(self, Self::Refused { code, .. } if code == wanted)
    }

    /// Whether the credential is valid but lacks the permission.
    pub fn is_forbidden(&self) -> bool {
        matches!(self, Self::Refused { status, .. } if *status == StatusCode::FORBIDDEN)
    }
}

fn is_connection_refused(error: &(dyn Error + 'static)) -> bool {
    causes(error).any(|cause| {
        let io = cause.downcast_ref::<std::io::Error>();
        io.is_some_and(|io| io.kind() == std::io::ErrorKind::ConnectionRefused)
    })
}

fn root_cause(error: &(dyn Error + 'static)) -> String {
    causes(error).last().map(ToString::to_string).unwrap_or_default()
}

fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    let mut next = Some(error);
    std::iter::from_fn(move || {
        let cause = next?;
        next = cause.source();
        Some(cause)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(body: &str) -> String {
        ClientError::refused(StatusCode::UNPROCESSABLE_ENTITY, body.as_bytes()).to_string()
    }

    #[test]
    fn a_refusal_names_its_code_and_the_field_once() {
        let plain = r#"{"error":{"code":"not_found","message":"no such message"}}"#;
        assert_eq!(refused(plain), "no such message (not_found)");
        let fielded = r#"{"error":{"code":"invalid_field","message":"too long","field":"comment"}}"#;
        assert_eq!(refused(fielded), "comment: too long (invalid_field)");
        let named = r#"{"error":{"code":"invalid_field","message":"value is not an option","field":"value"}}"#;
        assert_eq!(refused(named), "value is not an option (invalid_field)");
    }

    #[test]
    fn a_reply_that_no_hub_sends_is_called_unexpected() {
        assert!(refused("<html>").contains("422"));
        assert!(refused(r#"{"error":"no"}"#).contains("unexpected reply"));
    }
}
