//! Errors of calls to the hub.

use std::io::ErrorKind;

use countersign_protocol::a2h::ApiError;
use countersign_protocol::a2h::api_error::with_field;
use ureq::http::StatusCode;

use crate::setup::locate::{AddressSource, LocateError, Location};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HubError {
    /// The connection was refused: on this machine that means that no hub runs.
    #[error("{0}")]
    NoHub(String),
    #[error("{0}")]
    Unreachable(String),
    /// The hub understood the call and refused it.
    #[error("{message}")]
    Refused { status: StatusCode, message: String },
    /// The reply is not one that a hub gives; another program may have the port.
    #[error("unexpected reply from the hub: {0}")]
    UnexpectedReply(String),
    /// `hub.json` of this machine cannot be used.
    #[error("{0}")]
    Unusable(String),
    /// A setting, such as `COUNTERSIGN_URL`, cannot be used.
    #[error("{0}")]
    Setting(String),
}

impl HubError {
    pub(super) fn refused(status: StatusCode, body: &[u8]) -> Self {
        let Some(error) = ApiError::read(body) else {
            return Self::UnexpectedReply(format!(
                "status {status} without a reason; is this the address of a hub?"
            ));
        };
        let mut message = format!(
            "{} ({})",
            with_field(error.field.as_deref(), &error.message),
            error.code
        );
        if let Some(id) = error.id {
            message = format!("{message}; the hub's log has the cause under {id}");
        }
        Self::Refused { status, message }
    }

    pub(super) fn unreachable(error: &ureq::Error, location: &Location) -> Self {
        let is_refused = matches!(error, ureq::Error::Io(io) if io.kind() == ErrorKind::ConnectionRefused);
        if let (true, AddressSource::DataDirectory(data)) = (is_refused, &location.source) {
            return LocateError::NoHub(data.clone()).into();
        }
        let reason = match error {
            ureq::Error::Timeout(_) => "it took too long".to_owned(),
            ureq::Error::Io(io) => io.to_string(),
            other => other.to_string(),
        };
        let message = format!("the hub at {} cannot be reached: {reason}", location.shown_url());
        if is_refused {
            Self::NoHub(message)
        } else {
            Self::Unreachable(message)
        }
    }

    /// Whether the same call may succeed a moment later. A rejected token is transient only if it came from
    /// `hub.json`: the hub writes a new one at every start.
    pub fn is_transient(&self, source: Option<&AddressSource>) -> bool {
        match self {
            Self::NoHub(_) | Self::Unreachable(_) | Self::UnexpectedReply(_) => true,
            Self::Refused { .. } if self.is_unauthenticated() => {
                matches!(source, Some(AddressSource::DataDirectory(_)))
            }
            Self::Refused { status, .. } => super::is_transient_status(*status),
            Self::Unusable(_) | Self::Setting(_) => false,
        }
    }

    /// Nothing answers, or another program has the port of a hub that was killed.
    pub fn suggests_no_hub(&self) -> bool {
        matches!(self, Self::NoHub(_) | Self::UnexpectedReply(_)) || self.is_unauthenticated()
    }

    pub fn is_unauthenticated(&self) -> bool {
        matches!(
            self,
            Self::Refused {
                status: StatusCode::UNAUTHORIZED,
                ..
            }
        )
    }

    /// The hub runs but cannot serve the call right now.
    pub fn is_busy(&self) -> bool {
        matches!(
            self,
            Self::Refused {
                status: StatusCode::SERVICE_UNAVAILABLE,
                ..
            }
        )
    }

    /// The caller can correct the input or the setting.
    pub fn is_caller_error(&self) -> bool {
        let is_input_error = |status: &StatusCode| {
            matches!(
                *status,
                StatusCode::BAD_REQUEST | StatusCode::PAYLOAD_TOO_LARGE | StatusCode::UNPROCESSABLE_ENTITY
            )
        };
        matches!(self, Self::Setting(_)) || matches!(self, Self::Refused { status, .. } if is_input_error(status))
    }

    pub fn is_not_found(&self) -> bool {
        matches!(
            self,
            Self::Refused {
                status: StatusCode::NOT_FOUND,
                ..
            }
        )
    }
}

impl From<LocateError> for HubError {
    fn from(error: LocateError) -> Self {
        match error {
            LocateError::NoHub(_) => Self::NoHub(error.to_string()),
            LocateError::Unusable(message) => Self::Unusable(message),
            LocateError::Setting(message) => Self::Setting(message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_its_field_and_code() {
        let body = br#"{"error":{"code":"invalid_field","message":"too long","field":"prompt"}}"#;
        let error = HubError::refused(StatusCode::UNPROCESSABLE_ENTITY, body);
        assert_eq!(error.to_string(), "prompt: too long (invalid_field)");
        assert!(!error.is_transient(None));
    }

    #[test]
    fn a_rejected_token_is_transient_only_if_it_came_from_hub_json() {
        let body = br#"{"error":{"code":"unauthenticated","message":"send a valid token"}}"#;
        let error = HubError::refused(StatusCode::UNAUTHORIZED, body);
        assert!(error.is_transient(Some(&AddressSource::DataDirectory("/d".into()))));
        assert!(!error.is_transient(Some(&AddressSource::Environment)));
    }

    #[test]
    fn error_pages_of_a_proxy_are_transient() {
        for status in [StatusCode::BAD_GATEWAY, StatusCode::NOT_FOUND] {
            assert!(HubError::refused(status, b"<html>").is_transient(None), "{status}");
        }
    }
}
