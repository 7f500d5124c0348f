//! Looks up one run by its id.

use std::sync::Arc;

use countersign_protocol::runs::Event;
use countersign_runs::{RunPlan, read_plan};
use countersign_store::StoreError;
use countersign_store::ops::run::{ReadRun, RunEvents};

use super::overview::RunOverview;
use crate::Hub;
use crate::problem::Problem;

pub struct RunInfo {
    pub overview: RunOverview,
    pub plan: Arc<RunPlan>,
    /// The input of the latest segment.
    pub input: String,
    /// Events up to this one were pruned; 0 if none were.
    pub pruned_seq: u64,
}

pub async fn find(hub: &Hub, run_id: &str) -> Result<RunInfo, Problem> {
    let Some(run) = hub
        .store
        .run(ReadRun {
            run_id: run_id.to_owned(),
        })
        .await?
    else {
        return prepared(hub, run_id).ok_or_else(Problem::no_run);
    };
    let (plan, segment) = read_plan(&run).map_err(StoreError::from)?;
    let input = segment.input;
    let pruned_seq = run.pruned_seq;
    let overview = RunOverview::of(hub, run.summary).with_remote_asks(hub).await?;
    Ok(RunInfo {
        overview,
        plan: Arc::new(plan),
        input,
        pruned_seq,
    })
}

fn prepared(hub: &Hub, run_id: &str) -> Option<RunInfo> {
    let view = hub.runs.registry.get(run_id)?.view();
    let plan = Arc::clone(&view.plan);
    Some(RunInfo {
        overview: RunOverview::in_memory(run_id, view),
        plan,
        input: String::new(),
        pruned_seq: 0,
    })
}

/// Returns the whole text of one event; a page shows only its start.
pub async fn event_text(hub: &Hub, run_id: &str, seq: u64) -> Result<String, Problem> {
    let Some(after) = seq.checked_sub(1) else {
        return Err(Problem::no_run());
    };
    let events = hub
        .store
        .run(RunEvents {
            run_id: run_id.to_owned(),
            after,
            limit: 1,
        })
        .await?;
    let event = events
        .into_iter()
        .find(|event| event.seq == seq)
        .ok_or_else(Problem::no_run)?;
    text_in(serde_json::from_str(&event.body).map_err(StoreError::from)?).ok_or_else(Problem::no_run)
}

fn text_in(event: Event) -> Option<String> {
    match event {
        Event::StrategyCompleted { result, .. } => Some(result),
        Event::StrategyError { error } => Some(error.message),
        Event::StepStarted { message, .. } => Some(message),
        Event::StepCompleted { result, .. } => Some(result.text),
        Event::AgentOutput { text, .. } | Event::SteerQueued { text } => Some(text),
        Event::RequestInput { prompt, .. } => prompt,
        Event::RequestPermission { resource, .. } => Some(resource),
        Event::RequestQuestion { question, .. } => Some(question),
        Event::StrategyStarted { .. } | Event::AgentStreaming { .. } | Event::PolicyUpdated { .. } => None,
    }
}
