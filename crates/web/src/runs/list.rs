//! GET /runs: the list of runs, latest start first.

use std::sync::Arc;

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use countersign_core::asker::run_href;
use countersign_hub::Hub;
use countersign_hub::inbox::cursor::parse_pair;
use countersign_hub::inbox::runs::{RunListQuery, RunOverview, runs};
use countersign_hub::problem::Problem;
use countersign_protocol::runs::RunStatus;
use countersign_protocol::time::Timestamp;
use countersign_store::ops::run::RunCursor;

use super::label::{RunLabel, STATUS_FILTERS};
use crate::language::t;
use crate::layout::filters;
use crate::layout::form::FormFields;
use crate::layout::formatting::{DisplayTime, display_time, span, waited};
use crate::layout::page::{PageError, PageLayout, PageRequest, PageSection, render};
use crate::layout::signed_in_user::SignedInUser;

const PAGE_SIZE: i64 = 30;
/// Pending asks shown in one row.
const MAX_ASKS_SHOWN: usize = 3;

#[derive(Template)]
#[template(path = "runs.html")]
struct RunsPage {
    layout: PageLayout,
    kinds: Vec<StatusFilter>,
    rows: Vec<RunRow>,
    is_filtered: bool,
    first: Option<String>,
    next: Option<String>,
}

struct StatusFilter {
    text: &'static str,
    href: String,
    is_shown: bool,
}

struct RunRow {
    id: String,
    href: String,
    strategy: String,
    cwd: String,
    state: RunLabel,
    /// Changes whenever the row changes.
    rev: String,
    started: DisplayTime,
    /// The duration, so far if the run is not over.
    took: String,
    is_over: bool,
    is_begun: bool,
    asks: Vec<RunRowAsk>,
    more_asks: usize,
}

struct RunRowAsk {
    href: String,
    agent_name: String,
    prompt: String,
    since: DisplayTime,
    waited: String,
}

pub async fn list(
    State(hub): State<Arc<Hub>>,
    user: SignedInUser,
    request: PageRequest,
    RawQuery(query): RawQuery,
) -> Result<Response, PageError> {
    let query = FormFields::parse(query.unwrap_or_default().as_bytes());
    let word = query.text("status");
    let cursor = query.get("cursor").filter(|text| !text.is_empty());
    let run_query = RunListQuery {
        status: status(word)?,
        cwd: None,
        before: cursor.map(parse_cursor).transpose()?,
        limit: PAGE_SIZE,
    };
    let is_filtered = run_query.status.is_some();
    let (found, next) = runs(&hub, run_query).await?;
    let now = hub.store.clock().now();
    let page = RunsPage {
        layout: PageLayout::of(&hub, &user, &request, PageSection::Runs, t("Runs")).await?,
        kinds: STATUS_FILTERS
            .map(|(kind, text)| StatusFilter {
                text: t(text),
                href: address(kind, None),
                is_shown: kind == word,
            })
            .into(),
        rows: found.into_iter().map(|run| row(run, now)).collect(),
        is_filtered,
        first: cursor.map(|_| address(word, None)),
        next: next.map(|cursor| address(word, Some(cursor))),
    };
    Ok(render(StatusCode::OK, &page))
}

fn status(word: &str) -> Result<Option<RunStatus>, Problem> {
    match RunStatus::parse(word) {
        Some(status) => Ok(Some(status)),
        None if word.is_empty() => Ok(None),
        None => Err(Problem::validation(
            "status",
            "status must be one of the filters above the list",
        )),
    }
}

fn parse_cursor(text: &str) -> Result<RunCursor, Problem> {
    let (at, seq) = parse_pair(text)
        .ok_or_else(|| Problem::validation("cursor", "cursor is not valid; start again at the first page"))?;
    Ok(RunCursor {
        started_at: Timestamp::from_millis(at),
        seq,
    })
}

fn address(status: &str, from: Option<RunCursor>) -> String {
    let status = Some(status)
        .filter(|status| !status.is_empty())
        .map(|status| format!("status={status}"));
    let from = from.map(|cursor| format!("cursor={}.{}", cursor.started_at.as_millis(), cursor.seq));
    let query: Vec<String> = status.into_iter().chain(from).collect();
    if query.is_empty() {
        "/runs".to_owned()
    } else {
        format!("/runs?{}", query.join("&"))
    }
}

fn row(run: RunOverview, now: Timestamp) -> RunRow {
    let state = RunLabel::of(&run);
    let asks: Vec<RunRowAsk> = run
        .waiting
        .iter()
        .take(MAX_ASKS_SHOWN)
        .map(|wait| ask(wait, now))
        .collect();
    let ids: Vec<&str> = run.waiting.iter().map(|wait| wait.message_id.as_str()).collect();
    RunRow {
        href: run_href(&run.run_id),
        rev: format!("{} {} {}", run.segment, run.status.as_str(), ids.join(" ")),
        started: display_time(run.started_at),
        took: match run.completed_at {
            Some(at) => span(at.since(run.started_at)),
            None => waited(run.started_at, now),
        },
        is_over: run.status.is_over(),
        is_begun: run.status != RunStatus::Pending,
        more_asks: run.waiting.len() - asks.len(),
        asks,
        state,
        id: run.run_id,
        strategy: run.strategy_name,
        cwd: run.cwd,
    }
}

fn ask(wait: &countersign_runs::PendingAskView, now: Timestamp) -> RunRowAsk {
    let prompt = wait.prompt.as_deref().and_then(countersign_core::excerpt::title);
    RunRowAsk {
        href: format!("/inbox/items/{}", wait.message_id),
        prompt: prompt.unwrap_or_else(|| t("an input").to_owned()),
        agent_name: wait.agent_name.clone(),
        since: display_time(wait.since),
        waited: waited(wait.since, now),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursor_and_status_are_part_of_the_address() {
        let from = RunCursor {
            started_at: Timestamp::from_millis(1_780_000_000_000),
            seq: 7,
        };
        assert_eq!(address("", None), "/runs");
        assert_eq!(
            address("error", Some(from)),
            "/runs?status=error&cursor=1780000000000.7"
        );
        assert_eq!(parse_cursor("1780000000000.7").unwrap(), from);
        assert!(parse_cursor("7").is_err() && status("waiting").is_err() && status("").unwrap().is_none());
    }
}
