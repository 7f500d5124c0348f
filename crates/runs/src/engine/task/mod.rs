//! The task of one run. It alone drives the run; everything else sends it commands.

mod asking;
mod commit;
mod drive;
mod end;
mod job;
mod model_history;
mod pending_answer;

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex};

use countersign_core::runs::{Output, Policy};
use countersign_protocol::id::MessageId;
use countersign_protocol::runs::ContextUsage;
use countersign_protocol::time::Timestamp;
use countersign_store::ops::run::RunPhase;
use futures_util::FutureExt;
use tokio::sync::{mpsc, oneshot};

use self::commit::EventBuffer;
use self::model_history::ModelHistory;
use self::pending_answer::PendingAnswer;
use super::checkpoint::Checkpoint;
use super::commands::{CommandQueue, RunCommand};
use super::plan::{RunPlan, Segment};
use crate::run::TrackedRun;
use crate::service::RunService;

pub use end::{cancelled, restarted};
pub use pending_answer::restore_ask;

pub struct RunTask {
    pub(crate) service: Arc<RunService>,
    pub(crate) run: Arc<TrackedRun>,
    pub(crate) plan: Arc<RunPlan>,
    pub(crate) segment: Segment,
    pub(crate) checkpoint: Checkpoint,
    pub(crate) event_buffer: EventBuffer,
    /// The phase as stored.
    pub(crate) phase: RunPhase,
    pub(crate) commands: CommandQueue,
    /// Asks not yet answered.
    pub(crate) open: Vec<MessageId>,
    /// Asks of an earlier process.
    pub(crate) restored_asks: Vec<PendingAnswer>,
    pub(crate) model_history: ModelHistory,
    /// Finish reason of the last agent.
    pub(crate) finish_reason: String,
    /// Context usage of the last agent.
    pub(crate) context_usage: Option<ContextUsage>,
    /// The policy as a working agent sees it.
    pub(crate) shared_policy: Arc<Mutex<Policy>>,
    /// Stop requests to answer once the run has ended.
    pub(crate) stopped: Vec<oneshot::Sender<()>>,
    /// The end is being stored; further stop commands change nothing.
    pub(crate) is_ending: bool,
}

/// The input of a task that starts a segment or resumes one.
pub struct TaskStart {
    pub run: Arc<TrackedRun>,
    /// The node id that owns the run. If this process has a new node id by now, it no longer owns the run.
    pub node: String,
    pub plan: Arc<RunPlan>,
    pub segment: Segment,
    pub checkpoint: Checkpoint,
    pub last_seq: u64,
    pub command_receiver: mpsc::Receiver<RunCommand>,
    pub restored_asks: Vec<PendingAnswer>,
    /// The store has earlier records of this run.
    pub has_past: bool,
}

/// The side that cancelled a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    ByClient,
    ByTheHub,
}

/// Why the task of a run ends.
pub(crate) enum Halt {
    Completed(Output),
    Failed(String),
    Cancelled(Stopped),
    /// The hub stops; the run resumes after the next start.
    Suspended,
    /// The segment has ended in the store, or another node owns it.
    OwnershipLost,
}

impl RunTask {
    pub fn new(service: Arc<RunService>, start: TaskStart) -> Self {
        let TaskStart {
            run,
            node,
            plan,
            segment,
            checkpoint,
            last_seq,
            command_receiver,
            restored_asks,
            has_past,
        } = start;
        Self {
            event_buffer: EventBuffer::new(&run.id, &node, segment.number, segment.request_id.clone(), last_seq),
            open: restored_asks.iter().map(|waiting| waiting.id.clone()).collect(),
            shared_policy: Arc::new(Mutex::new(checkpoint.policy.clone())),
            model_history: if has_past {
                ModelHistory::unread()
            } else {
                ModelHistory::empty()
            },
            finish_reason: String::new(),
            context_usage: None,
            phase: RunPhase::Between,
            stopped: Vec::new(),
            is_ending: false,
            service,
            run,
            plan,
            segment,
            checkpoint,
            commands: command_receiver.into(),
            restored_asks,
        }
    }

    pub fn spawn(mut self) {
        tokio::spawn(async move {
            self.service.host.run_changed(&self.run.id);
            // After a panic the run itself can still be ended.
            let Err(halt) = AssertUnwindSafe(self.drive())
                .catch_unwind()
                .await
                .unwrap_or_else(|_panic| {
                    tracing::error!(run_id = self.run.id, "run task panicked");
                    Err(Halt::Failed("The hub failed. The hub's log has the cause.".to_owned()))
                });
            // Boxed, so that waiting runs do not hold the memory of this large future.
            Box::pin(self.end(halt)).await;
        });
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.service.store.clock().now()
    }
}
