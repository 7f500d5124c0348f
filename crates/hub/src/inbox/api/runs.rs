//! GET /v1/runs and /v1/runs/{id}, POST /v1/runs/{id}/stop

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use countersign_core::access::Principal;
use countersign_protocol::runs::{RunStatus, Usage};
use countersign_protocol::time::Timestamp;
use countersign_runs::PendingAskView;
use countersign_store::ops::run::RunCursor;
use serde::Deserialize;
use serde_json::{Value, json};

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
) -> Result<Json<Value>, Problem> {
    let (found, next) = runs(&hub, query.into_query()?).await?;
    let mut page = json!({ "runs": found.iter().map(overview).collect::<Vec<_>>() });
    if let Some(next) = next {
        page["next_cursor"] = format!("{}.{}", next.started_at.as_millis(), next.seq).into();
    }
    Ok(Json(page))
}

pub async fn show_run(
    State(hub): State<Arc<Hub>>,
    _person: PersonCaller,
    RunPath(run_id): RunPath,
) -> Result<Json<Value>, Problem> {
    let run = find(&hub, &run_id).await?;
    let timeline = timeline(&hub, &run_id, None).await?;
    Ok(Json(details(&run, &timeline)))
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

fn overview(run: &RunOverview) -> Value {
    json!({
        "run_id": run.run_id,
        "strategy_name": run.strategy_name,
        "strategy_path": run.strategy_path,
        "cwd": run.cwd,
        "status": run.status,
        "started_at": run.started_at,
        "completed_at": run.completed_at,
        "waiting": run.waiting.iter().map(waiting).collect::<Vec<_>>(),
    })
}

fn waiting(wait: &PendingAskView) -> Value {
    json!({
        "kind": wait.kind.as_str(),
        "agent_name": wait.agent_name,
        "message_id": wait.message_id,
        "prompt": wait.prompt,
        "since": wait.since,
    })
}

fn details(run: &RunInfo, timeline: &Timeline) -> Value {
    let mut shown = overview(&run.overview);
    shown["agents"] = run.plan.strategy.agent_names().into();
    shown["flow_tree"] = run.plan.strategy.flow_tree.clone();
    shown["segment"] = run.overview.segment.into();
    shown["last_seq"] = run.overview.last_seq.into();
    shown["error"] = error(run, timeline);
    shown["steps"] = timeline.entries.iter().filter_map(step).collect();
    shown["earlier"] = json!(timeline.earlier);
    shown
}

/// The error of a run that ended without a result.
fn error(run: &RunInfo, timeline: &Timeline) -> Value {
    match (run.overview.status.is_over(), timeline.entries.last()) {
        (true, Some(TimelineEntry::Failed { code, message, .. })) => json!({"code": code, "message": message.shown}),
        (_, Some(_) | None) => Value::Null,
    }
}

fn step(entry: &TimelineEntry) -> Option<Value> {
    let TimelineEntry::Step(TimelineStep {
        seq, name, began, done, ..
    }) = entry
    else {
        return None;
    };
    let result = done.as_ref().map(
        |done| json!({"text": done.result.shown, "usage": usage(done.usage), "finish_reason": done.finish_reason}),
    );
    Some(json!({
        "seq": seq,
        "name": name,
        "message": began.as_ref().map(|(_, text)| &text.shown),
        "started_at": began.as_ref().map(|(at, _)| at),
        "completed_at": done.as_ref().map(|done| done.at),
        "result": result,
        "is_cut": began.as_ref().is_some_and(|(_, text)| text.omitted_bytes > 0)
            || done.as_ref().is_some_and(|done| done.result.omitted_bytes > 0),
    }))
}

fn usage(usage: Usage) -> Value {
    json!({"prompt_tokens": usage.prompt_tokens, "completion_tokens": usage.completion_tokens})
}
