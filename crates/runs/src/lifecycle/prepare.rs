//! prepare_run: prepares a new run, continues an ended one, or attaches to a running one.

use std::path::PathBuf;
use std::sync::Arc;

use countersign_core::runs::Policy;
use countersign_protocol::runs::{Conversation, PrepareRun, RunInput, RunStatus};
use countersign_protocol::time::Timestamp;
use countersign_store::StoreError;
use countersign_store::ops::run::{FindRun, ReserveNumbers, RunWithRecords, StoredRunState as StoredState};
use uuid::Uuid;

use super::file;
use crate::engine::plan::{self, RunPlan, Segment};
use crate::follow::broadcast::ReplayBuffer;
use crate::follow::client::RunClient;
use crate::follow::conversation::{conversation, run_prepared};
use crate::follow::subscription::{SubscribeOutcome, Subscription};
use crate::refusal::RunRefusal;
use crate::registry::RunRegistry;
use crate::run::{Prepared, RunStage, TrackedRun, TrackedRunState};
use crate::service::RunService;

/// More events than a prepared run can emit.
const RESERVED_SEQS: u64 = 2048;
/// Attempts to read a conversation that keeps growing meanwhile.
const MAX_READ_ATTEMPTS: usize = 5;

/// The client that prepares.
pub struct PrepareContext<'c> {
    pub client: &'c Arc<RunClient>,
    pub request_id: Option<&'c str>,
    /// Only an owner may prepare, because strategies are files on the node's machine.
    pub is_owner: bool,
}

/// The last segment of an ended run.
struct EarlierSegment {
    segment: u64,
    last_seq: u64,
    inputs: Vec<RunInput>,
    policy: Policy,
    before: (countersign_store::ops::run::RunEnding, Timestamp),
}

impl RunService {
    /// The reply is sent together with the subscription, so no event can come between them.
    pub async fn prepare_run(self: &Arc<Self>, request: PrepareRun, who: PrepareContext<'_>) -> Result<(), RunRefusal> {
        while let (Some(run_id), None) = (&request.run_id, &request.strategy_path)
            && let Some(run) = self.find_running(run_id).await?
        {
            if self.attach(&run, &who).await? {
                return Ok(());
            }
        }
        if !who.is_owner {
            return Err(RunRefusal::NotAnOwner);
        }
        let run_id = request.run_id.clone().unwrap_or_else(|| Uuid::new_v4().to_string());
        let reservation = self.registry.reserve(&run_id, request.strategy_path.is_some())?;
        if !who.client.can_follow(&run_id) {
            return Err(RunRefusal::TooManyFollowedRuns);
        }
        let (plan, earlier_segment, history) = self.read(request).await?;
        let reply = run_prepared(&run_id, &plan, history);
        if let Some(earlier_segment) = &earlier_segment {
            self.reserve_numbers(&run_id, earlier_segment).await?;
        }
        let run = track(&self.registry, &run_id, plan, earlier_segment, self.store.clock().now());
        let first = vec![reply.frame(self.store.clock().now(), who.request_id).into()];
        // Subscribed before it is listed: a prepared run without followers may be evicted.
        run.subscribe(
            who.client,
            &Subscription {
                first,
                ..Subscription::default()
            },
        );
        reservation.fill(run);
        Ok(())
    }

    /// Events sent before the segment starts are stored only then, and their seqs must not be reused.
    async fn reserve_numbers(
        self: &Arc<Self>,
        run_id: &str,
        earlier_segment: &EarlierSegment,
    ) -> Result<(), RunRefusal> {
        let up_to = earlier_segment.last_seq + RESERVED_SEQS;
        let reserve = ReserveNumbers {
            run_id: run_id.to_owned(),
            segment: earlier_segment.segment,
            up_to,
        };
        if self.store.run(reserve).await? {
            Ok(())
        } else {
            Err(RunRefusal::AlreadyExists)
        }
    }

    /// Reads the plan, the earlier segment and the conversation so far.
    async fn read(
        self: &Arc<Self>,
        request: PrepareRun,
    ) -> Result<(RunPlan, Option<EarlierSegment>, Conversation), RunRefusal> {
        let found = match &request.run_id {
            Some(run_id) => self.store.run(FindRun { run_id: run_id.clone() }).await?,
            None => None,
        };
        let (earlier, earlier_segment, history) = match found {
            Some(found) => read_earlier_segment(&found)
                .map(|(plan, earlier_segment, history)| (Some(plan), Some(earlier_segment), history))?,
            None => (None, None, Conversation::default()),
        };
        let plan = plan_of(request, earlier).await?;
        plan.strategy
            .check_models(plan.model_override.as_deref())
            .map_err(RunRefusal::Strategy)?;
        Ok((plan, earlier_segment, history))
    }

    async fn find_running(self: &Arc<Self>, run_id: &str) -> Result<Option<Arc<TrackedRun>>, RunRefusal> {
        let found = self.find_run(run_id).await?;
        Ok(found.filter(|run| run.status() == RunStatus::Running))
    }

    /// Returns false if the run was dropped from memory meanwhile.
    async fn attach(self: &Arc<Self>, run: &TrackedRun, who: &PrepareContext<'_>) -> Result<bool, RunRefusal> {
        for reading in 1..=MAX_READ_ATTEMPTS {
            let (plan, records) = {
                let state = run.lock();
                (Arc::clone(&state.plan), state.records)
            };
            let found = self.store.run(FindRun { run_id: run.id.clone() }).await?;
            let history = found
                .map(|found| stored_conversation(&found))
                .transpose()?
                .unwrap_or_default();
            let reply = run_prepared(&run.id, &plan, history).frame(self.store.clock().now(), who.request_id);
            let records = (reading < MAX_READ_ATTEMPTS).then_some(records);
            match run.subscribe(
                who.client,
                &Subscription {
                    first: vec![reply.into()],
                    records,
                    ..Subscription::default()
                },
            ) {
                SubscribeOutcome::Done | SubscribeOutcome::Missing { .. } => return Ok(true),
                SubscribeOutcome::Gone => return Ok(false),
                SubscribeOutcome::Stale => {}
                SubscribeOutcome::TooManyFollowedRuns => return Err(RunRefusal::TooManyFollowedRuns),
            }
        }
        Ok(true)
    }
}

fn unreadable(error: serde_json::Error) -> RunRefusal {
    StoreError::from(error).into()
}

fn stored_conversation(found: &RunWithRecords) -> Result<Conversation, RunRefusal> {
    let (_, segment) = plan::read(&found.run).map_err(unreadable)?;
    Ok(conversation(&found.records, segment.inputs))
}

fn read_earlier_segment(found: &RunWithRecords) -> Result<(RunPlan, EarlierSegment, Conversation), RunRefusal> {
    let StoredState::Ended { ending, at } = found.run.summary.state else {
        return Err(RunRefusal::AlreadyExists);
    };
    let (plan, segment) = plan::read(&found.run).map_err(unreadable)?;
    let history = conversation(&found.records, segment.inputs.clone());
    let last_seq = found.run.summary.last_seq;
    let Segment {
        number, inputs, policy, ..
    } = segment;
    Ok((
        plan,
        EarlierSegment {
            segment: number,
            last_seq,
            inputs,
            policy,
            before: (ending, at),
        },
        history,
    ))
}

/// A continuation keeps the plan of the earlier segment, except for the fields of the request.
async fn plan_of(request: PrepareRun, earlier: Option<RunPlan>) -> Result<RunPlan, RunRefusal> {
    let here = || std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    let cwd = request
        .cwd
        .clone()
        .or_else(|| earlier.as_ref().map(|plan| plan.cwd.clone()));
    let (strategy, strategy_path) = match (request.strategy_path, &earlier) {
        (Some(path), _) => {
            let base = cwd.as_ref().map_or_else(here, |cwd| here().join(cwd));
            (
                file::load(path.clone(), base).await.map_err(RunRefusal::Strategy)?,
                path,
            )
        }
        (None, Some(plan)) => (plan.strategy.clone(), plan.strategy_path.clone()),
        (None, None) => return Err(RunRefusal::NotFound),
    };
    let (earlier_model, earlier_manifest) =
        earlier.map_or((None, None), |plan| (plan.model_override, plan.manifest_path));
    Ok(RunPlan {
        strategy,
        strategy_path,
        cwd: cwd.unwrap_or_else(|| here().to_string_lossy().into_owned()),
        model_override: request.model_override.or(earlier_model),
        manifest_path: request.manifest_path.or(earlier_manifest),
    })
}

/// An ended run that is still in memory keeps its followers and its numbering.
fn track(
    runs: &RunRegistry,
    run_id: &str,
    plan: RunPlan,
    earlier_segment: Option<EarlierSegment>,
    now: Timestamp,
) -> Arc<TrackedRun> {
    let before = earlier_segment.as_ref().map(|earlier_segment| earlier_segment.before);
    let (segment, last_seq, inputs, policy) =
        earlier_segment.map_or((0, 0, Vec::new(), Policy::default()), |earlier_segment| {
            (
                earlier_segment.segment,
                earlier_segment.last_seq,
                earlier_segment.inputs,
                earlier_segment.policy,
            )
        });
    let stage = RunStage::Prepared(Prepared {
        before,
        policy,
        ..Prepared::default()
    });
    let plan = Arc::new(plan);
    let is_continuation = before.is_some();
    let Some(run) = runs.get(run_id) else {
        let state = TrackedRunState {
            plan,
            stage,
            is_continuation,
            segment,
            inputs,
            started_at: now,
            last_seq,
            records: 0,
            replay: ReplayBuffer::above(last_seq, &runs.byte_budget),
            pending: Vec::new(),
            followers: Vec::new(),
        };
        return TrackedRun::new(run_id.to_owned(), state);
    };
    let mut state = run.lock();
    state.last_seq = state.last_seq.max(last_seq);
    (state.plan, state.stage, state.is_continuation) = (plan, stage, is_continuation);
    (state.segment, state.inputs, state.started_at) = (segment, inputs, now);
    drop(state);
    run
}
