//! What can go wrong between `cueme` and the hub.

use std::io::ErrorKind;

use countersign_protocol::a2h::ApiError;
use countersign_protocol::a2h::refused::with_field;
use ureq::http::StatusCode;

use crate::setup::locate::{AddressSource, LocateError, Location};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HubError {
    /// Nothing listens there; for a hub of this machine that means that it does not run.
    #[error("{0}")]
    NoHub(String),
    #[error("{0}")]
    Unreachable(String),
    /// The hub understood and said no.
    #[error("{message}")]
    Refused { status: StatusCode, message: String },
    /// Something answered, but not as a hub does.
    #[error("the hub's reply makes no sense: {0}")]
    Strange(String),
    /// What this machine says of the hub cannot be used.
    #[error("{0}")]
    Unusable(String),
    /// What somebody set cannot be used.
    #[error("{0}")]
    Setting(String),
}

impl HubError {
    pub(super) fn refused(status: StatusCode, body: &[u8]) -> Self {
        let Some(error) = ApiError::read(body) else {
            return Self::Strange(format!(
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
        if let (true, AddressSource::DataDirectory(data)) = (is_refused, &location.place) {
            return LocateError::NoHub(data.clone()).into();
        }
        let reason = match error {
            ureq::Error::Timeout(_) => "it took too long".to_owned(),
            ureq::Error::Io(io) => io.to_string(),
            other => other.to_string(),
        };
        let told = format!("the hub at {} cannot be reached: {reason}", location.shown_url());
        if is_refused {
            Self::NoHub(told)
        } else {
            Self::Unreachable(told)
        }
    }

    /// Whether the same call may succeed a moment later. A token out of `hub.json` changes with every start of the hub;
    /// one that a person gave does not.
    pub fn may_pass(&self, place: Option<&AddressSource>) -> bool {
        match self {
            Self::NoHub(_) | Self::Unreachable(_) | Self::Strange(_) => true,
            Self::Refused { .. } if self.is_unauthenticated() => matches!(place, Some(AddressSource::DataDirectory(_))),
            Self::Refused { status, .. } => super::will_pass(*status),
            Self::Unusable(_) | Self::Setting(_) => false,
        }
    }

    /// Nothing answers, or somebody else where the hub was before it was killed.
    pub fn may_be_no_hub(&self) -> bool {
        matches!(self, Self::NoHub(_) | Self::Strange(_)) || self.is_unauthenticated()
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

    /// The hub is there, and cannot do anything just now.
    pub fn is_busy(&self) -> bool {
        matches!(
            self,
            Self::Refused {
                status: StatusCode::SERVICE_UNAVAILABLE,
                ..
            }
        )
    }

    /// The caller can put it right.
    pub fn is_invalid(&self) -> bool {
        let is_told = |status: &StatusCode| {
            matches!(
                *status,
                StatusCode::BAD_REQUEST | StatusCode::PAYLOAD_TOO_LARGE | StatusCode::UNPROCESSABLE_ENTITY
            )
        };
        matches!(self, Self::Setting(_)) || matches!(self, Self::Refused { status, .. } if is_told(status))
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
            LocateError::Unusable(told) => Self::Unusable(told),
            LocateError::Setting(told) => Self::Setting(told),
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
        assert!(!error.may_pass(None));
    }

    #[test]
    fn only_a_token_of_the_hubs_own_file_may_become_good() {
        let body = br#"{"error":{"code":"unauthenticated","message":"send a valid token"}}"#;
        let error = HubError::refused(StatusCode::UNAUTHORIZED, body);
        assert!(error.may_pass(Some(&AddressSource::DataDirectory("/d".into()))));
        assert!(!error.may_pass(Some(&AddressSource::Environment)));
    }

    #[test]
    fn what_a_proxy_says_for_an_absent_hub_may_pass() {
        for status in [StatusCode::BAD_GATEWAY, StatusCode::NOT_FOUND] {
            assert!(HubError::refused(status, b"<html>").may_pass(None), "{status}");
        }
    }
}
