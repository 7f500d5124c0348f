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
        Self { code: code.into(), message: message.into() }
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
        let id = Uuid::new_v4();
        tracing::error!(%id, %error, "a message about a run could not be dealt with");
        Self::new(
            "INTERNAL_ERROR",
            format!("The hub could not do this now; try again. Its log has the cause under {id}."),
        )
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Self::internal(&error)
    }
}

impl From<Refusal> for Reply {
    fn from(refusal: Refusal) -> Self {
        Self::error(refusal.code, refusal.message)
    }
}
