//! A read-only view of a run, for pages and lists.

use std::sync::Arc;

use countersign_protocol::id::MessageId;
use countersign_protocol::runs::RunStatus;
use countersign_protocol::time::Timestamp;

use super::pending::{PendingAsk, PendingKind};
use crate::engine::plan::RunPlan;
use crate::run::{RunStage, TrackedRun};

const MAX_PENDING_VIEWS: usize = 50;

pub struct RunView {
    pub plan: Arc<RunPlan>,
    pub status: RunStatus,
    pub segment: u64,
    pub started_at: Timestamp,
    pub completed_at: Option<Timestamp>,
    /// Seq of the last event.
    pub last_seq: u64,
    /// Oldest first.
    pub waiting: Vec<PendingAskView>,
}

/// One ask that the run waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingAskView {
    pub kind: PendingKind,
    pub agent_name: String,
    pub message_id: MessageId,
    /// Shortened if it is long.
    pub prompt: Option<String>,
    pub since: Timestamp,
}

impl TrackedRun {
    pub fn view(&self) -> RunView {
        let state = self.lock();
        let completed_at = match &state.stage {
            RunStage::Over { at, .. } => Some(*at),
            RunStage::Prepared(_)
            | RunStage::Starting(_)
            | RunStage::Running(_)
            | RunStage::Remote
            | RunStage::Forgotten => None,
        };
        RunView {
            plan: Arc::clone(&state.plan),
            status: state.status(),
            segment: state.segment,
            started_at: state.started_at,
            completed_at,
            last_seq: state.last_seq,
            waiting: pending_views(&state.pending),
        }
    }
}

/// The first asks, as many as are shown.
pub fn pending_views(pending: &[PendingAsk]) -> Vec<PendingAskView> {
    pending.iter().take(MAX_PENDING_VIEWS).map(pending_view).collect()
}

fn pending_view(pending: &PendingAsk) -> PendingAskView {
    PendingAskView {
        kind: pending.kind,
        agent_name: pending.agent_name.clone(),
        message_id: pending.message_id.clone(),
        prompt: pending.short_prompt(),
        since: pending.ts,
    }
}
