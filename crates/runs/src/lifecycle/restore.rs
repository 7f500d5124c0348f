//! Adopting runs whose node is gone: an earlier process, or another node on the same store.

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

use super::start::COMMAND_QUEUE_CAPACITY;
use crate::engine::checkpoint::Checkpoint;
use crate::engine::plan::{self, RunPlan, Segment};
use crate::engine::task::{RunTask, TaskStart, restarted, restore_ask};
use crate::follow::broadcast::ReplayBuffer;
use crate::registry::AdoptionGuard;
use crate::run::{RunStage, TrackedRun, TrackedRunState};
use crate::service::RunService;

/// Delay after a store failure.
const RETRY_DELAY: Duration = Duration::from_secs(1);
/// Runs adopted in one store operation.
const ADOPT_BATCH: i64 = 50;
/// Runs restored concurrently.
const MAX_CONCURRENT_RESTORES: usize = 8;

/// Adopts runs that no node drives.
#[derive(Default)]
pub struct Adoption {
    /// Runs that the store assigns to this node but no task here drives, each with its last write id.
    suspects: HashSet<(String, String)>,
}

impl Adoption {
    /// Adopts the runs of removed nodes.
    pub async fn adopt(&mut self, service: &Arc<RunService>) -> Result<(), StoreError> {
        // With runs disabled, they are left to other nodes.
        while service.settings.enabled && !service.host.is_stopping() {
            let Adopted { runs, is_all } = service
                .store
                .run(AdoptRuns {
                    node: service.store.node(),
                    limit: ADOPT_BATCH,
                })
                .await?;
            if !runs.is_empty() {
                let run_ids: Vec<_> = runs.iter().map(|run| run.summary.run_id.as_str()).collect();
                tracing::info!(
                    runs = runs.len(),
                    ?run_ids,
                    node = service.store.node(),
                    "adopted orphaned runs"
                );
            }
            restore(service, runs).await?;
            if is_all {
                break;
            }
        }
        Ok(())
    }

    /// Adopts runs that the store assigned to this node by a commit of unknown outcome. A run that is just starting looks the same,
    /// so a run must be found twice. Returns true if suspects have to be checked again.
    pub async fn adopt_forgotten(&mut self, service: &Arc<RunService>) -> bool {
        let found = match service
            .store
            .run(RunsOfNode {
                node: service.store.node(),
            })
            .await
        {
            Ok(found) => found,
            Err(error) => {
                tracing::warn!(node = service.store.node(), %error, "reading the runs of this node failed; retrying");
                return !self.suspects.is_empty();
            }
        };
        let unmoved: HashSet<_> = found
            .into_iter()
            .filter(|(run_id, _)| !service.registry.is_driven(run_id))
            .collect();
        let (forgotten, suspects) = unmoved.into_iter().partition(|run| self.suspects.contains(run));
        self.suspects = suspects;
        for (run_id, _) in forgotten {
            let node = service.store.node();
            tracing::warn!(run_id, node, "run assigned to this node but not running; adopting it");
            let adopted = async {
                let run_id = run_id.clone();
                let stored = service.store.run(ReadRun { run_id }).await?;
                restore(service, stored.into_iter().collect()).await
            };
            if let Err(error) = adopted.await {
                tracing::warn!(run_id, node, %error, "adopting a run of this node failed");
            }
        }
        !self.suspects.is_empty()
    }
}

/// Restores runs now owned by this node. Each resumes from its checkpoint, or ends if its agent was interrupted, because the
/// progress of that agent is unknown.
async fn restore(service: &Arc<RunService>, runs: Vec<StoredRun>) -> Result<(), StoreError> {
    stream::iter(runs.into_iter().map(Ok))
        .try_for_each_concurrent(MAX_CONCURRENT_RESTORES, |stored| async move {
            let Some(adopting) = service.registry.begin_adoption(&stored.summary.run_id) else {
                return Ok(());
            };
            match restore_one(service, &stored).await {
                // The run already belongs to this node, so no other node will retry.
                Err(error) if service.store.is_shared() => {
                    log_failed_restore(&stored, &error);
                    tokio::spawn(retry_restore(Arc::clone(service), stored, adopting));
                    Ok(())
                }
                restored => restored,
            }
        })
        .await
}

/// Retries until the run is restored or owned by another node.
async fn retry_restore(service: Arc<RunService>, stored: StoredRun, _guard: AdoptionGuard) {
    loop {
        tokio::time::sleep(RETRY_DELAY).await;
        let restored = match is_still_here(&service, &stored).await {
            Ok(true) => restore_one(&service, &stored).await,
            Ok(false) => return,
            Err(error) => Err(error),
        };
        match restored {
            Ok(()) => return,
            Err(error) => log_failed_restore(&stored, &error),
        }
    }
}

fn log_failed_restore(stored: &StoredRun, error: &StoreError) {
    let run_id = &stored.summary.run_id;
    tracing::warn!(run_id, node = stored.node, %error, "restoring a run failed; retrying");
}

/// True if the stored run is unchanged since this node adopted it.
async fn is_still_here(service: &RunService, stored: &StoredRun) -> Result<bool, StoreError> {
    let found = service
        .store
        .run(ReadRun {
            run_id: stored.summary.run_id.clone(),
        })
        .await?;
    Ok(found.is_some_and(|found| found == *stored))
}

async fn restore_one(service: &Arc<RunService>, stored: &StoredRun) -> Result<(), StoreError> {
    match readable(stored) {
        Ok((plan, segment, checkpoint)) if stored.phase == RunPhase::Between => {
            match resume(service, stored, plan, segment, checkpoint).await {
                Err(error) if error.is_damage() => end(service, stored, None, unreadable(&error), None).await,
                adopted => adopted,
            }
        }
        Ok((plan, segment, checkpoint)) => {
            let message = "The hub was restarted while an agent was at work".to_owned();
            let request_id = segment.request_id.clone();
            let policy = checkpoint.policy;
            let body = plan.body(&Segment { policy, ..segment })?;
            end(service, stored, request_id.as_deref(), message, Some(body)).await
        }
        Err(error) => end(service, stored, None, unreadable(&error), None).await,
    }
}

fn unreadable(error: &impl std::fmt::Display) -> String {
    format!("The hub was restarted and cannot read where the run stood: {error}")
}

fn readable(stored: &StoredRun) -> Result<(RunPlan, Segment, Checkpoint), serde_json::Error> {
    let (plan, segment) = plan::read(stored)?;
    Ok((plan, segment, serde_json::from_str(&stored.machine)?))
}

async fn resume(
    service: &Arc<RunService>,
    stored: &StoredRun,
    plan: RunPlan,
    segment: Segment,
    checkpoint: Checkpoint,
) -> Result<(), StoreError> {
    let summary = &stored.summary;
    let mut restored_asks = Vec::new();
    let mut pending = Vec::new();
    for ask in service
        .store
        .run(PendingAsks {
            run_id: summary.run_id.clone(),
        })
        .await?
    {
        if let Some((waiting, still_pending)) = restore_ask(service, ask).await? {
            restored_asks.push(waiting);
            pending.extend(still_pending);
        }
    }
    let (command_sender, command_receiver) = mpsc::channel(COMMAND_QUEUE_CAPACITY);
    let plan = Arc::new(plan);
    let last_seq = summary.last_seq;
    let existing_replica = existing_replica(service, &summary.run_id).await?;
    let state = TrackedRunState {
        plan: Arc::clone(&plan),
        stage: RunStage::Running(command_sender),
        is_continuation: segment.number > 1,
        segment: segment.number,
        inputs: segment.inputs.clone(),
        started_at: summary.started_at,
        last_seq,
        records: 0,
        replay: ReplayBuffer::above(last_seq, &service.registry.byte_budget),
        pending,
        followers: Vec::new(),
    };
    let run = match existing_replica {
        Some(run) => run.take_over(state),
        None => TrackedRun::new(summary.run_id.clone(), state),
    };
    service.registry.make_live(Arc::clone(&run));
    let node = stored.node.clone();
    let start = TaskStart {
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
    RunTask::new(Arc::clone(service), start).spawn();
    Ok(())
}

/// The replica of this run, if it is followed here, brought up to date.
async fn existing_replica(service: &Arc<RunService>, run_id: &str) -> Result<Option<Arc<TrackedRun>>, StoreError> {
    let Some(run) = service.current_run(run_id).await?.filter(|run| run.is_remote()) else {
        return Ok(None);
    };
    service.refresh(&run).await?;
    Ok(Some(run))
}

/// Ends the run; it can be continued like any other ended run.
async fn end(
    service: &Arc<RunService>,
    stored: &StoredRun,
    request_id: Option<&str>,
    message: String,
    body: Option<String>,
) -> Result<(), StoreError> {
    let summary = &stored.summary;
    let at = service.store.clock().now();
    // Asks of a new owner must not be cancelled.
    if !is_still_here(service, stored).await? {
        return Ok(());
    }
    for ask in service
        .store
        .run(PendingAsks {
            run_id: summary.run_id.clone(),
        })
        .await?
    {
        if matches!(ask.state, State::Open) {
            match Arc::clone(&service.host).decide(&ask.message_id, Command::Cancel).await {
                // A damaged ask cannot be cancelled, and must not keep its run from ending.
                Err(error) if error.is_damage() => {}
                cancelled => drop(cancelled?),
            }
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
    service
        .store
        .run(EndRun {
            advance,
            ending: RunEnding::Error,
            at,
        })
        .await?;
    service.registry.wake_replica(&summary.run_id);
    service.host.run_advanced(&summary.run_id);
    tracing::info!(
        run_id = summary.run_id,
        node = stored.node,
        "run ended: a restart interrupted its agent; it can be continued"
    );
    Ok(())
}
