//! prepare_run: a new run, another segment of an old one, or a seat beside one that is under way.

use std::path::PathBuf;
use std::sync::Arc;

use countersign_core::runs::Policy;
use countersign_protocol::runs::{Conversation, Input, PrepareRun, RunStatus};
use countersign_protocol::time::Timestamp;
use countersign_store::StoreError;
use countersign_store::ops::run::{FindRun, FoundRun, ReserveNumbers, RunState as StoredState};
use uuid::Uuid;

use super::client::Client;
use super::conversation::{conversation, run_prepared};
use super::join::{Joined, Joining};
use super::plan::{self, Plan, Segment};
use super::refusal::Refusal;
use super::ring::Ring;
use super::run::{Prepared, Run, RunState, Stage};
use super::{file, registry::Runs};
use crate::app::Hub;

/// More than a run that is prepared can tell.
const TOLD_EARLY: u64 = 2048;
/// How often a conversation is read again that grew meanwhile.
const MOST_READINGS: usize = 5;

/// Who prepares.
pub struct Preparing<'c> {
    pub client: &'c Arc<Client>,
    pub request_id: Option<&'c str>,
    /// Strategies are files of the hub's own machine.
    pub is_owner: bool,
}

/// What an earlier segment left behind.
struct Past {
    segment: u64,
    last_seq: u64,
    inputs: Vec<Input>,
    policy: Policy,
    before: (countersign_store::ops::run::Ending, Timestamp),
}

impl Hub {
    /// The reply goes out together with what follows it.
    pub async fn prepare_run(&self, request: PrepareRun, who: Preparing<'_>) -> Result<(), Refusal> {
        while let (Some(run_id), None) = (&request.run_id, &request.strategy_path)
            && let Some(run) = self.find_running(run_id).await?
        {
            if self.attach(&run, &who).await? {
                return Ok(());
            }
        }
        if !who.is_owner {
            let message = "Only an owner may prepare a run: it reads files of the hub's machine";
            return Err(Refusal::prepare(message));
        }
        let run_id = request.run_id.clone().unwrap_or_else(|| Uuid::new_v4().to_string());
        let place = self.runs.reserve(&run_id, request.strategy_path.is_some())?;
        if !who.client.has_room_for(&run_id) {
            return Err(Refusal::prepare(
                "This connection follows too many runs; unsubscribe from some",
            ));
        }
        let (plan, past, said) = self.read(&run_id, request).await?;
        let reply = run_prepared(&run_id, &plan, said);
        if let Some(past) = &past {
            self.reserve_numbers(&run_id, past).await?;
        }
        let run = make(&self.runs, &run_id, plan, past, self.store.clock().now());
        let first = vec![reply.frame(self.store.clock().now(), who.request_id).into()];
        // In this order: a run that nobody follows may have to make room for another.
        run.join(
            who.client,
            &Joining {
                first,
                ..Joining::default()
            },
        );
        place.fill(run);
        Ok(())
    }

    /// What is told before the segment begins is not stored until then, and its numbers must not be given again.
    async fn reserve_numbers(&self, run_id: &str, past: &Past) -> Result<(), Refusal> {
        let up_to = past.last_seq + TOLD_EARLY;
        let reserve = ReserveNumbers {
            run_id: run_id.to_owned(),
            segment: past.segment,
            up_to,
        };
        if self.store.run(reserve).await? {
            Ok(())
        } else {
            Err(Refusal::already_exists(run_id))
        }
    }

    /// What is going to be done, and what was said before.
    async fn read(&self, run_id: &str, request: PrepareRun) -> Result<(Plan, Option<Past>, Conversation), Refusal> {
        let found = match &request.run_id {
            Some(run_id) => self.store.run(FindRun { run_id: run_id.clone() }).await?,
            None => None,
        };
        let (earlier, past, said) = match found {
            Some(found) => read_past(run_id, &found).map(|(plan, past, said)| (Some(plan), Some(past), said))?,
            None => (None, None, Conversation::default()),
        };
        let plan = plan_of(run_id, request, earlier).await?;
        plan.strategy
            .check_models(plan.model_override.as_deref())
            .map_err(Refusal::prepare)?;
        Ok((plan, past, said))
    }

    async fn find_running(&self, run_id: &str) -> Result<Option<Arc<Run>>, Refusal> {
        let found = self
            .find_run(run_id)
            .await
            .map_err(|error| error.refuse(Refusal::prepare))?;
        Ok(found.filter(|run| run.status() == RunStatus::Running))
    }

    /// Says whether the run was still here.
    async fn attach(&self, run: &Run, who: &Preparing<'_>) -> Result<bool, Refusal> {
        for reading in 1..=MOST_READINGS {
            let (plan, records) = {
                let state = run.lock();
                (Arc::clone(&state.plan), state.records)
            };
            let found = self.store.run(FindRun { run_id: run.id.clone() }).await?;
            let said = found.map(|found| said(&found)).transpose()?.unwrap_or_default();
            let reply = run_prepared(&run.id, &plan, said).frame(self.store.clock().now(), who.request_id);
            let records = (reading < MOST_READINGS).then_some(records);
            match run.join(
                who.client,
                &Joining {
                    first: vec![reply.into()],
                    records,
                    ..Joining::default()
                },
            ) {
                Joined::Done | Joined::Missing { .. } => return Ok(true),
                Joined::Gone => return Ok(false),
                Joined::Stale => {}
                Joined::TooMany => {
                    return Err(Refusal::prepare(
                        "This connection follows too many runs; unsubscribe from some",
                    ));
                }
            }
        }
        Ok(true)
    }
}

fn unreadable(error: serde_json::Error) -> Refusal {
    StoreError::from(error).into()
}

fn said(found: &FoundRun) -> Result<Conversation, Refusal> {
    let (_, segment) = plan::read(&found.run).map_err(unreadable)?;
    Ok(conversation(&found.records, segment.inputs))
}

fn read_past(run_id: &str, found: &FoundRun) -> Result<(Plan, Past, Conversation), Refusal> {
    let StoredState::Ended { ending, at } = found.run.summary.state else {
        return Err(Refusal::already_exists(run_id));
    };
    let (plan, segment) = plan::read(&found.run).map_err(unreadable)?;
    let said = conversation(&found.records, segment.inputs.clone());
    let last_seq = found.run.summary.last_seq;
    let Segment {
        number, inputs, policy, ..
    } = segment;
    Ok((
        plan,
        Past {
            segment: number,
            last_seq,
            inputs,
            policy,
            before: (ending, at),
        },
        said,
    ))
}

/// Another segment does what the one before did, unless the request says otherwise.
async fn plan_of(run_id: &str, request: PrepareRun, earlier: Option<Plan>) -> Result<Plan, Refusal> {
    let here = || std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    let cwd = request
        .cwd
        .clone()
        .or_else(|| earlier.as_ref().map(|plan| plan.cwd.clone()));
    let (strategy, strategy_path) = match (request.strategy_path, &earlier) {
        (Some(path), _) => {
            let base = cwd.as_ref().map_or_else(here, |cwd| here().join(cwd));
            (file::load(path.clone(), base).await.map_err(Refusal::prepare)?, path)
        }
        (None, Some(plan)) => (plan.strategy.clone(), plan.strategy_path.clone()),
        (None, None) => return Err(Refusal::prepare(format!("Run not found: {run_id}"))),
    };
    let (earlier_model, earlier_manifest) =
        earlier.map_or((None, None), |plan| (plan.model_override, plan.manifest_path));
    Ok(Plan {
        strategy,
        strategy_path,
        cwd: cwd.unwrap_or_else(|| here().to_string_lossy().into_owned()),
        model_override: request.model_override.or(earlier_model),
        manifest_path: request.manifest_path.or(earlier_manifest),
    })
}

/// A run that is over and still in memory keeps its followers and its numbers.
fn make(runs: &Runs, run_id: &str, plan: Plan, past: Option<Past>, now: Timestamp) -> Arc<Run> {
    let before = past.as_ref().map(|past| past.before);
    let (segment, last_seq, inputs, policy) = past.map_or((0, 0, Vec::new(), Policy::default()), |past| {
        (past.segment, past.last_seq, past.inputs, past.policy)
    });
    let stage = Stage::Prepared(Prepared {
        before,
        policy,
        ..Prepared::default()
    });
    let plan = Arc::new(plan);
    let is_continuation = before.is_some();
    let Some(run) = runs.get(run_id) else {
        let state = RunState {
            plan,
            stage,
            is_continuation,
            segment,
            inputs,
            started_at: now,
            last_seq,
            records: 0,
            ring: Ring::above(last_seq, &runs.together),
            pending: Vec::new(),
            followers: Vec::new(),
        };
        return Run::new(run_id.to_owned(), state);
    };
    let mut state = run.lock();
    state.last_seq = state.last_seq.max(last_seq);
    (state.plan, state.stage, state.is_continuation) = (plan, stage, is_continuation);
    (state.segment, state.inputs, state.started_at) = (segment, inputs, now);
    drop(state);
    run
}
