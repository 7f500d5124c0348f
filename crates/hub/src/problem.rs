//! API errors: status codes, error codes, texts and headers.

use std::panic::Location;

use axum::Json;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use countersign_core::{Outcome, Rejection};
use countersign_protocol::a2h::EnvelopeError;
use countersign_protocol::id::MessageId;
use countersign_protocol::json::JsonError;
use countersign_runs::CommandFailure;
use countersign_store::{StoreError, Unreadable};
use countersign_telemetry::request::{RequestId, current_id, error_id};
use serde_json::{Value, json};

#[derive(Debug, Clone, PartialEq)]
pub enum Problem {
    Validation {
        field: Option<String>,
        message: String,
    },
    VersionNotSupported {
        message: String,
    },
    Unauthenticated,
    /// As `Unauthenticated`, with a message of its own.
    TokenNeeded {
        message: String,
    },
    AgentIdMismatch {
        message: String,
    },
    NotAuthorized {
        message: String,
    },
    NotFound {
        message: String,
    },
    MethodNotAllowed,
    IdempotencyConflict,
    AlreadyTerminal {
        id: MessageId,
        outcome: Outcome,
        message: String,
    },
    /// Another person's decision is on hold.
    Held {
        message: String,
    },
    /// There is no decision to take back.
    NotHeld {
        message: String,
    },
    AlreadyExists {
        message: String,
    },
    /// The name belonged to a removed account.
    NameUsed {
        message: String,
    },
    Gone,
    /// The request names a host that the hub does not answer for.
    Misdirected {
        message: String,
    },
    InvalidField {
        field: String,
        message: String,
    },
    RateLimited {
        retry_after_seconds: u64,
        message: String,
    },
    TimedOut,
    /// The stored message is damaged.
    Unreadable {
        message_id: String,
    },
    AuditBroken {
        subject: String,
        why: String,
    },
    Unavailable {
        id: RequestId,
    },
    /// The commit may or may not have happened.
    Unsure {
        id: RequestId,
    },
}

impl Problem {
    pub fn validation(field: &str, message: impl Into<String>) -> Self {
        Self::Validation {
            field: Some(field.to_owned()),
            message: message.into(),
        }
    }

    /// A request that is wrong as a whole, in no single field.
    pub fn malformed(message: impl Into<String>) -> Self {
        Self::Validation {
            field: None,
            message: message.into(),
        }
    }

    pub fn invalid(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self::InvalidField {
            field: field.into(),
            message: message.into(),
        }
    }

    pub fn no_address() -> Self {
        Self::NotFound {
            message: "no such address; see /openapi.json".to_owned(),
        }
    }

    pub fn no_message() -> Self {
        Self::NotFound {
            message: "no such message, or not yours to see".to_owned(),
        }
    }

    pub fn no_file() -> Self {
        Self::NotFound {
            message: "no such file, or not yours to see".to_owned(),
        }
    }

    pub fn no_terminal() -> Self {
        Self::NotFound {
            message: "no such terminal agent, or it is not yours".to_owned(),
        }
    }

    pub fn no_run() -> Self {
        Self::NotFound {
            message: "no such run, or it was deleted at the end of its retention".to_owned(),
        }
    }

    pub fn status(&self) -> StatusCode {
        match self {
            Self::Validation { .. } | Self::VersionNotSupported { .. } => StatusCode::BAD_REQUEST,
            Self::Unauthenticated | Self::TokenNeeded { .. } => StatusCode::UNAUTHORIZED,
            Self::AgentIdMismatch { .. } | Self::NotAuthorized { .. } => StatusCode::FORBIDDEN,
            Self::NotFound { .. } => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::IdempotencyConflict
            | Self::AlreadyTerminal { .. }
            | Self::Held { .. }
            | Self::NotHeld { .. }
            | Self::AlreadyExists { .. }
            | Self::NameUsed { .. } => StatusCode::CONFLICT,
            Self::Gone => StatusCode::GONE,
            Self::Misdirected { .. } => StatusCode::MISDIRECTED_REQUEST,
            Self::InvalidField { .. } => StatusCode::UNPROCESSABLE_ENTITY,
            Self::RateLimited { .. } => StatusCode::TOO_MANY_REQUESTS,
            Self::TimedOut => StatusCode::REQUEST_TIMEOUT,
            Self::Unreadable { .. } | Self::AuditBroken { .. } => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Unavailable { .. } | Self::Unsure { .. } => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    pub fn code(&self) -> &'static str {
        match self {
            Self::Validation { .. } => "validation_error",
            Self::VersionNotSupported { .. } => "version_not_supported",
            Self::Unauthenticated | Self::TokenNeeded { .. } => "unauthenticated",
            Self::AgentIdMismatch { .. } => "agent_id_mismatch",
            Self::NotAuthorized { .. } => "not_authorized",
            Self::NotFound { .. } => "not_found",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::IdempotencyConflict => "idempotency_conflict",
            Self::AlreadyTerminal { .. } => "already_terminal",
            Self::Held { .. } => "held",
            Self::NotHeld { .. } => "not_held",
            Self::AlreadyExists { .. } => "already_exists",
            Self::NameUsed { .. } => "name_used",
            Self::Gone => "gone",
            Self::Misdirected { .. } => "misdirected_request",
            Self::InvalidField { .. } => "invalid_field",
            Self::RateLimited { .. } => "rate_limited",
            Self::TimedOut => "request_timeout",
            Self::Unreadable { .. } => "unreadable",
            Self::AuditBroken { .. } => "audit_broken",
            Self::Unavailable { .. } | Self::Unsure { .. } => "unavailable",
        }
    }

    pub fn message(&self) -> String {
        match self {
            Self::Validation { message, .. }
            | Self::VersionNotSupported { message }
            | Self::TokenNeeded { message }
            | Self::AgentIdMismatch { message }
            | Self::NotAuthorized { message }
            | Self::NotFound { message }
            | Self::AlreadyTerminal { message, .. }
            | Self::Held { message }
            | Self::NotHeld { message }
            | Self::AlreadyExists { message }
            | Self::NameUsed { message }
            | Self::Misdirected { message }
            | Self::RateLimited { message, .. } => message.clone(),
            Self::InvalidField { field, message } => format!("{field}: {message}"),
            Self::Unauthenticated => "send a valid token as `Authorization: Bearer …` or `X-API-Key: …`".to_owned(),
            Self::MethodNotAllowed => "this URL does not support that method".to_owned(),
            Self::IdempotencyConflict => {
                "this idempotency_key was used for another payload; resend the same bytes or use a new key".to_owned()
            }
            Self::Gone => "the message has been deleted at the end of its retention".to_owned(),
            Self::TimedOut => "the request did not arrive in time; send it again".to_owned(),
            Self::Unreadable { message_id } => format!(
                "message {message_id} is damaged in the hub's database and cannot be read; restore the database from a \
                 backup (`countersign doctor` names every damaged message)"
            ),
            Self::AuditBroken { subject, why } => format!(
                "the audit trail of {subject} is broken: {why}. The database was changed behind the hub's back: check it \
                 with `countersign audit verify`, and restore it from a backup"
            ),
            Self::Unavailable { .. } => "the hub could not do this now; nothing was changed, try again".to_owned(),
            Self::Unsure { .. } => {
                "this was cut off in the middle, so it may be done or not; send the same request again, or check first"
                    .to_owned()
            }
        }
    }

    pub fn field(&self) -> Option<&str> {
        match self {
            Self::Validation { field, .. } => field.as_deref().filter(|field| !field.is_empty()),
            Self::InvalidField { field, .. } => Some(field),
            _ => None,
        }
    }

    /// The id of the request that failed; the log has it too.
    pub fn request_id(&self) -> Option<RequestId> {
        match self {
            Self::Unavailable { id } | Self::Unsure { id } => Some(id.clone()),
            _ => current_id(),
        }
    }

    pub fn body(&self) -> Value {
        let mut error = json!({"code": self.code(), "message": self.message()});
        if let Some(field) = self.field() {
            error["field"] = field.into();
        }
        if let Some(id) = self.request_id() {
            error["id"] = id.to_string().into();
        }
        match self {
            Self::AlreadyTerminal { id, outcome, .. } => {
                json!({"error": error, "id": id, "status": outcome, "resolution": outcome})
            }
            _ => json!({"error": error}),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.status(), Json(self.body())).into_response();
        self.add_headers(response.headers_mut());
        response
    }
}

impl Problem {
    /// Adds `Retry-After` and `WWW-Authenticate`.
    pub fn add_headers(&self, headers: &mut HeaderMap) {
        match self {
            Self::RateLimited {
                retry_after_seconds, ..
            } => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from(*retry_after_seconds));
            }
            Self::Unavailable { .. } | Self::Unsure { .. } => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from(1));
            }
            Self::Unauthenticated | Self::TokenNeeded { .. } => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            _ => {}
        }
    }
}

impl From<Rejection> for Problem {
    fn from(rejection: Rejection) -> Self {
        let message = rejection.to_string();
        match rejection {
            Rejection::InvalidField { field, message } => Self::InvalidField { field, message },
            Rejection::NotApplicable(_) => Self::malformed(message),
            Rejection::NotAuthorized(_) => Self::NotAuthorized { message },
            Rejection::AlreadyTerminal { id, outcome, .. } => Self::AlreadyTerminal { id, outcome, message },
            Rejection::NotDue => Self::malformed(message),
            Rejection::Held { .. } => Self::Held { message },
            Rejection::NotHeld => Self::NotHeld { message },
        }
    }
}

impl From<EnvelopeError> for Problem {
    fn from(error: EnvelopeError) -> Self {
        let message = error.to_string();
        match error {
            EnvelopeError::Invalid { field, .. } => Self::Validation {
                field: Some(field),
                message,
            },
            EnvelopeError::VersionNotSupported { message } => Self::VersionNotSupported { message },
        }
    }
}

impl From<JsonError> for Problem {
    fn from(error: JsonError) -> Self {
        Self::malformed(error.to_string())
    }
}

/// The caller gets the id of the request; the log gets the cause and the place of the operation under the same id.
/// Damaged data is named, and the store has logged it.
impl From<StoreError> for Problem {
    #[track_caller]
    fn from(error: StoreError) -> Self {
        let error = match error {
            StoreError::Unreadable(Unreadable { id: message_id, .. }) => return Self::Unreadable { message_id },
            StoreError::AuditBroken { subject, why } => return Self::AuditBroken { subject, why },
            other => other,
        };
        let id = error_id();
        tracing::error!(error_id = %id, at = %Location::caller(), %error, "store operation failed");
        match error {
            StoreError::CommitUnknown(_) => Self::Unsure { id },
            StoreError::Unavailable(_)
            | StoreError::ConnectionEnded(_)
            | StoreError::Conflict
            | StoreError::Corrupt(_)
            | StoreError::Unreadable(_)
            | StoreError::AuditBroken { .. }
            | StoreError::NewerSchema { .. }
            | StoreError::UnfinishedCopy { .. }
            | StoreError::DataLoss(_) => Self::Unavailable { id },
        }
    }
}

pub fn no_randomness(error: getrandom::Error) -> Problem {
    let id = error_id();
    tracing::error!(error_id = %id, %error, "reading random bytes from the operating system failed");
    Problem::Unavailable { id }
}

impl From<CommandFailure> for Problem {
    fn from(failure: CommandFailure) -> Self {
        let id = error_id();
        match failure {
            CommandFailure::Store(error) => error.into(),
            CommandFailure::NotApplied { run_id } => {
                tracing::warn!(error_id = %id, run_id, "remote run command not applied");
                Self::Unavailable { id }
            }
            CommandFailure::NoReply { run_id } => {
                tracing::warn!(error_id = %id, run_id, "no reply to a remote run command in time");
                Self::Unsure { id }
            }
        }
    }
}
