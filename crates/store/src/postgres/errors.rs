//! Maps driver errors to store errors.

use std::error::Error;

use deadpool_postgres::{HookError, PoolError};
use tokio_postgres::error::{DbError, SqlState};

use crate::error::StoreError;

/// The unique index on an agent's idempotency keys.
const IDEMPOTENCY: &str = "message_idempotency";

impl From<tokio_postgres::Error> for StoreError {
    fn from(error: tokio_postgres::Error) -> Self {
        match error.as_db_error() {
            Some(refusal) if is_conflict(refusal) => Self::Conflict,
            Some(refusal) if is_connection_ended(refusal) => Self::ConnectionEnded(refusal.message().to_owned()),
            // Without the details: they may quote a row, and this text goes to the log.
            Some(refusal) => Self::Unavailable(format!("{} ({})", refusal.message(), refusal.code().code())),
            None => Self::Unavailable(with_cause(&error)),
        }
    }
}

impl From<PoolError> for StoreError {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Backend(error) | PoolError::PostCreateHook(HookError::Backend(error)) => error.into(),
            other => Self::Unavailable(other.to_string()),
        }
    }
}

fn is_conflict(refusal: &DbError) -> bool {
    let code = refusal.code();
    *code == SqlState::T_R_SERIALIZATION_FAILURE
        || *code == SqlState::T_R_DEADLOCK_DETECTED
        || (*code == SqlState::UNIQUE_VIOLATION && refusal.constraint() == Some(IDEMPOTENCY))
}

/// Whether the server is shutting down or terminated this connection.
fn is_connection_ended(refusal: &DbError) -> bool {
    [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
    ]
    .contains(refusal.code())
}

/// The driver's message leaves out the cause.
fn with_cause(error: &tokio_postgres::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
