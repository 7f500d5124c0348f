//! Why a client does not get what it wants, in the codes and texts of the wire.

use std::borrow::Cow;

use countersign_protocol::runs::Reply;
use countersign_store::StoreError;
use uuid::Uuid;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub code: Cow<'static, str>,
    pub message: String,
}

impl Refusal {
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

    /// The cause is in the log, once.
    pub fn internal(error: &impl std::fmt::Display) -> Self {
        Self::failed(error, "The hub could not do this now; try again.")
    }

    /// Nobody knows whether it was done.
    pub fn unsure(error: &impl std::fmt::Display) -> Self {
        Self::failed(error, "This may be done or not; look before you try again.")
    }

    fn failed(error: &impl std::fmt::Display, what: &str) -> Self {
        let id = Uuid::new_v4();
        tracing::error!(%id, %error, "a message about a run could not be dealt with");
        Self::new(
            "INTERNAL_ERROR",
            format!("{what} The hub's log has the cause under {id}."),
        )
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unsure(_) => Self::unsure(&error),
            StoreError::Unavailable(_)
            | StoreError::Ended(_)
            | StoreError::Raced
            | StoreError::Corrupt(_)
            | StoreError::NewerSchema { .. }
            | StoreError::HalfCopied { .. } => Self::internal(&error),
        }
    }
}

impl From<Refusal> for Reply {
    fn from(refusal: Refusal) -> Self {
        Self::error(refusal.code, refusal.message)
    }
}
