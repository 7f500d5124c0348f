//! Refused requests, with the codes and texts of the protocol.

use std::borrow::Cow;

use countersign_protocol::runs::RunReply;
use countersign_store::StoreError;
use uuid::Uuid;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRefusal {
    pub code: Cow<'static, str>,
    pub message: String,
}

impl RunRefusal {
    pub fn new(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
        }
    }

    pub fn prepare(message: impl Into<String>) -> Self {
        Self::new("PREPARE_FAILED", message)
    }

    pub fn already_exists(run_id: &str) -> Self {
        Self::prepare(format!("Run already exists: {run_id}"))
    }

    pub fn subscribe(message: impl Into<String>) -> Self {
        Self::new("SUBSCRIBE_ERROR", message)
    }

    pub fn not_steerable(run_id: &str, why: &str) -> Self {
        Self::new("RUN_NOT_STEERABLE", format!("Cannot steer run {run_id}: {why}"))
    }

    pub fn no_active_run(run_id: &str) -> Self {
        Self::new("RUN_NOT_FOUND", format!("No active run found for runId {run_id}"))
    }

    /// The cause is only logged; the client gets its id.
    pub fn internal(error: &impl std::fmt::Display) -> Self {
        Self::failed(error, "The hub could not do this now. Try again.")
    }

    /// The outcome is unknown.
    pub fn unsure(error: &impl std::fmt::Display) -> Self {
        Self::failed(
            error,
            "It is unknown whether this was done. Check the run before you try again.",
        )
    }

    fn failed(error: &impl std::fmt::Display, what: &str) -> Self {
        let id = Uuid::new_v4();
        tracing::error!(error_id = %id, %error, "handling a run request failed");
        Self::new(
            "INTERNAL_ERROR",
            format!("{what} The hub's log has the cause under {id}."),
        )
    }
}

impl From<StoreError> for RunRefusal {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::CommitUnknown(_) => Self::unsure(&error),
            StoreError::Unavailable(_)
            | StoreError::ConnectionEnded(_)
            | StoreError::Conflict
            | StoreError::Corrupt(_)
            | StoreError::Unreadable(_)
            | StoreError::AuditBroken { .. }
            | StoreError::NewerSchema { .. }
            | StoreError::UnfinishedCopy { .. }
            | StoreError::DataLoss(_) => Self::internal(&error),
        }
    }
}

impl From<RunRefusal> for RunReply {
    fn from(refusal: RunRefusal) -> Self {
        Self::error(refusal.code, refusal.message)
    }
}
