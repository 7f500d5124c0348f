//! Maps driver errors to store errors.

use std::error::Error;
use std::io;

use deadpool_postgres::{HookError, PoolError, TimeoutType};
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
            PoolError::Timeout(TimeoutType::Wait) => {
                Self::Unavailable("all connections of this hub stayed in use".to_owned())
            }
            PoolError::Timeout(TimeoutType::Create | TimeoutType::Recycle) => {
                Self::Unavailable("the database did not respond in time".to_owned())
            }
            other => Self::Unavailable(other.to_string()),
        }
    }
}

/// Whether a failed connection may work later without a change of the settings.
pub fn is_transient(error: &PoolError) -> bool {
    match error {
        PoolError::Backend(error) | PoolError::PostCreateHook(HookError::Backend(error)) => match error.as_db_error() {
            Some(refusal) => is_connection_ended(refusal) || is_not_accepting(refusal),
            None => error.is_closed() || is_network_failure(error),
        },
        PoolError::Timeout(_) | PoolError::PostCreateHook(_) => true,
        PoolError::Closed | PoolError::NoRuntimeSpecified => false,
    }
}

/// Whether the server is starting, recovering or out of connections.
fn is_not_accepting(refusal: &DbError) -> bool {
    [SqlState::CANNOT_CONNECT_NOW, SqlState::TOO_MANY_CONNECTIONS].contains(refusal.code())
}

/// Refused, timed out, no address, no socket. A rejected certificate is invalid data.
fn is_network_failure(error: &tokio_postgres::Error) -> bool {
    let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
    cause.is_some_and(|cause| {
        !matches!(
            cause.kind(),
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput | io::ErrorKind::PermissionDenied
        )
    })
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
