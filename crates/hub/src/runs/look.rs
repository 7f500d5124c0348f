//! A run as people see it who look at it on a page or in a list.

use std::sync::Arc;

use countersign_protocol::id::MessageId;
use countersign_protocol::runs::RunStatus;
use countersign_protocol::time::Timestamp;

use super::pending::{Asked, Pending};
use super::plan::Plan;
use super::run::{Run, Stage};

const MOST_WAITS: usize = 50;

pub struct Look {
    pub plan: Arc<Plan>,
    pub status: RunStatus,
    pub segment: u64,
    pub started_at: Timestamp,
    pub completed_at: Option<Timestamp>,
    /// The number of what was told last.
    pub last_seq: u64,
    /// Oldest first.
    pub waiting: Vec<Wait>,
}

/// What a run waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wait {
    pub kind: Asked,
    pub agent_name: String,
    pub message_id: MessageId,
    /// Its start, where it is long.
    pub prompt: Option<String>,
    pub since: Timestamp,
}

impl Run {
    pub fn look(&self) -> Look {
        let state = self.lock();
        let completed_at = match &state.stage {
            Stage::Over { at, .. } => Some(*at),
            Stage::Prepared(_) | Stage::Starting(_) | Stage::Running(_) | Stage::Elsewhere | Stage::Forgotten => None,
        };
        Look {
            plan: Arc::clone(&state.plan),
            status: state.status(),
            segment: state.segment,
            started_at: state.started_at,
            completed_at,
            last_seq: state.last_seq,
            waiting: waits(&state.pending),
        }
    }
}

/// Of what a run waits for, as much as is shown.
pub fn waits(pending: &[Pending]) -> Vec<Wait> {
    pending.iter().take(MOST_WAITS).map(wait).collect()
}

fn wait(pending: &Pending) -> Wait {
    Wait {
        kind: pending.kind,
        agent_name: pending.agent_name.clone(),
        message_id: pending.message_id.clone(),
        prompt: pending.short_prompt(),
        since: pending.ts,
    }
}
