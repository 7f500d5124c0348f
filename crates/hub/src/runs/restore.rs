//! What runs do next whose hub went away: an earlier process, or another one on the same store.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use countersign_core::{Command, State};
use countersign_store::StoreError;
use countersign_store::ops::run::{
    AdoptRuns, Adopted, Advance, EndRun, Ending, LookAtRun, Phase, Run as StoredRun, RunsOfNode, StoredEvent, TakeAsks,
};
use futures_util::stream::{self, TryStreamExt};
use tokio::sync::mpsc;
use uuid::Uuid;

use super::plan::{self, Plan, Segment};
use super::registry::TakingUp;
use super::ring::Ring;
use super::run::{Run, RunState, Stage};
use super::standing::Standing;
use super::start::MAILBOX;
use super::task::{Beginning, Task, restarted, take_up};
use crate::app::Hub;
use crate::peers::Signal;

/// After the store failed.
const BEFORE_ANOTHER_TRY: Duration = Duration::from_secs(1);
/// Of the store, in one go.
const MOST: i64 = 50;
/// Side by side.
const AT_ONCE: usize = 8;

/// Takes up runs that nobody moves.
#[derive(Default)]
pub struct Adoption {
    /// This hub's by the store, with their last write, and yet nobody moves them here.
    suspects: HashSet<(String, String)>,
}

impl Adoption {
    /// Those whose hub is gone.
    pub async fn adopt(&mut self, hub: &Arc<Hub>) -> Result<(), StoreError> {
        // Runs that this hub may not move are left to others.
        while hub.config.runs.enabled && !*hub.stopping.borrow() {
            let Adopted { runs, is_all } = hub
                .store
                .run(AdoptRuns {
                    node: hub.store.node(),
                    limit: MOST,
                })
                .await?;
            if !runs.is_empty() {
                tracing::info!(runs = runs.len(), "took up runs that nobody moved");
            }
            restore(hub, runs).await?;
            if is_all {
                break;
            }
        }
        Ok(())
    }

    /// Those that became this hub's without its knowing: it was not told whether the store had done what it was asked to.
    /// One that is just beginning looks the same, so they are looked at twice. Says whether any is to be looked at again.
    pub async fn take_up_forgotten(&mut self, hub: &Arc<Hub>) -> bool {
        let found = match hub.store.run(RunsOfNode { node: hub.store.node() }).await {
            Ok(found) => found,
            Err(error) => {
                tracing::warn!(%error, "the runs of this hub could not be read");
                return !self.suspects.is_empty();
            }
        };
        let unmoved: HashSet<_> = found
            .into_iter()
            .filter(|(run_id, _)| !hub.runs.is_moved(run_id))
            .collect();
        let (forgotten, suspects) = unmoved.into_iter().partition(|run| self.suspects.contains(run));
        self.suspects = suspects;
        for (run_id, _) in forgotten {
            tracing::warn!(run_id, "a run of this hub was forgotten; it is taken up");
            let taken_up = async {
                let stored = hub.store.run(LookAtRun { run_id }).await?;
                restore(hub, stored.into_iter().collect()).await
            };
            if let Err(error) = taken_up.await {
                tracing::warn!(%error, "a run of this hub could not be taken up");
            }
        }
        !self.suspects.is_empty()
    }
}

/// Runs that are this hub's from now on. Each goes on from where it stood, or ends because nobody can say how far its agent
/// got.
async fn restore(hub: &Arc<Hub>, runs: Vec<StoredRun>) -> Result<(), StoreError> {
    stream::iter(runs.into_iter().map(Ok))
        .try_for_each_concurrent(AT_ONCE, |stored| async move {
            let Some(taking_up) = hub.runs.take_up(&stored.summary.run_id) else {
                return Ok(());
            };
            match restore_one(hub, &stored).await {
                // Nobody else will: it is this hub's already.
                Err(error) if hub.store.is_shared() => {
                    tracing::warn!(run_id = stored.summary.run_id, %error, "a run could not be taken up yet");
                    tokio::spawn(restore_later(Arc::clone(hub), stored, taking_up));
                    Ok(())
                }
                restored => restored,
            }
        })
        .await
}

/// Until it has been, or is not this hub's any more.
async fn restore_later(hub: Arc<Hub>, stored: StoredRun, _taking_up: TakingUp) {
    loop {
        tokio::time::sleep(BEFORE_ANOTHER_TRY).await;
        let restored = match is_still_here(&hub, &stored).await {
            Ok(true) => restore_one(&hub, &stored).await,
            Ok(false) => return,
            Err(error) => Err(error),
        };
        match restored {
            Ok(()) => return,
            Err(error) => tracing::warn!(run_id = stored.summary.run_id, %error, "a run could not be taken up yet"),
        }
    }
}

/// Whether it stands where it stood when it became this hub's.
async fn is_still_here(hub: &Hub, stored: &StoredRun) -> Result<bool, StoreError> {
    let found = hub
        .store
        .run(LookAtRun {
            run_id: stored.summary.run_id.clone(),
        })
        .await?;
    Ok(found.is_some_and(|found| found == *stored))
}

async fn restore_one(hub: &Arc<Hub>, stored: &StoredRun) -> Result<(), StoreError> {
    match readable(stored) {
        Ok((plan, segment, standing)) if stored.phase == Phase::Between => {
            match go_on(hub, stored, plan, segment, standing).await {
                Err(StoreError::Corrupt(error)) => end(hub, stored, None, unreadable(&error), None).await,
                taken_up => taken_up,
            }
        }
        Ok((plan, segment, standing)) => {
            let message = "The hub was restarted while an agent was at work".to_owned();
            let request_id = segment.request_id.clone();
            let policy = standing.policy;
            let body = plan.body(&Segment { policy, ..segment })?;
            end(hub, stored, request_id.as_deref(), message, Some(body)).await
        }
        Err(error) => end(hub, stored, None, unreadable(&error), None).await,
    }
}

fn unreadable(error: &impl std::fmt::Display) -> String {
    format!("The hub was restarted and cannot read where the run stood: {error}")
}

fn readable(stored: &StoredRun) -> Result<(Plan, Segment, Standing), serde_json::Error> {
    let (plan, segment) = plan::read(stored)?;
    Ok((plan, segment, Standing::read(&stored.machine)?))
}

async fn go_on(
    hub: &Arc<Hub>,
    stored: &StoredRun,
    plan: Plan,
    segment: Segment,
    standing: Standing,
) -> Result<(), StoreError> {
    let summary = &stored.summary;
    let mut left = Vec::new();
    let mut pending = Vec::new();
    for ask in hub
        .store
        .run(TakeAsks {
            run_id: summary.run_id.clone(),
        })
        .await?
    {
        if let Some((waiting, still_pending)) = take_up(hub, ask).await? {
            left.push(waiting);
            pending.extend(still_pending);
        }
    }
    let (mailbox, mail) = mpsc::channel(MAILBOX);
    let plan = Arc::new(plan);
    let last_seq = summary.last_seq;
    let followed = followed(hub, &summary.run_id).await?;
    let state = RunState {
        plan: Arc::clone(&plan),
        stage: Stage::Running(mailbox),
        is_continuation: segment.number > 1,
        segment: segment.number,
        inputs: segment.inputs.clone(),
        started_at: summary.started_at,
        last_seq,
        records: 0,
        ring: Ring::above(last_seq, &hub.runs.together),
        pending,
        followers: Vec::new(),
    };
    let run = match followed {
        Some(run) => run.taken_over(state),
        None => Run::new(summary.run_id.clone(), state),
    };
    hub.runs.make_live(Arc::clone(&run));
    let node = stored.node.clone();
    let beginning = Beginning {
        run,
        node,
        plan,
        segment,
        standing,
        last_seq,
        mail,
        left,
        has_past: true,
    };
    Task::new(Arc::clone(hub), beginning).spawn();
    Ok(())
}

/// One that somebody follows here already, with all that it told before.
async fn followed(hub: &Arc<Hub>, run_id: &str) -> Result<Option<Arc<Run>>, StoreError> {
    let Some(run) = hub.known_run(run_id).await?.filter(|run| run.is_elsewhere()) else {
        return Ok(None);
    };
    hub.refresh(&run).await?;
    Ok(Some(run))
}

/// It can be prepared and continued like any other that has ended.
async fn end(
    hub: &Arc<Hub>,
    stored: &StoredRun,
    request_id: Option<&str>,
    message: String,
    body: Option<String>,
) -> Result<(), StoreError> {
    let summary = &stored.summary;
    let at = hub.store.clock().now();
    // What another hub asks by now is not to be cancelled.
    if !is_still_here(hub, stored).await? {
        return Ok(());
    }
    for ask in hub
        .store
        .run(TakeAsks {
            run_id: summary.run_id.clone(),
        })
        .await?
    {
        if matches!(ask.state, State::Open) {
            hub.decide(&ask.message_id, Command::Cancel).await?;
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
        phase: Phase::Between,
        last_seq: seq,
        body,
    };
    hub.store
        .run(EndRun {
            advance,
            ending: Ending::Error,
            at,
        })
        .await?;
    hub.runs.ring_mirror(&summary.run_id);
    hub.peers.say(|| Signal::Advanced(summary.run_id.clone()));
    tracing::info!(
        run_id = summary.run_id,
        "a run was cut in the middle of an agent's work; it can be continued"
    );
    Ok(())
}
