//! GET /v1/runs and /v1/runs/{id}, POST /v1/runs/{id}/stop

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use countersign_core::access::Principal;
use countersign_protocol::api::runs::{
    ListedRun, RunDetails, RunStep, RunStepResult, RunsPage, StepUsage, WaitingQuestion,
};
use countersign_protocol::runs::{RunError, RunStatus};
use countersign_protocol::time::Timestamp;
use countersign_runs::PendingAskView;
use countersign_store::ops::run::RunCursor;
use serde::Deserialize;

use super::query::parse_limit;
use crate::Hub;
use crate::http::callers::PersonCaller;
use crate::http::extract::{Params, RunPath};
use crate::inbox::cursor::parse_pair;
use crate::inbox::runs::{
    RunInfo, RunListQuery, RunOverview, Timeline, TimelineEntry, TimelineStep, find, runs, timeline,
};
use crate::problem::Problem;

#[derive(Debug, Default, Deserialize)]
pub struct RunsQuery {
    limit: Option<String>,
    cursor: Option<String>,
    status: Option<String>,
    cwd: Option<String>,
}

impl RunsQuery {
    fn into_query(self) -> Result<RunListQuery, Problem> {
        Ok(RunListQuery {
            limit: parse_limit(self.limit.as_deref())?,
            status: self.status.as_deref().map(status).transpose()?,
            before: self.cursor.as_deref().map(parse_cursor).transpose()?,
            cwd: self.cwd,
        })
    }
}

fn status(word: &str) -> Result<RunStatus, Problem> {
    let known = || RunStatus::ALL.map(RunStatus::as_str).join(", ");
    RunStatus::parse(word).ok_or_else(|| Problem::validation("status", format!("status must be one of: {}", known())))
}

fn parse_cursor(text: &str) -> Result<RunCursor, Problem> {
    let bad = || Problem::validation("cursor", "cursor must be the next_cursor of an earlier page");
    let (at, seq) = parse_pair(text).ok_or_else(bad)?;
    Ok(RunCursor {
        started_at: Timestamp::from_millis(at),
        seq,
    })
}

/// Lists runs, latest start first.
pub async fn list_runs(
    State(hub): State<Arc<Hub>>,
    _person: PersonCaller,
    Params(query): Params<RunsQuery>,
) -> Result<Json<RunsPage>, Problem> {
    let (found, next) = runs(&hub, query.into_query()?).await?;
    Ok(Json(RunsPage {
        runs: found.into_iter().map(overview).collect(),
        next_cursor: next.map(|next| format!("{}.{}", next.started_at.as_millis(), next.seq)),
    }))
}

pub async fn show_run(
    State(hub): State<Arc<Hub>>,
    _person: PersonCaller,
    RunPath(run_id): RunPath,
) -> Result<Json<RunDetails>, Problem> {
    let run = find(&hub, &run_id).await?;
    let timeline = timeline(&hub, &run_id, None).await?;
    Ok(Json(details(run, timeline)))
}

pub async fn stop(
    State(hub): State<Arc<Hub>>,
    person: PersonCaller,
    RunPath(run_id): RunPath,
) -> Result<StatusCode, Problem> {
    stop_run(&hub, &person.into(), &run_id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Stops a run. Owners and resolvers may do this; a run that is over stays as it is.
pub async fn stop_run(hub: &Hub, who: &Principal, run_id: &str) -> Result<(), Problem> {
    let may_not = |_| Problem::NotAuthorized {
        message: format!("{} may not stop runs; viewers can only read", who.actor()),
    };
    who.resolver().map_err(may_not)?;
    find(hub, run_id).await?;
    Ok(hub.runs.stop_run(run_id).await?)
}

fn overview(run: RunOverview) -> ListedRun {
    ListedRun {
        run_id: run.run_id,
        strategy_name: run.strategy_name,
        strategy_path: run.strategy_path,
        cwd: run.cwd,
        status: run.status.as_str().to_owned(),
        started_at: run.started_at.into(),
        completed_at: run.completed_at.map(Into::into),
        waiting: run.waiting.into_iter().map(waiting).collect(),
    }
}

fn waiting(wait: PendingAskView) -> WaitingQuestion {
    WaitingQuestion {
        kind: wait.kind.as_str().to_owned(),
        agent_name: wait.agent_name,
        message_id: wait.message_id.to_string(),
        prompt: wait.prompt,
        since: wait.since.into(),
    }
}

fn details(run: RunInfo, timeline: Timeline) -> RunDetails {
    RunDetails {
        agents: run.plan.strategy.agent_names(),
        flow_tree: run.plan.strategy.flow_tree.clone(),
        segment: run.overview.segment,
        last_seq: run.overview.last_seq,
        error: error(&run, &timeline),
        steps: timeline.entries.into_iter().filter_map(step).collect(),
        earlier: timeline.earlier,
        summary: overview(run.overview),
    }
}

/// The error of a run that ended without a result.
fn error(run: &RunInfo, timeline: &Timeline) -> Option<RunError> {
    match (run.overview.status.is_over(), timeline.entries.last()) {
        (true, Some(TimelineEntry::Failed { code, message, .. })) => Some(RunError {
            code: code.clone(),
            message: message.shown.clone(),
        }),
        (_, Some(_) | None) => None,
    }
}

fn step(entry: TimelineEntry) -> Option<RunStep> {
    let TimelineEntry::Step(TimelineStep {
        seq, name, began, done, ..
    }) = entry
    else {
        return None;
    };
    let is_cut = began.as_ref().is_some_and(|(_, text)| text.omitted_bytes > 0)
        || done.as_ref().is_some_and(|done| done.result.omitted_bytes > 0);
    let (started_at, message) = began.map(|(at, text)| (at.into(), text.shown)).unzip();
    Some(RunStep {
        seq,
        name,
        message,
        started_at,
        completed_at: done.as_ref().map(|done| done.at.into()),
        result: done.map(|done| RunStepResult {
            text: done.result.shown,
            usage: StepUsage {
                prompt_tokens: done.usage.prompt_tokens,
                completion_tokens: done.usage.completion_tokens,
            },
            finish_reason: done.finish_reason,
        }),
        is_cut,
    })
}
