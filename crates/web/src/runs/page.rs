//! GET /runs/{id}: one run with its steps, what it waits for, and the button that stops it.

use std::sync::Arc;

use askama::Template;
use axum::extract::{RawQuery, State as Given};
use axum::http::StatusCode;
use axum::response::Response;
use countersign_hub::Hub;
use countersign_hub::extract::RunPath;
use countersign_hub::inbox::asker::run_href;
use countersign_hub::inbox::runs::{MOST_SHOWN, OneRun, find, timeline};
use countersign_hub::problem::Problem;
use countersign_protocol::runs::RunStatus;

use super::ask::{Ask, Later};
use super::shown::{Ending, Kind, Line, NoteSaid, Standing, lines};
use super::state::State;
use crate::frame::filters;
use crate::frame::form::Fields;
use crate::frame::format::{Instant, instant, span, waited};
use crate::frame::page::{Asked, Failure, Here, Shell, render};
use crate::frame::signed_in::Visitor;
use crate::item::{Shape, Shown, Wanted};
use crate::text::{self, Safe};

#[derive(Template)]
#[template(path = "run.html")]
struct RunPage {
    shell: Shell,
    head: RunHead,
    lines: Vec<Line>,
    /// Of the latest event on the page; none on a page of earlier ones, which does not change.
    newest: Option<u64>,
    earlier: Option<String>,
    /// Earlier ones are not kept any more.
    is_pruned: bool,
    ask: Option<Ask>,
    later: Vec<Later>,
    /// Differs whenever what can be done here does.
    panel_rev: String,
    may_stop: bool,
    may_decide: bool,
    about: About,
}

/// Named as the item's: the form that answers stands on both pages.
struct RunHead {
    /// Of the message the form answers.
    id: String,
    run_id: String,
    href: String,
    strategy: String,
    state: State,
    status: &'static str,
    rev: String,
    started: Instant,
    took: String,
    is_over: bool,
    is_begun: bool,
    segment: u64,
}

struct About {
    strategy_path: String,
    cwd: String,
    model: Option<String>,
    /// Its start, where it is long: the first step was given all of it.
    input: String,
    agents: Vec<String>,
    flow: Safe,
}

pub async fn page(
    Given(hub): Given<Arc<Hub>>,
    visitor: Visitor,
    asked: Asked,
    RawQuery(query): RawQuery,
    path: Result<RunPath, Problem>,
) -> Result<Response, Failure> {
    let query = Fields::parse(query.unwrap_or_default().as_bytes());
    let before = query
        .get("before")
        .filter(|text| !text.is_empty())
        .map(number)
        .transpose()?;
    let found = match path {
        Ok(RunPath(run_id)) => find(&hub, &run_id).await,
        Err(problem) => Err(problem),
    };
    match found {
        Ok(run) => show(&hub, &visitor, &asked, run, before).await,
        Err(problem) => missing(&hub, &visitor, &asked, problem).await,
    }
}

fn number(text: &str) -> Result<u64, Problem> {
    text.parse()
        .map_err(|_| Problem::validation("before", "before: begin again at the latest steps"))
}

async fn show(
    hub: &Hub,
    visitor: &Visitor,
    asked: &Asked,
    run: OneRun,
    before: Option<u64>,
) -> Result<Response, Failure> {
    let told = timeline(hub, &run.listed.run_id, before).await?;
    let earlier = told.earlier;
    let newest = told.newest;
    let standing = Standing {
        // On a page of earlier steps the last one has its end elsewhere.
        is_over: run.listed.status.is_over() || before.is_some(),
        is_waiting: !run.listed.waiting.is_empty(),
        is_whole: earlier.is_none() && run.pruned_seq == 0,
    };
    let ask = match run.listed.waiting.first() {
        Some(wait) => Ask::of(hub, visitor, wait).await?,
        None => None,
    };
    let head = RunHead::of(hub, &run, ask.as_ref());
    let may_stop = visitor.may_decide() && !run.listed.status.is_over();
    let page = RunPage {
        shell: Shell::of(hub, visitor, asked, Here::Run, run.listed.strategy_name.clone()).await?,
        lines: lines(told, standing),
        newest: Some(newest).filter(|_| before.is_none()),
        earlier: earlier.map(|seq| format!("{}?before={seq}", head.href)),
        is_pruned: earlier.is_none() && run.pruned_seq > 0,
        panel_rev: panel_rev(&run, ask.as_ref()),
        later: run.listed.waiting.iter().skip(1).map(Later::of).collect(),
        ask,
        may_stop,
        may_decide: visitor.may_decide(),
        about: About::of(run),
        head,
    };
    Ok(render(StatusCode::OK, &page))
}

fn panel_rev(run: &OneRun, ask: Option<&Ask>) -> String {
    let first = ask.map(|ask| ask.id.as_str()).unwrap_or_default();
    let later = run.listed.waiting.iter().skip(1).map(|wait| wait.message_id.as_str());
    let ids: Vec<&str> = std::iter::once(first).chain(later).collect();
    format!("{} {}", run.listed.status.as_str(), ids.join(" "))
}

impl RunHead {
    fn of(hub: &Hub, run: &OneRun, ask: Option<&Ask>) -> Self {
        let run = &run.listed;
        let state = State::of(run);
        Self {
            id: ask.map(|ask| ask.id.clone()).unwrap_or_default(),
            run_id: run.run_id.clone(),
            href: run_href(&run.run_id),
            strategy: run.strategy_name.clone(),
            state,
            status: run.status.as_str(),
            rev: format!("{} {}", run.segment, state.words),
            started: instant(run.started_at),
            took: match run.completed_at {
                Some(at) => span(at.since(run.started_at)),
                None => waited(run.started_at, hub.store.clock().now()),
            },
            is_over: run.status.is_over(),
            is_begun: run.status != RunStatus::Pending,
            segment: run.segment,
        }
    }
}

impl About {
    fn of(run: OneRun) -> Self {
        Self {
            strategy_path: run.listed.strategy_path,
            cwd: run.listed.cwd,
            model: run.plan.model_override.clone(),
            input: start_of(run.input),
            agents: run.plan.strategy.agent_names(),
            flow: text::tree(&run.plan.strategy.flow_tree),
        }
    }
}

fn start_of(mut input: String) -> String {
    if input.len() > MOST_SHOWN {
        input.truncate(input.floor_char_boundary(MOST_SHOWN));
        input.push('…');
    }
    input
}

#[derive(Template)]
#[template(path = "run_missing.html")]
struct MissingPage {
    shell: Shell,
}

async fn missing(hub: &Hub, visitor: &Visitor, asked: &Asked, why: Problem) -> Result<Response, Failure> {
    if !matches!(why, Problem::NotFound { .. }) {
        return Err(why.into());
    }
    let shell = Shell::of(hub, visitor, asked, Here::Run, "No such run").await?;
    Ok(render(why.status(), &MissingPage { shell }))
}
