//! start_run and continue_run.

use std::sync::Arc;
use std::time::Duration;

use countersign_protocol::time::Timestamp;
use countersign_store::StoreError;
use countersign_store::ops::run::{BeginOutcome, BeginRun, NewRun, RunEnding, StoredEvent};
use tokio::sync::mpsc;
use uuid::Uuid;

use crate::engine::checkpoint::Checkpoint;
use crate::engine::commands::RunCommand;
use crate::engine::plan::{RunPlan, Segment};
use crate::engine::task::{RunTask, TaskStart};
use crate::follow::broadcast::EventFrame;
use crate::follow::broadcast::RunUpdate;
use crate::follow::client::RunClient;
use crate::follow::subscription::{SubscribeOutcome, Subscription};
use crate::refusal::RunRefusal;
use crate::run::{Prepared, RunStage, TrackedRun};
use crate::service::RunService;

/// Commands queued while a run is busy; further senders wait.
pub const COMMAND_QUEUE_CAPACITY: usize = 16;
/// Delay after a commit of unknown outcome.
const RETRY_DELAY: Duration = Duration::from_millis(200);
const MAX_TRIES: usize = 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartMode {
    Start,
    Continue,
}

/// A prepared run claimed by one start request.
struct ClaimedStart {
    prepared: Prepared,
    plan: Arc<RunPlan>,
    segment: Segment,
    last_seq: u64,
    command_receiver: mpsc::Receiver<RunCommand>,
}

impl RunService {
    pub async fn start_run(
        self: &Arc<Self>,
        how: StartMode,
        (run_id, input): (&str, String),
        request_id: Option<&str>,
        client: &Arc<RunClient>,
    ) -> Result<(), RunRefusal> {
        let Some(run) = self.registry.get(run_id) else {
            return Err(RunRefusal::NotPrepared);
        };
        if self.registry.is_closing() {
            return Err(RunRefusal::HubStopping);
        }
        check(&run, how)?;
        if run.subscribe(client, &Subscription::default()) == SubscribeOutcome::TooManyFollowedRuns {
            return Err(RunRefusal::TooManyFollowedRuns);
        }
        let claimed = claim(&run, input, request_id)?;
        // Spawned, so that a disconnecting client does not leave a half-done start.
        let begun = tokio::spawn(begin(Arc::clone(self), Arc::clone(&run), claimed));
        match begun.await.map_err(|error| RunRefusal::Failed(error.to_string()))?? {
            BeginOutcome::New => Ok(()),
            BeginOutcome::Exists => Err(RunRefusal::AlreadyStarted),
            BeginOutcome::Missing => Err(RunRefusal::NotPrepared),
        }
    }
}

fn check(run: &TrackedRun, how: StartMode) -> Result<(), RunRefusal> {
    let state = run.lock();
    let is_prepared = matches!(state.stage, RunStage::Prepared(_));
    if matches!(state.stage, RunStage::Over { .. }) && !state.is_stored() {
        // The run was stopped before it started, so there is nothing to start or continue.
        return Err(RunRefusal::NotPrepared);
    }
    match (how, is_prepared, state.is_continuation) {
        (StartMode::Start, true, false) | (StartMode::Continue, true, true) => Ok(()),
        (StartMode::Start, false, _) | (StartMode::Continue, false, true) => Err(RunRefusal::AlreadyStarted),
        (StartMode::Start, true, true) => Err(RunRefusal::PreparedForContinuation),
        (StartMode::Continue, _, false) => Err(RunRefusal::NotPreparedForContinuation),
    }
}

/// Of two concurrent starts, one gets the prepared run.
fn claim(run: &TrackedRun, input: String, request_id: Option<&str>) -> Result<ClaimedStart, RunRefusal> {
    let (command_sender, command_receiver) = mpsc::channel(COMMAND_QUEUE_CAPACITY);
    let mut state = run.lock();
    let stage = std::mem::replace(&mut state.stage, RunStage::Starting(command_sender));
    let RunStage::Prepared(prepared) = stage else {
        state.stage = stage;
        return Err(RunRefusal::AlreadyStarted);
    };
    let segment = Segment {
        number: state.segment + 1,
        input,
        request_id: request_id.map(str::to_owned),
        first_record_id: Uuid::new_v4().to_string(),
        inputs: state.inputs.clone(),
        policy: prepared.policy.clone(),
    };
    let segment = segment.add_input();
    Ok(ClaimedStart {
        prepared,
        plan: Arc::clone(&state.plan),
        segment,
        last_seq: state.last_seq,
        command_receiver,
    })
}

/// Stores the start, then broadcasts it.
async fn begin(
    service: Arc<RunService>,
    run: Arc<TrackedRun>,
    claimed: ClaimedStart,
) -> Result<BeginOutcome, RunRefusal> {
    let now = service.store.clock().now();
    let checkpoint = claimed.checkpoint();
    let node = service.store.node();
    let (op, started) = match claimed.first_entry(&run.id, &node, &checkpoint, now) {
        Ok(entry) => entry,
        Err(error) => {
            return Err(back_to_prepared(
                &run,
                claimed.prepared,
                RunRefusal::Failed(error.to_string()),
            ));
        }
    };
    match store_begin(&service, op).await {
        Ok(BeginOutcome::New) => {
            let ClaimedStart {
                plan,
                segment,
                command_receiver,
                ..
            } = claimed;
            let last_seq = started.seq;
            let has_past = segment.number > 1;
            service.registry.make_live(Arc::clone(&run));
            become_running(&run, &segment, started, now);
            service.host.run_advanced(&run.id);
            let start = TaskStart {
                run,
                node,
                plan,
                segment,
                checkpoint,
                last_seq,
                command_receiver,
                restored_asks: Vec::new(),
                has_past,
            };
            RunTask::new(service, start).spawn();
            Ok(BeginOutcome::New)
        }
        // Another node started it first; it becomes a replica here.
        Ok(BeginOutcome::Exists) if service.store.is_shared() => {
            service.become_replica(&run);
            Ok(BeginOutcome::Exists)
        }
        Ok(refused @ (BeginOutcome::Exists | BeginOutcome::Missing)) => {
            service
                .registry
                .end(&run, |run| run.end(RunEnding::Cancelled, now, RunUpdate::default()));
            Ok(refused)
        }
        Err(error) => {
            // The client may have disconnected, and then it is told nothing.
            tracing::error!(run_id = run.id, %error, "storing the start of a run failed");
            Err(back_to_prepared(&run, claimed.prepared, error.into()))
        }
    }
}

/// Retries a commit of unknown outcome. The operation is idempotent.
async fn store_begin(service: &RunService, op: BeginRun) -> Result<BeginOutcome, StoreError> {
    let mut is_sure = true;
    for _ in 0..MAX_TRIES {
        match service.store.run(op.clone()).await {
            Err(StoreError::CommitUnknown(_)) => is_sure = false,
            // After an unknown outcome, only an answer of the store can settle it.
            Err(StoreError::Unavailable(_) | StoreError::ConnectionEnded(_)) if !is_sure => {}
            begun => return begun,
        }
        tokio::time::sleep(RETRY_DELAY).await;
    }
    service.store.run(op).await
}

impl ClaimedStart {
    fn checkpoint(&self) -> Checkpoint {
        Checkpoint::start(
            &self.segment.input,
            self.prepared.steering.clone(),
            self.prepared.policy.clone(),
        )
    }

    /// The operation to store, and the frame to broadcast after it.
    fn first_entry(
        &self,
        run_id: &str,
        node: &str,
        checkpoint: &Checkpoint,
        now: Timestamp,
    ) -> Result<(BeginRun, EventFrame), serde_json::Error> {
        let plan = &self.plan;
        let segment = &self.segment;
        let seq = self.last_seq + 1;
        let event = plan.started();
        let text = event.frame(run_id, seq, now, segment.request_id.as_deref());
        let run = NewRun {
            run_id: run_id.to_owned(),
            node: node.to_owned(),
            write_id: Uuid::new_v4().to_string(),
            segment: segment.number,
            strategy_path: plan.strategy_path.clone(),
            strategy_name: plan.strategy.name.clone(),
            cwd: plan.cwd.clone(),
            started_at: now,
            last_seq: seq,
            machine: serde_json::to_string(checkpoint)?,
            body: plan.body(segment)?,
        };
        let events = self
            .prepared
            .early_events
            .iter()
            .cloned()
            .chain(StoredEvent::of(&event, seq, &text))
            .collect();
        Ok((BeginRun { run, events }, EventFrame::of(&event, seq, text)))
    }
}

fn back_to_prepared(run: &TrackedRun, prepared: Prepared, refusal: RunRefusal) -> RunRefusal {
    run.lock().stage = RunStage::Prepared(prepared);
    refusal
}

fn become_running(run: &TrackedRun, segment: &Segment, started: EventFrame, now: Timestamp) {
    let mut state = run.lock();
    let RunStage::Starting(command_sender) = &state.stage else {
        return;
    };
    state.stage = RunStage::Running(command_sender.clone());
    state.segment = segment.number;
    state.inputs.clone_from(&segment.inputs);
    state.started_at = now;
    state.broadcast(RunUpdate {
        frames: vec![started],
        ..RunUpdate::default()
    });
}
