//! Why a request about a run was refused. The door has the codes and the texts.

use countersign_core::runs::policy::TooManyRules;
use countersign_store::StoreError;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunRefusal {
    HubStopping,
    /// Only an owner may prepare, because strategies are files on the node's machine.
    NotAnOwner,
    NotFound,
    AlreadyExists,
    /// The limit of prepared and running runs is reached.
    TooManyLiveRuns {
        limit: usize,
    },
    /// The limit of followed runs of other nodes is reached.
    TooManyReplicas {
        limit: usize,
    },
    /// The connection follows too many runs.
    TooManyFollowedRuns,
    /// The strategy cannot be used, with the reason.
    Strategy(String),
    NotPrepared,
    AlreadyStarted,
    PreparedForContinuation,
    NotPreparedForContinuation,
    /// No ask matches the answer, or another answer was first.
    NoOpenAsk,
    /// Another answer is on hold, with the text that names its author.
    Held(String),
    /// This person could not resolve when the run asked.
    NotAResolver(String),
    NotRunning,
    SteeringFull,
    TooManyRules(TooManyRules),
    /// The policy of a prepared run was changed too often.
    TooManyPolicyChanges,
    /// The node that owns the run refused, with the text of its door.
    ByOwningNode(RefusalText),
    /// Nothing was done, with the cause.
    Failed(String),
    /// It may have been done or not, with the cause.
    OutcomeUnknown(String),
}

/// A refusal as a client reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusalText {
    pub code: String,
    pub message: String,
}

impl From<StoreError> for RunRefusal {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::CommitUnknown(_) => Self::OutcomeUnknown(error.to_string()),
            StoreError::Unavailable(_)
            | StoreError::ConnectionEnded(_)
            | StoreError::Conflict
            | StoreError::Corrupt(_)
            | StoreError::Unreadable(_)
            | StoreError::AuditBroken { .. }
            | StoreError::NewerSchema { .. }
            | StoreError::UnfinishedCopy { .. }
            | StoreError::DataLoss(_) => Self::Failed(error.to_string()),
        }
    }
}
