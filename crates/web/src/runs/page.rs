//! GET /runs/{id}: one run with its steps, its pending asks and the stop button.

use std::sync::Arc;

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use countersign_core::asker::run_href;
use countersign_hub::Hub;
use countersign_hub::http::extract::RunPath;
use countersign_hub::inbox::runs::{MAX_TEXT_BYTES, RunInfo, find, timeline};
use countersign_hub::problem::Problem;
use countersign_protocol::runs::RunStatus;

use super::ask::{LaterAsk, RunPageAsk};
use super::label::RunLabel;
use super::lines::{LineKind, NoteContent, RunProgress, StepEnding, TimelineLine, lines};
use super::to_come::steps_to_come;
use crate::item::{AnswerInput, ControlShape, PartContent};
use crate::language::t;
use crate::layout::filters;
use crate::layout::form::FormFields;
use crate::layout::formatting::{DisplayTime, display_time, span, waited};
use crate::layout::page::{PageError, PageLayout, PageRequest, PageSection, render};
use crate::layout::signed_in_user::SignedInUser;
use crate::text::{self, SafeHtml};
use countersign_core::vocabulary::Action;

#[derive(Template)]
#[template(path = "run.html")]
struct RunDetailPage {
    layout: PageLayout,
    head: RunHead,
    lines: Vec<TimelineLine>,
    /// Steps that have not begun.
    to_come: Vec<String>,
    /// The `seq` of the latest event; `None` on a page of earlier steps, which does not change.
    newest: Option<u64>,
    earlier: Option<String>,
    /// Earlier events were pruned.
    is_pruned: bool,
    ask: Option<RunPageAsk>,
    later: Vec<LaterAsk>,
    /// Changes whenever the panel changes.
    panel_rev: String,
    may_stop: bool,
    may_decide: bool,
    about: RunAbout,
}

/// Has the same field names as the item's head, because the answer form is on both pages.
struct RunHead {
    /// The message that the form answers.
    id: String,
    run_id: String,
    href: String,
    strategy: String,
    state: RunLabel,
    status: &'static str,
    rev: String,
    started: DisplayTime,
    took: String,
    is_over: bool,
    is_begun: bool,
    segment: u64,
}

struct RunAbout {
    strategy_path: String,
    cwd: String,
    model: Option<String>,
    /// The start of the input; the first step shows all of it.
    input: String,
    agents: Vec<String>,
    flow: SafeHtml,
}

pub async fn page(
    State(hub): State<Arc<Hub>>,
    user: SignedInUser,
    request: PageRequest,
    RawQuery(query): RawQuery,
    path: Result<RunPath, Problem>,
) -> Result<Response, PageError> {
    let query = FormFields::parse(query.unwrap_or_default().as_bytes());
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
        Ok(run) => show(&hub, &user, &request, run, before).await,
        Err(problem) => missing(&hub, &user, &request, problem).await,
    }
}

fn number(text: &str) -> Result<u64, Problem> {
    text.parse()
        .map_err(|_| Problem::validation("before", "before is not valid; start again at the latest steps"))
}

async fn show(
    hub: &Hub,
    user: &SignedInUser,
    request: &PageRequest,
    run: RunInfo,
    before: Option<u64>,
) -> Result<Response, PageError> {
    let timeline = timeline(hub, &run.overview.run_id, before).await?;
    let earlier = timeline.earlier;
    let newest = timeline.newest;
    let progress = RunProgress {
        // On a page of earlier steps the end of the last step is on the next page.
        is_over: run.overview.status.is_over() || before.is_some(),
        is_waiting: !run.overview.waiting.is_empty(),
        is_whole: earlier.is_none() && run.pruned_seq == 0,
    };
    let ask = match run.overview.waiting.first() {
        Some(wait) => RunPageAsk::of(hub, user, wait).await?,
        None => None,
    };
    let lines = lines(timeline, progress);
    let to_come = match progress.is_over {
        true => Vec::new(),
        false => steps_to_come(&run.plan.strategy.flow, &lines),
    };
    let to_come = to_come.into_iter().map(str::to_owned).collect();
    let head = RunHead::of(hub, &run, ask.as_ref());
    let may_stop = user.may_decide() && !run.overview.status.is_over();
    let page = RunDetailPage {
        layout: PageLayout::of(hub, user, request, PageSection::Run, run.overview.strategy_name.clone()).await?,
        lines,
        to_come,
        newest: Some(newest).filter(|_| before.is_none()),
        earlier: earlier.map(|seq| format!("{}?before={seq}", head.href)),
        is_pruned: earlier.is_none() && run.pruned_seq > 0,
        panel_rev: panel_rev(&run, ask.as_ref()),
        later: run.overview.waiting.iter().skip(1).map(LaterAsk::of).collect(),
        ask,
        may_stop,
        may_decide: user.may_decide(),
        about: RunAbout::of(run),
        head,
    };
    Ok(render(StatusCode::OK, &page))
}

fn panel_rev(run: &RunInfo, ask: Option<&RunPageAsk>) -> String {
    let first = ask.map(|ask| ask.id.as_str()).unwrap_or_default();
    let later = run.overview.waiting.iter().skip(1).map(|wait| wait.message_id.as_str());
    let held = ask
        .and_then(|ask| ask.held.as_ref())
        .map(|held| held.until.iso.as_str());
    let parts: Vec<&str> = std::iter::once(first).chain(held).chain(later).collect();
    format!("{} {}", run.overview.status.as_str(), parts.join(" "))
}

impl RunHead {
    fn of(hub: &Hub, run: &RunInfo, ask: Option<&RunPageAsk>) -> Self {
        let run = &run.overview;
        let state = RunLabel::of(run);
        Self {
            id: ask.map(|ask| ask.id.clone()).unwrap_or_default(),
            run_id: run.run_id.clone(),
            href: run_href(&run.run_id),
            strategy: run.strategy_name.clone(),
            state,
            status: run.status.as_str(),
            rev: format!("{} {}", run.segment, state.text),
            started: display_time(run.started_at),
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

impl RunAbout {
    fn of(run: RunInfo) -> Self {
        Self {
            strategy_path: run.overview.strategy_path,
            cwd: run.overview.cwd,
            model: run.plan.model_override.clone(),
            input: start_of(run.input),
            agents: run.plan.strategy.agent_names(),
            flow: text::tree(&run.plan.strategy.flow_tree),
        }
    }
}

fn start_of(mut input: String) -> String {
    if input.len() > MAX_TEXT_BYTES {
        input.truncate(input.floor_char_boundary(MAX_TEXT_BYTES));
        input.push('…');
    }
    input
}

#[derive(Template)]
#[template(path = "run_missing.html")]
struct MissingRunPage {
    layout: PageLayout,
}

async fn missing(hub: &Hub, user: &SignedInUser, request: &PageRequest, why: Problem) -> Result<Response, PageError> {
    if !matches!(why, Problem::NotFound { .. }) {
        return Err(why.into());
    }
    let layout = PageLayout::of(hub, user, request, PageSection::Run, t("No such run")).await?;
    Ok(render(why.status(), &MissingRunPage { layout }))
}
