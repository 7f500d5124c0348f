//! Adopting runs whose hub is gone: an earlier process, or another node on the same store.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use countersign_core::{Command, State};
use countersign_store::StoreError;
use countersign_store::ops::run::{
    AdoptRuns, Adopted, Advance, EndRun, PendingAsks, ReadRun, Run as StoredRun, RunEnding, RunPhase, RunsOfNode,
    StoredEvent,
};
use futures_util::stream::{self, TryStreamExt};
use tokio::sync::mpsc;
use uuid::Uuid;

use super::plan::{self, RunPlan, Segment};
use super::registry::AdoptionGuard;
use super::ring::ReplayBuffer;
use super::run::{RunStage, TrackedRun, TrackedRunState};
use super::standing::Checkpoint;
use super::start::COMMAND_QUEUE_CAPACITY;
use super::task::{RunTask, TaskStart, restarted, restore_ask};
use crate::app::Hub;
use crate::peers::Signal;

/// Delay after a store failure.
const RETRY_DELAY: Duration = Duration::from_secs(1);
/// Runs adopted in one store operation.
const ADOPT_BATCH: i64 = 50;
/// Runs restored concurrently.
const MAX_CONCURRENT_RESTORES: usize = 8;

/// Adopts runs that no hub drives.
#[derive(Default)]
pub struct Adoption {
    /// Runs that the store assigns to this hub but no task here drives, each with its last write id.
    suspects: HashSet<(String, String)>,
}

impl Adoption {
    /// Adopts the runs of removed nodes.
    pub async fn adopt(&mut self, hub: &Arc<Hub>) -> Result<(), StoreError> {
        // With runs disabled, they are left to other hubs.
        while hub.config.runs.enabled && !*hub.stopping.borrow() {
            let Adopted { runs, is_all } = hub
                .store
                .run(AdoptRuns {
                    node: hub.store.node(),
                    limit: ADOPT_BATCH,
                })
                .await?;
            if !runs.is_empty() {
                tracing::info!(runs = runs.len(), "adopted orphaned runs");
            }
            restore(hub, runs).await?;
            if is_all {
                break;
            }
        }
        Ok(())
    }

    /// Adopts runs that the store assigned to this hub by a commit of unknown outcome. A run that is just starting
    /// looks the same, so a run must be found twice. Returns true if suspects have to be checked again.
    pub async fn adopt_forgotten(&mut self, hub: &Arc<Hub>) -> bool {
        let found = match hub.store.run(RunsOfNode { node: hub.store.node() }).await {
            Ok(found) => found,
            Err(error) => {
                tracing::warn!(%error, "reading the runs of this hub failed; retrying");
                return !self.suspects.is_empty();
            }
        };
        let unmoved: HashSet<_> = found
            .into_iter()
            .filter(|(run_id, _)| !hub.runs.is_driven(run_id))
            .collect();
        let (forgotten, suspects) = unmoved.into_iter().partition(|run| self.suspects.contains(run));
        self.suspects = suspects;
        for (run_id, _) in forgotten {
            tracing::warn!(run_id, "run assigned to this hub but not running; adopting it");
            let adopted = async {
                let stored = hub.store.run(ReadRun { run_id }).await?;
                restore(hub, stored.into_iter().collect()).await
            };
            if let Err(error) = adopted.await {
                tracing::warn!(%error, "adopting a run of this hub failed");
            }
        }
        !self.suspects.is_empty()
    }
}

/// Restores runs now owned by this hub. Each resumes from its checkpoint, or ends if its agent was interrupted, because
/// the progress of that agent is unknown.
async fn restore(hub: &Arc<Hub>, runs: Vec<StoredRun>) -> Result<(), StoreError> {
    stream::iter(runs.into_iter().map(Ok))
        .try_for_each_concurrent(MAX_CONCURRENT_RESTORES, |stored| async move {
            let Some(adopting) = hub.runs.begin_adoption(&stored.summary.run_id) else {
                return Ok(());
            };
            match restore_one(hub, &stored).await {
                // The run already belongs to this hub, so no other hub will retry.
                Err(error) if hub.store.is_shared() => {
                    tracing::warn!(run_id = stored.summary.run_id, %error, "restoring a run failed; retrying");
                    tokio::spawn(retry_restore(Arc::clone(hub), stored, adopting));
                    Ok(())
                }
                restored => restored,
            }
        })
        .await
}

/// Retries until the run is restored or owned by another hub.
async fn retry_restore(hub: Arc<Hub>, stored: StoredRun, _guard: AdoptionGuard) {
    loop {
        tokio::time::sleep(RETRY_DELAY).await;
        let restored = match is_still_here(&hub, &stored).await {
            Ok(true) => restore_one(&hub, &stored).await,
            Ok(false) => return,
            Err(error) => Err(error),
        };
        match restored {
            Ok(()) => return,
            Err(error) => tracing::warn!(run_id = stored.summary.run_id, %error, "restoring a run failed; retrying"),
        }
    }
}

/// True if the stored run is unchanged since this hub adopted it.
async fn is_still_here(hub: &Hub, stored: &StoredRun) -> Result<bool, StoreError> {
    let found = hub
        .store
        .run(ReadRun {
            run_id: stored.summary.run_id.clone(),
        })
        .await?;
    Ok(found.is_some_and(|found| found == *stored))
}

async fn restore_one(hub: &Arc<Hub>, stored: &StoredRun) -> Result<(), StoreError> {
    match readable(stored) {
        Ok((plan, segment, checkpoint)) if stored.phase == RunPhase::Between => {
            match resume(hub, stored, plan, segment, checkpoint).await {
                Err(StoreError::Corrupt(error)) => end(hub, stored, None, unreadable(&error), None).await,
                adopted => adopted,
            }
        }
        Ok((plan, segment, checkpoint)) => {
            let message = "The hub was restarted while an agent was at work".to_owned();
            let request_id = segment.request_id.clone();
            let policy = checkpoint.policy;
            let body = plan.body(&Segment { policy, ..segment })?;
            end(hub, stored, request_id.as_deref(), message, Some(body)).await
        }
        Err(error) => end(hub, stored, None, unreadable(&error), None).await,
    }
}

fn unreadable(error: &impl std::fmt::Display) -> String {
    format!("The hub was restarted and cannot read where the run stood: {error}")
}

fn readable(stored: &StoredRun) -> Result<(RunPlan, Segment, Checkpoint), serde_json::Error> {
    let (plan, segment) = plan::read(stored)?;
    Ok((plan, segment, Checkpoint::read(&stored.machine)?))
}

async fn resume(
    hub: &Arc<Hub>,
    stored: &StoredRun,
    plan: RunPlan,
    segment: Segment,
    checkpoint: Checkpoint,
) -> Result<(), StoreError> {
    let summary = &stored.summary;
    let mut restored_asks = Vec::new();
    let mut pending = Vec::new();
    for ask in hub
        .store
        .run(PendingAsks {
            run_id: summary.run_id.clone(),
        })
        .await?
    {
        if let Some((waiting, still_pending)) = restore_ask(hub, ask).await? {
            restored_asks.push(waiting);
            pending.extend(still_pending);
        }
    }
    let (command_sender, command_receiver) = mpsc::channel(COMMAND_QUEUE_CAPACITY);
    let plan = Arc::new(plan);
    let last_seq = summary.last_seq;
    let existing_replica = existing_replica(hub, &summary.run_id).await?;
    let state = TrackedRunState {
        plan: Arc::clone(&plan),
        stage: RunStage::Running(command_sender),
        is_continuation: segment.number > 1,
        segment: segment.number,
        inputs: segment.inputs.clone(),
        started_at: summary.started_at,
        last_seq,
        records: 0,
        replay: ReplayBuffer::above(last_seq, &hub.runs.byte_budget),
        pending,
        followers: Vec::new(),
    };
    let run = match existing_replica {
        Some(run) => run.take_over(state),
        None => TrackedRun::new(summary.run_id.clone(), state),
    };
    hub.runs.make_live(Arc::clone(&run));
    let node = stored.node.clone();
    let beginning = TaskStart {
        run,
        node,
        plan,
        segment,
        checkpoint,
        last_seq,
        command_receiver,
        restored_asks,
        has_past: true,
    };
    RunTask::new(Arc::clone(hub), beginning).spawn();
    Ok(())
}

/// The replica of this run, if it is followed here, brought up to date.
async fn existing_replica(hub: &Arc<Hub>, run_id: &str) -> Result<Option<Arc<TrackedRun>>, StoreError> {
    let Some(run) = hub.current_run(run_id).await?.filter(|run| run.is_remote()) else {
        return Ok(None);
    };
    hub.refresh(&run).await?;
    Ok(Some(run))
}

/// Ends the run; it can be continued like any other ended run.
async fn end(
    hub: &Arc<Hub>,
    stored: &StoredRun,
    request_id: Option<&str>,
    message: String,
    body: Option<String>,
) -> Result<(), StoreError> {
    let summary = &stored.summary;
    let at = hub.store.clock().now();
    // Asks of a new owner must not be cancelled.
    if !is_still_here(hub, stored).await? {
        return Ok(());
    }
    for ask in hub
        .store
        .run(PendingAsks {
            run_id: summary.run_id.clone(),
        })
        .await?
    {
        if matches!(ask.state, State::Open) {
            hub.apply_command(&ask.message_id, Command::Cancel).await?;
        }
    }
    let event = restarted(message);
    let seq = summary.last_seq + 1;
    let frame = event.frame(&summary.run_id, seq, at, request_id);
    let advance = Advance {
        run_id: summary.run_id.clone(),
        segment: summary.segment,
        node: stored.node.clone(),
        write_id: Uuid::new_v4().to_string(),
        events: StoredEvent::of(&event, seq, &frame).into_iter().collect(),
        records: Vec::new(),
        asks_done: Vec::new(),
        machine: String::new(),
        phase: RunPhase::Between,
        last_seq: seq,
        body,
    };
    hub.store
        .run(EndRun {
            advance,
            ending: RunEnding::Error,
            at,
        })
        .await?;
    hub.runs.wake_replica(&summary.run_id);
    hub.cluster.publish(|| Signal::Advanced(summary.run_id.clone()));
    tracing::info!(
        run_id = summary.run_id,
        "run ended: a restart interrupted its agent; it can be continued"
    );
    Ok(())
}
